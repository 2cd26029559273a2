//! S1: at any instant at most one trust window is open.

use crate::fact::Fact;

/// Compares the windows that are open right now, each by its own process's clock.
pub fn check(fact: &Fact<'_>) -> Result<(), String> {
    match fact {
        Fact::OpenWindows([one, other, ..]) => Err(format!(
            "node {} (epoch {}) and node {} (epoch {}) are trusted at the same time",
            one.pid.slot, one.epoch, other.pid.slot, other.epoch
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::OpenWindow;
    use crate::invariants::testing::pid;
    use baton_core::ids::Epoch;

    #[test]
    fn two_open_windows_fire_and_one_does_not() {
        let open = |n, epoch| OpenWindow { pid: pid(n), epoch: Epoch(epoch) };
        assert!(check(&Fact::OpenWindows(&[open(1, 4)])).is_ok());
        assert!(check(&Fact::OpenWindows(&[open(1, 4), open(2, 5)])).is_err());
    }
}
