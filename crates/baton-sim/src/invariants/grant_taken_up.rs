//! S7: a process that is shown its own new grant takes it up. A lost reply is re-read, not
//! forgotten: else the namespace waits for a holder that does not know it is one.

use crate::fact::Fact;

/// Compares what a process was shown with what it holds afterwards.
pub fn check(fact: &Fact<'_>) -> Result<(), String> {
    let Fact::Shown { who, lease: Some(lease), stale: false, condition, ended, seen } = fact else {
        return Ok(());
    };
    let epoch = lease.version.epoch;
    let new = epoch > *ended && epoch > *seen;
    let new_grant = lease.is_held_by(who.boot) && new && !condition.leaving;
    // One that is still busy with an older term ends that first, and gives the grant back.
    if new_grant && condition.holding.is_none() {
        return Err(format!(
            "node {} was shown its own grant of epoch {epoch} and did not take it up",
            who.slot
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::Condition;
    use crate::invariants::testing::{idle, lease, who};
    use baton_core::ids::Epoch;

    #[test]
    fn an_unheeded_grant_fires() {
        let shown = lease(3, 1, Some(1));
        let see = |holding, ended| {
            check(&Fact::Shown {
                who: who(1),
                lease: Some(&shown),
                stale: false,
                condition: Condition { holding, ..idle(1) },
                ended: Epoch(ended),
                seen: Epoch(2),
            })
        };
        assert!(see(Some(Epoch(3)), 0).is_ok());
        assert!(see(None, 3).is_ok());
        assert!(see(None, 0).is_err());
    }
}
