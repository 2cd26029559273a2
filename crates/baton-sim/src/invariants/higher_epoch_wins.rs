//! S1, S3: a leader that is shown a higher epoch stops at once. The higher epoch stands.

use crate::fact::Fact;

/// Compares what a process was shown with what it goes on running.
pub fn check(fact: &Fact<'_>) -> Result<(), String> {
    let Fact::LeaseShown { pid, lease: Some(lease), state, .. } = fact else { return Ok(()) };
    let shown = lease.version.epoch;
    match state.running {
        Some(running) if running < shown => Err(format!(
            "node {} goes on with epoch {running} after it was shown epoch {shown}",
            pid.slot
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::ProcessState;
    use crate::invariants::testing::{idle, lease, pid};
    use baton_core::ids::Epoch;

    #[test]
    fn going_on_below_a_higher_epoch_fires() {
        let shown = lease(3, 1, Some(2));
        let see = |running| {
            check(&Fact::LeaseShown {
                pid: pid(1),
                lease: Some(&shown),
                stale: false,
                state: ProcessState { running, ..idle(1) },
                ended: Epoch::NONE,
                seen: Epoch::NONE,
            })
        };
        assert!(see(None).is_ok());
        assert!(see(Some(Epoch(2))).is_err());
    }
}
