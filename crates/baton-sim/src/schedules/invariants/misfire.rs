//! Of the slots that are due, those are run that the policy for missed slots names, and no others.

use baton_core::schedule::definition::WAITING_MAX;
use baton_core::schedule::{Misfire, Overlap, RunId, Slot};

use crate::schedules::commit::{Author, Change, has_run};
use crate::schedules::fact::Fact;

/// Comes to its own result about the slots that each change decides on.
pub fn check(fact: &Fact<'_>) -> Result<(), String> {
    let Fact::Committed(commit) = fact else { return Ok(()) };
    commit.changes.iter().try_for_each(|change| match change.author {
        Author::Leader { wall_ms, .. } => check_change(change, wall_ms),
        Author::Person { .. } => Ok(()),
    })
}

fn check_change(change: &Change<'_>, wall_ms: u64) -> Result<(), String> {
    let name = change.name();
    if let Some(early) = change.due.iter().find(|it| change.schedule.starts_at(**it) > wall_ms) {
        return Err(format!("{name}: {early:?} is decided on before it is due"));
    }
    let expected = expected(change, wall_ms);
    if let Some(slot) = change.admitted().find(|slot| !expected.contains(slot)) {
        let policy = change.after.definition.misfire;
        return Err(format!("{name}: {slot:?} is to be run against {policy:?}"));
    }
    let admitted: Vec<&Slot> = change.admitted().collect();
    match expected.iter().find(|slot| !admitted.contains(slot) && !may_drop(change, expected, slot))
    {
        Some(slot) => Err(format!("{name}: {slot:?} is not run, without a reason")),
        None => Ok(()),
    }
}

/// The slots that are to be run, as far as other runs let them.
fn expected<'c>(change: &'c Change<'_>, wall_ms: u64) -> &'c [Slot] {
    let definition = &change.after.definition;
    let late_ms = |slot: &Slot| wall_ms.saturating_sub(change.schedule.starts_at(*slot));
    let within = |most_ms| change.due.iter().rev().take_while(|it| late_ms(it) <= most_ms).count();
    let on_time = within(definition.grace_ms);
    let count = match definition.misfire {
        Misfire::Skip => on_time,
        Misfire::Once => on_time.max(1),
        Misfire::CatchUp { cap, age_ms } => {
            within(age_ms.max(definition.grace_ms)).min(cap as usize)
        }
    };
    // More than can wait are not kept, however many are on time.
    let count = count.min(change.due.len()).min(WAITING_MAX);
    &change.due[change.due.len() - count..]
}

/// May another run keep this slot from being run?
fn may_drop(change: &Change<'_>, expected: &[Slot], slot: &Slot) -> bool {
    let (before, after) = (change.before, change.after);
    let is_full = before.waiting.len() + expected.len() > WAITING_MAX;
    match after.definition.overlap {
        Overlap::Allow | Overlap::Queue => is_full,
        Overlap::Replace => is_full || expected.last() != Some(slot),
        Overlap::Skip => {
            let goes_on = before.running.iter().any(|run| has_run(&after.running, run.id));
            goes_on
                || !before.waiting.is_empty()
                || expected.first() != Some(slot)
                || before.running.iter().any(|run| RunId::from(*slot) == run.id)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedules::invariants::testing::{commit, entry, leader, schedule, slot};

    /// Ten slots are due, the last one right now: these seconds are run. Is that right?
    fn is_right(misfire: Misfire, grace_ms: u64, run: std::ops::RangeInclusive<u64>) -> bool {
        let tick = schedule(|it| {
            (it.misfire, it.grace_ms, it.overlap) = (misfire, grace_ms, Overlap::Queue);
        });
        let before = entry(&tick);
        let mut after = before.clone();
        after.last = slot(10);
        after.waiting = run.map(|second| slot(second).into()).collect();
        commit(&mut check, (&before, &after), leader(10_000)).is_ok()
    }

    #[test]
    fn slots_beside_those_of_the_policy_fire() {
        assert!(is_right(Misfire::Skip, 2_000, 8..=10));
        assert!(!is_right(Misfire::Skip, 2_000, 7..=10));
        assert!(!is_right(Misfire::Skip, 2_000, 9..=10));
        assert!(is_right(Misfire::Once, 0, 10..=10));
        assert!(!is_right(Misfire::Once, 0, 9..=10));
        let catch_up = Misfire::CatchUp { cap: 4, age_ms: 5_000 };
        assert!(is_right(catch_up, 0, 7..=10));
        assert!(!is_right(catch_up, 0, 6..=10));
        let young = Misfire::CatchUp { cap: 9, age_ms: 5_000 };
        assert!(is_right(young, 0, 5..=10));
        assert!(!is_right(young, 0, 4..=10));
    }

    #[test]
    fn a_slot_that_is_decided_on_before_its_time_fires() {
        let before = entry(&schedule(|_| {}));
        let mut after = before.clone();
        after.last = slot(2);
        after.waiting.push(slot(2).into());
        assert!(commit(&mut check, (&before, &after), leader(1_999)).is_err());
    }
}
