//! S1, S7: a trust window never reaches further than a write that took place, from its send on.

use std::collections::BTreeMap;

use baton_core::ids::Epoch;
use baton_core::lease::LeaseTerms;
use baton_core::time::Moment;

use crate::fact::{Fact, ProcessId};

/// Compares the window that a process trusts with its last write that was applied.
pub fn check(terms: LeaseTerms) -> impl FnMut(&Fact<'_>) -> Result<(), String> {
    // The latest applied write of each term of each process, by when it was sent.
    let mut sent_at: BTreeMap<(ProcessId, Epoch), Moment> = BTreeMap::new();
    move |fact: &Fact<'_>| match *fact {
        Fact::LeaseApplied { pid, epoch, sent } => {
            let latest = sent_at.entry((pid, epoch)).or_insert(sent);
            *latest = sent.max(*latest);
            Ok(())
        }
        Fact::Handled(pid, state) => {
            let Some((epoch, window)) = state.window else { return Ok(()) };
            let backing = sent_at.get(&(pid, epoch));
            let bound = backing.map(|sent| *sent + terms.ttl);
            if bound.is_some_and(|bound| window.hard <= bound) {
                return Ok(());
            }
            Err(format!(
                "node {} trusts epoch {epoch} until {:?}, but its writes carry it to {bound:?}",
                pid.slot, window.hard
            ))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::ProcessState;
    use crate::invariants::testing::{at, idle, pid, window};
    use baton_core::settings::Settings;

    #[test]
    fn a_window_without_a_write_behind_it_fires() {
        let mut checker = check(Settings::default().lease_terms());
        let open = |hard| ProcessState { window: Some((Epoch(1), window(1, hard))), ..idle(1) };
        assert!(checker(&Fact::Handled(pid(1), open(14))).is_err());
        let applied = Fact::LeaseApplied { pid: pid(1), epoch: Epoch(1), sent: at(0) };
        assert!(checker(&applied).is_ok());
        assert!(checker(&Fact::Handled(pid(1), open(14))).is_ok());
        assert!(checker(&Fact::Handled(pid(1), open(16))).is_err());
    }
}
