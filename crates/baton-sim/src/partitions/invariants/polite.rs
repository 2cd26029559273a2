//! A machine that has nothing to do is not woken again at once, which would be a tight loop.

use crate::partitions::fact::Fact;

/// Looks at when machines want to be woken.
pub fn check(fact: &Fact<'_>) -> Result<(), String> {
    match fact {
        Fact::WokenInVain(which) => {
            Err(format!("{which} is woken again and again, and does nothing"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_core::ids::Epoch;

    #[test]
    fn a_machine_that_is_woken_for_nothing_fires() {
        assert!(check(&Fact::Granted(Epoch(1))).is_ok());
        assert!(check(&Fact::WokenInVain("the holder".to_owned())).is_err());
    }
}
