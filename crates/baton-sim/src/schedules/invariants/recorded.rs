//! What a page says of past runs is what happened: a run that is over is recorded once, with its
//! true outcome, and under `on_crash: retry` none is given up that may run again.

use std::collections::BTreeMap;

use baton_core::schedule::entry::{HISTORY_MAX, LOSSES_MAX};
use baton_core::schedule::{
    ActiveRun, AttemptEnd, AttemptId, HistoryEntry, OnCrash, Overlap, RunOutcome, RunState,
};

use crate::schedules::commit::{Author, Change};
use crate::schedules::fact::{Fact, TrueEnd};

/// How each attempt ended in truth.
type Ends = BTreeMap<AttemptId, TrueEnd>;

/// Remembers the true ends, and compares.
pub fn check() -> impl FnMut(&Fact<'_>) -> Result<(), String> {
    let mut ends = Ends::new();
    move |fact: &Fact<'_>| match fact {
        Fact::Ended { attempt, end } => {
            ends.insert((*attempt).clone(), (*end).clone());
            Ok(())
        }
        Fact::Committed(commit) if matches!(commit.author, Author::Leader { .. }) => {
            commit.changes.iter().try_for_each(|change| check_change(change, &ends))
        }
        _ => Ok(()),
    }
}

fn check_change(change: &Change<'_>, ends: &Ends) -> Result<(), String> {
    let (before, after, name) = (change.before.totals, change.after.totals, change.name());
    let finished: Vec<&ActiveRun> = change.finished().collect();
    if finished.len() >= HISTORY_MAX {
        return Ok(());
    }
    let (mut done, mut failed) = (0, 0);
    for run in finished {
        let Some(outcome) = recorded(change, run) else {
            // What was missed in the same step may have pushed it out.
            if after.missed > before.missed {
                return Ok(());
            }
            return Err(format!("{name}: {run:?} is gone without a record"));
        };
        if !is_true(outcome, run, change, ends) {
            return Err(format!("{name}: {run:?} is recorded as {outcome:?}"));
        }
        done += u64::from(*outcome == RunOutcome::Done);
        failed += u64::from(outcome.is_failure());
    }
    let counted = (after.done.checked_sub(before.done), after.failed.checked_sub(before.failed));
    match counted == (Some(done), Some(failed)) {
        true => Ok(()),
        false => Err(format!("{name}: {done} done and {failed} failed are counted as {counted:?}")),
    }
}

fn recorded<'c>(change: &'c Change<'_>, run: &ActiveRun) -> Option<&'c RunOutcome> {
    change.after.history.iter().rev().find_map(|entry| match entry {
        HistoryEntry::Run { id, outcome, .. } if *id == run.id => Some(outcome),
        _ => None,
    })
}

fn is_true(outcome: &RunOutcome, run: &ActiveRun, change: &Change<'_>, ends: &Ends) -> bool {
    let definition = &change.after.definition;
    let schedule = change.name().to_owned();
    let end = ends.get(&AttemptId { schedule, run: run.id, attempt: run.attempt });
    let used_up = run.failures >= definition.retries;
    match outcome {
        RunOutcome::Done => end == Some(&TrueEnd::Ended(AttemptEnd::Done)),
        RunOutcome::Failed(_) => {
            used_up && matches!(end, Some(TrueEnd::Ended(AttemptEnd::Failed(_))))
        }
        RunOutcome::TimedOut => used_up && end == Some(&TrueEnd::Ended(AttemptEnd::TimedOut)),
        RunOutcome::Replaced => {
            run.state == RunState::Stopping || definition.overlap == Overlap::Replace
        }
        RunOutcome::Abandoned => {
            definition.on_crash == OnCrash::Skip
                || run.losses >= LOSSES_MAX
                || change.after.undeclared_ms.is_some()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedules::invariants::testing::{commit, end, entry, leader, run, schedule, slot};
    use baton_core::schedule::Entry;

    fn record(of: &Entry, outcome: RunOutcome) -> Entry {
        let mut entry = of.clone();
        entry.running.clear();
        entry.totals.done += u64::from(outcome == RunOutcome::Done);
        entry.totals.failed += u64::from(outcome.is_failure());
        entry.history.push_back(HistoryEntry::Run {
            id: run(1, 1).id,
            attempts: 1,
            node: run(1, 1).node,
            started_ms: 0,
            ended_ms: 0,
            outcome,
        });
        entry
    }

    #[test]
    fn a_run_that_is_forgotten_given_up_or_recorded_wrongly_fires() {
        let mut before = entry(&schedule(|_| {}));
        before.last = slot(1);
        before.running.push(run(1, 1));
        let mut checker = check();
        let cut_off = TrueEnd::CutOff;
        assert!(end(&mut checker, (1, 1), &cut_off).is_ok());
        let mut forgotten = before.clone();
        forgotten.running.clear();
        for wrong in
            [forgotten, record(&before, RunOutcome::Done), record(&before, RunOutcome::Abandoned)]
        {
            assert!(commit(&mut checker, (&before, &wrong), leader(2_000)).is_err());
        }
        let done = TrueEnd::Ended(AttemptEnd::Done);
        assert!(end(&mut checker, (1, 1), &done).is_ok());
        let mut after = record(&before, RunOutcome::Done);
        assert!(commit(&mut checker, (&before, &after), leader(2_000)).is_ok());
        after.totals.done += 1;
        assert!(commit(&mut checker, (&before, &after), leader(2_000)).is_err());
    }
}
