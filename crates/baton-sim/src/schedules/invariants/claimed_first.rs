//! No attempt is started that a page in the store does not claim.

use std::collections::BTreeSet;

use baton_core::schedule::{ActiveRun, AttemptId};

use crate::schedules::fact::Fact;

/// Remembers each claim that was written.
pub fn check() -> impl FnMut(&Fact<'_>) -> Result<(), String> {
    let mut claimed = BTreeSet::new();
    move |fact: &Fact<'_>| match fact {
        Fact::Committed(commit) => {
            for change in &commit.changes {
                let name = |run: &ActiveRun| AttemptId {
                    schedule: change.name().to_owned(),
                    run: run.id,
                    attempt: run.attempt,
                };
                claimed.extend(change.claimed().map(|run| (name(run), run.claimant)));
            }
            Ok(())
        }
        Fact::Started { attempt, run }
            if !claimed.contains(&((*attempt).clone(), run.claimant)) =>
        {
            Err(format!("{attempt:?} starts, which no page claims for {:?}", run.claimant))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedules::invariants::testing::{
        commit, entry, leader, run, schedule, slot, start,
    };

    #[test]
    fn a_start_without_a_claim_fires() {
        let tick = schedule(|_| {});
        let before = entry(&tick);
        let mut after = before.clone();
        after.last = slot(1);
        after.running.push(run(1, 1));
        let mut checker = check();
        assert!(start(&mut checker, 1, 1).is_err());
        assert!(commit(&mut checker, (&before, &after), leader(1_000)).is_ok());
        assert!(start(&mut checker, 1, 1).is_ok());
        assert!(start(&mut checker, 2, 1).is_err());
    }
}
