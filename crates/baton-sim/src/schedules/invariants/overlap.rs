//! At most one attempt of a schedule runs at any time, unless it allows more: then at most 16. And
//! under `skip` no slot is taken in while a run is under way.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::schedule::entry::CONCURRENT_MAX;
use baton_core::schedule::{AttemptId, Overlap};

use crate::schedules::commit::{Change, has_run};
use crate::schedules::fact::Fact;

/// Remembers what runs, and the policy of each schedule when it last claimed a run.
pub fn check() -> impl FnMut(&Fact<'_>) -> Result<(), String> {
    let mut policies: BTreeMap<String, Overlap> = BTreeMap::new();
    let mut running: BTreeMap<String, BTreeSet<AttemptId>> = BTreeMap::new();
    move |fact: &Fact<'_>| match fact {
        Fact::Committed(commit) => {
            for change in &commit.changes {
                if change.claimed().next().is_some() {
                    let policy = change.after.definition.overlap;
                    policies.insert(change.name().to_owned(), policy);
                }
            }
            commit.changes.iter().try_for_each(nothing_beside_a_run)
        }
        Fact::Started { attempt, .. } => {
            let all = running.entry(attempt.schedule.clone()).or_default();
            all.insert((*attempt).clone());
            let policy = policies.get(&attempt.schedule).copied().unwrap_or_default();
            let most = if policy == Overlap::Allow { CONCURRENT_MAX } else { 1 };
            match all.len() <= most {
                true => Ok(()),
                false => Err(format!("{} attempts run under {policy:?}: {all:?}", all.len())),
            }
        }
        Fact::Ended { attempt, .. } => {
            running.entry(attempt.schedule.clone()).or_default().remove(attempt);
            Ok(())
        }
        _ => Ok(()),
    }
}

fn nothing_beside_a_run(change: &Change<'_>) -> Result<(), String> {
    let (before, after) = (change.before, change.after);
    let mut goes_on = before.running.iter().filter(|run| has_run(&after.running, run.id));
    if after.definition.overlap == Overlap::Skip
        && let (Some(run), Some(slot)) = (goes_on.next(), change.admitted().next())
    {
        return Err(format!("{}: {slot:?} is to be run beside {run:?}", change.name()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedules::fact::TrueEnd;
    use crate::schedules::invariants::testing::{
        commit, end, entry, leader, run, schedule, slot, start,
    };

    fn after_a_claim(
        overlap: Overlap,
    ) -> Result<impl FnMut(&Fact<'_>) -> Result<(), String>, String> {
        let tick = schedule(|it| it.overlap = overlap);
        let before = entry(&tick);
        let mut after = before.clone();
        after.last = slot(1);
        after.running.push(run(1, 1));
        let mut checker = check();
        commit(&mut checker, (&before, &after), leader(1_000))?;
        start(&mut checker, 1, 1)?;
        Ok(checker)
    }

    #[test]
    fn a_second_attempt_fires_unless_it_is_allowed() {
        let mut queue = after_a_claim(Overlap::Queue).expect("one is right");
        assert!(start(&mut queue, 2, 1).is_err());
        let mut queue = after_a_claim(Overlap::Queue).expect("one is right");
        assert!(end(&mut queue, (1, 1), &TrueEnd::CutOff).is_ok());
        assert!(start(&mut queue, 2, 1).is_ok());
        let mut allow = after_a_claim(Overlap::Allow).expect("one is right");
        for second in 2..=16 {
            assert!(start(&mut allow, second, 1).is_ok());
        }
        assert!(start(&mut allow, 17, 1).is_err());
    }

    #[test]
    fn a_slot_that_waits_beside_a_run_fires_under_skip() {
        let tick = schedule(|_| {});
        let mut before = entry(&tick);
        before.last = slot(1);
        before.running.push(run(1, 1));
        let mut after = before.clone();
        after.last = slot(2);
        after.waiting.push(slot(2).into());
        assert!(commit(&mut check(), (&before, &after), leader(2_000)).is_err());
        after.running.clear();
        assert!(commit(&mut check(), (&before, &after), leader(2_000)).is_ok());
    }
}
