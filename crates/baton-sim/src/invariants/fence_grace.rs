//! Epoch fencing for tasks: the present epoch, a later one, and for a while the one before.

use std::collections::BTreeMap;
use std::time::Duration;

use baton_core::ids::Epoch;
use baton_core::time::Moment;

use crate::fact::{Fact, ProcessId};

/// Compares each judged task with the epoch that its process knows, and since when.
pub fn check(grace: Duration) -> impl FnMut(&Fact<'_>) -> Result<(), String> {
    // When each process came to know its epoch.
    let mut since: BTreeMap<ProcessId, (Epoch, Moment)> = BTreeMap::new();
    move |fact: &Fact<'_>| match *fact {
        Fact::Handled(pid, state) => {
            let known = since.get(&pid).map(|(epoch, _)| *epoch);
            if known != Some(state.known_epoch) {
                since.insert(pid, (state.known_epoch, state.local));
            }
            Ok(())
        }
        Fact::TaskJudged { pid, local, epoch, created, accepted, known } => {
            let changed = since.get(&pid).map_or(Moment::default(), |(_, at)| *at);
            let fresh = local.since(changed) <= grace && created.since(changed) <= grace;
            let right = epoch >= known || (epoch.next() == known && fresh);
            if right == accepted {
                return Ok(());
            }
            let age = local.since(changed);
            Err(format!(
                "node {}: a task of epoch {epoch} {}, {age:?} after epoch {known} was known",
                pid.slot,
                if accepted { "is accepted" } else { "is refused" },
            ))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::ProcessState;
    use crate::invariants::testing::{at, idle, pid};

    #[test]
    fn accepting_the_previous_epoch_after_the_grace_fires() {
        let mut checker = check(Duration::from_secs(5));
        let knows = ProcessState { known_epoch: Epoch(5), ..idle(100) };
        assert!(checker(&Fact::Handled(pid(1), knows)).is_ok());
        let judged = |epoch, local, accepted| Fact::TaskJudged {
            pid: pid(1),
            local: at(local),
            epoch: Epoch(epoch),
            created: at(local),
            accepted,
            known: Epoch(5),
        };
        assert!(checker(&judged(4, 104, true)).is_ok());
        assert!(checker(&judged(4, 106, false)).is_ok());
        assert!(checker(&judged(4, 106, true)).is_err());
        assert!(checker(&judged(3, 101, true)).is_err());
        assert!(checker(&judged(6, 200, false)).is_err());
    }
}
