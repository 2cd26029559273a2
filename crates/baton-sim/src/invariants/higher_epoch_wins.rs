//! S1, S3: a leader that is shown a higher epoch stops at once. The higher epoch stands.

use crate::fact::Fact;

/// Compares what a process was shown with what it goes on running.
pub fn check(fact: &Fact<'_>) -> Result<(), String> {
    let Fact::Shown { who, lease: Some(lease), condition, .. } = fact else { return Ok(()) };
    let shown = lease.version.epoch;
    match condition.running {
        Some(running) if running < shown => Err(format!(
            "node {} goes on with epoch {running} after it was shown epoch {shown}",
            who.slot
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::Condition;
    use crate::invariants::testing::{idle, lease, who};
    use baton_core::ids::Epoch;

    #[test]
    fn going_on_below_a_higher_epoch_fires() {
        let shown = lease(3, 1, Some(2));
        let see = |running| {
            check(&Fact::Shown {
                who: who(1),
                lease: Some(&shown),
                stale: false,
                condition: Condition { running, ..idle(1) },
                ended: Epoch::NONE,
                seen: Epoch::NONE,
            })
        };
        assert!(see(None).is_ok());
        assert!(see(Some(Epoch(2))).is_err());
    }
}
