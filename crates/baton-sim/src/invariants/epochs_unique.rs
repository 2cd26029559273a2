//! S2: no two processes ever share an epoch, and epochs strictly increase from term to term.

use std::collections::BTreeMap;

use baton_core::ids::Epoch;

use crate::fact::{Fact, ProcessId};

/// Remembers every term that began. Their order is promised where S1 is: beyond it, a process may
/// learn late of a grant whose successor has begun already.
pub fn check(in_order: bool) -> impl FnMut(&Fact<'_>) -> Result<(), String> {
    let mut began: BTreeMap<Epoch, ProcessId> = BTreeMap::new();
    move |fact: &Fact<'_>| {
        let Fact::TermStarted { pid, epoch, .. } = fact else { return Ok(()) };
        let last = began.last_key_value().map(|(last, _)| *last);
        if let Some(by) = began.get(epoch) {
            return Err(format!("epoch {epoch} begins a second time, after node {}", by.slot));
        }
        if let Some(last) = last.filter(|last| in_order && epoch < last) {
            return Err(format!("epoch {epoch} begins after epoch {last} did"));
        }
        began.insert(*epoch, *pid);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing::{node, pid};

    #[test]
    fn an_epoch_that_repeats_or_goes_back_fires() {
        let id = node("a");
        let start = |n, epoch| Fact::TermStarted {
            pid: pid(n),
            node: &id,
            epoch: Epoch(epoch),
            seen: Epoch::NONE,
            eligible: true,
        };
        let mut checker = check(true);
        assert!(checker(&start(1, 1)).is_ok());
        assert!(checker(&start(2, 2)).is_ok());
        assert!(checker(&start(3, 2)).is_err());
        assert!(checker(&start(2, 5)).is_ok());
        assert!(checker(&start(3, 4)).is_err());
        let mut unordered = check(false);
        assert!(unordered(&start(2, 5)).is_ok());
        assert!(unordered(&start(3, 4)).is_ok());
        assert!(unordered(&start(1, 4)).is_err());
    }
}
