//! Every slot that is decided on waits, runs, or is counted as missed; none is decided on twice,
//! and none that waits is lost.

use baton_core::schedule::{ActiveRun, Entry, RunId};

use crate::schedules::commit::Change;
use crate::schedules::fact::Fact;

/// Adds up each change of a schedule.
pub fn check(fact: &Fact<'_>) -> Result<(), String> {
    let Fact::Committed(commit) = fact else { return Ok(()) };
    commit.changes.iter().try_for_each(check_change)
}

fn check_change(change: &Change<'_>) -> Result<(), String> {
    let (before, after, name) = (change.before, change.after, change.name());
    if after.last.at_ms < before.last.at_ms {
        let (old, new) = (before.last.at_ms, after.last.at_ms);
        return Err(format!("{name}: slots from {new} to {old} are due again"));
    }
    let came = change.due.len() as u64 + waiting(before);
    let begun: Vec<&ActiveRun> = change.begun().filter(|run| run.id.requested == 0).collect();
    let is_known = |id: &RunId| {
        before.waiting.contains(id) || change.due.iter().any(|slot| RunId::from(*slot) == *id)
    };
    if let Some(run) = begun.iter().find(|run| !is_known(&run.id)) {
        return Err(format!("{name}: {run:?} is no slot that was due"));
    }
    let missed = after.totals.missed.saturating_sub(before.totals.missed);
    let went = waiting(after) + begun.len() as u64 + missed;
    if came == went {
        return Ok(());
    }
    let due = change.due.len();
    Err(format!(
        "{name}: {due} slots were due and {} waited; now {} wait, {missed} more were missed, \
        {} began",
        waiting(before),
        waiting(after),
        went - missed - waiting(after),
    ))
}

/// How many slots wait.
fn waiting(entry: &Entry) -> u64 {
    entry.waiting.iter().filter(|id| id.requested == 0).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedules::invariants::testing::{commit, entry, leader, run, schedule, slot};

    #[test]
    fn a_slot_that_disappears_and_one_that_comes_from_nowhere_fire() {
        let before = entry(&schedule(|_| {}));
        let mut after = before.clone();
        after.last = slot(3);
        after.running.push(run(3, 1));
        after.totals.missed = 2;
        assert!(commit(&mut check, (&before, &after), leader(3_000)).is_ok());
        after.totals.missed = 1;
        assert!(commit(&mut check, (&before, &after), leader(3_000)).is_err());
        let mut unknown = after.clone();
        unknown.running.push(run(2, 1));
        assert!(commit(&mut check, (&after, &unknown), leader(3_000)).is_err());
        assert!(commit(&mut check, (&after, &before), leader(3_000)).is_err(), "due again");
    }
}
