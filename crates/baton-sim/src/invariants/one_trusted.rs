//! S1: at any instant at most one trust window is open.

use crate::fact::Fact;

/// Compares the windows that are open right now, each by its own process's clock.
pub fn check(fact: &Fact<'_>) -> Result<(), String> {
    match fact {
        Fact::Windows([one, other, ..]) => Err(format!(
            "node {} (epoch {}) and node {} (epoch {}) are trusted at the same time",
            one.who.slot, one.epoch, other.who.slot, other.epoch
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::OpenWindow;
    use crate::invariants::testing::who;
    use baton_core::ids::Epoch;

    #[test]
    fn two_open_windows_fire_and_one_does_not() {
        let open = |n, epoch| OpenWindow { who: who(n), epoch: Epoch(epoch) };
        assert!(check(&Fact::Windows(&[open(1, 4)])).is_ok());
        assert!(check(&Fact::Windows(&[open(1, 4), open(2, 5)])).is_err());
    }
}
