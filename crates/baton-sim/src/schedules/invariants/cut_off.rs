//! Under `on_crash: skip` a run whose attempt was cut off has no second one.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::schedule::{AttemptEnd, AttemptId, OnCrash};

use crate::schedules::fact::{Fact, TrueEnd};

/// Remembers how attempts ended, and what was to become of them when they were claimed.
pub fn check() -> impl FnMut(&Fact<'_>) -> Result<(), String> {
    let mut policies: BTreeMap<AttemptId, OnCrash> = BTreeMap::new();
    let mut failed: BTreeSet<AttemptId> = BTreeSet::new();
    move |fact: &Fact<'_>| {
        match fact {
            Fact::Ended { attempt, end: TrueEnd::Ended(end) } => {
                if matches!(end, AttemptEnd::Failed(_) | AttemptEnd::TimedOut) {
                    failed.insert((*attempt).clone());
                }
            }
            Fact::Committed(commit) => {
                for change in &commit.changes {
                    let policy = change.after.definition.on_crash;
                    for run in change.claimed() {
                        let name = |attempt| AttemptId {
                            schedule: change.name().to_owned(),
                            run: run.id,
                            attempt,
                        };
                        policies.insert(name(run.attempt), policy);
                        let before = name(run.attempt.saturating_sub(1));
                        let was_skip = policies.get(&before) == Some(&OnCrash::Skip);
                        if was_skip && policy == OnCrash::Skip && !failed.contains(&before) {
                            return Err(format!("{before:?} was cut off, and the run goes on"));
                        }
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedules::invariants::testing::{commit, end, entry, leader, run, schedule, slot};

    #[test]
    fn a_second_attempt_fires_unless_the_first_has_failed() {
        let tick = schedule(|it| it.on_crash = OnCrash::Skip);
        let none = entry(&tick);
        let mut first = none.clone();
        first.last = slot(1);
        first.running.push(run(1, 1));
        let mut second = first.clone();
        second.running[0].attempt = 2;
        let mut checker = check();
        assert!(commit(&mut checker, (&none, &first), leader(1_000)).is_ok());
        assert!(end(&mut checker, (1, 1), &TrueEnd::CutOff).is_ok());
        assert!(commit(&mut checker, (&first, &second), leader(2_000)).is_err());
        let failed = TrueEnd::Ended(AttemptEnd::TimedOut);
        assert!(end(&mut checker, (1, 1), &failed).is_ok());
        assert!(commit(&mut checker, (&first, &second), leader(2_000)).is_ok());
    }
}
