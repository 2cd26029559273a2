//! S7: what a process knows, its epoch and its view, never goes back; an old answer is ignored.

use std::collections::BTreeMap;

use baton_core::ids::Epoch;
use baton_core::protocol::ViewVersion;

use crate::fact::{Fact, ProcessId};

/// Compares what a process knows with what it knew before.
pub fn check() -> impl FnMut(&Fact<'_>) -> Result<(), String> {
    // What each process knew last.
    let mut known: BTreeMap<ProcessId, (Epoch, ViewVersion)> = BTreeMap::new();
    move |fact: &Fact<'_>| {
        let Fact::Handled(pid, state) = fact else { return Ok(()) };
        let now = (state.known_epoch, state.known_view);
        let before = known.insert(*pid, now).unwrap_or_default();
        if now.0 < before.0 || now.1 < before.1 {
            return Err(format!("node {} knew {before:?} and now knows {now:?}", pid.slot));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::ProcessState;
    use crate::invariants::testing::{idle, pid};

    #[test]
    fn forgetting_an_epoch_fires() {
        let knows = |epoch| ProcessState { known_epoch: Epoch(epoch), ..idle(1) };
        let mut checker = check();
        assert!(checker(&Fact::Handled(pid(1), knows(4))).is_ok());
        assert!(checker(&Fact::Handled(pid(2), knows(3))).is_ok());
        assert!(checker(&Fact::Handled(pid(1), knows(3))).is_err());
    }
}
