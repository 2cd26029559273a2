//! A scheduler that has nothing to do is not woken again at once: that would be a tight loop.

use crate::schedules::fact::Fact;

/// Looks at when schedulers want to be woken.
pub fn check(fact: &Fact<'_>) -> Result<(), String> {
    match fact {
        Fact::WokenInVain(epoch) => Err(format!(
            "the scheduler of epoch {epoch} is woken again and again, and does nothing"
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_core::ids::Epoch;

    #[test]
    fn a_scheduler_that_is_woken_for_nothing_fires() {
        assert!(check(&Fact::Granted(Epoch(1))).is_ok());
        assert!(check(&Fact::WokenInVain(Epoch(1))).is_err());
    }
}
