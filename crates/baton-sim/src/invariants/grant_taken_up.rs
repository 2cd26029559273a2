//! S7: a process that is shown its own new grant takes it up. A lost reply is re-read, not
//! forgotten: else the namespace waits for a holder that does not know it is one.

use crate::fact::Fact;

/// Compares what a process was shown with what it holds afterwards.
pub fn check(fact: &Fact<'_>) -> Result<(), String> {
    let Fact::LeaseShown { pid, lease: Some(lease), stale: false, state, ended, seen } = fact
    else {
        return Ok(());
    };
    let epoch = lease.version.epoch;
    let new = epoch > *ended && epoch > *seen;
    let new_grant = lease.is_held_by(pid.boot) && new && !state.leaving;
    // One that is still busy with an older term ends that first, and gives the grant back.
    if new_grant && state.holding.is_none() {
        return Err(format!(
            "node {} was shown its own grant of epoch {epoch} and did not take it up",
            pid.slot
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::ProcessState;
    use crate::invariants::testing::{idle, lease, pid};
    use baton_core::ids::Epoch;

    #[test]
    fn an_unheeded_grant_fires() {
        let shown = lease(3, 1, Some(1));
        let see = |holding, ended| {
            check(&Fact::LeaseShown {
                pid: pid(1),
                lease: Some(&shown),
                stale: false,
                state: ProcessState { holding, ..idle(1) },
                ended: Epoch(ended),
                seen: Epoch(2),
            })
        };
        assert!(see(Some(Epoch(3)), 0).is_ok());
        assert!(see(None, 3).is_ok());
        assert!(see(None, 0).is_err());
    }
}
