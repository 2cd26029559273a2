//! Which slots are due, and which of them are run: the policy for missed slots.
//!
//! ```text
//!   last decided          due: missed                 on time (grace)    now
//!   ─────┼───────────┼────────┼────────┼────────┼──────────┼──────────────┤
//!   skip                                                   run
//!   once                                                   run; if none is on time, the newest
//!   catch up                  run      run      run        run            cap 4, not beyond age
//! ```
//!
//! Every slot up to now is decided on at once, and never again.

use super::definition::{Misfire, Schedule, WAITING_MAX};
use super::slot::Slot;
use crate::planted::planted;

/// Missed slots are counted up to this many; a schedule of every second has more in an outage of a
/// week than anyone needs to know.
pub const COUNTED_MAX: u32 = 10_000;

/// What becomes of the slots that are due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DueSlots {
    /// These are run, the oldest first.
    pub(super) run: Vec<Slot>,
    /// These are not.
    pub(super) missed: Option<MissedSlots>,
    /// The newest one: the slots after it are still to come.
    pub(super) newest: Slot,
}

/// Slots that are not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissedSlots {
    /// How many; [`COUNTED_MAX`] stands for that or more.
    pub count: u32,
    /// The oldest, in Unix milliseconds.
    pub first_ms: u64,
    /// The newest, in Unix milliseconds.
    pub last_ms: u64,
}

/// Decides on the slots after `last` that start by now. `None` if there are none.
pub(super) fn decide(schedule: &Schedule, last: &Slot, now_ms: u64) -> Option<DueSlots> {
    let until_ms = schedule.slots_until(now_ms);
    let first = schedule.next_after(last).filter(|slot| slot.at_ms <= until_ms)?;
    let due = schedule.recurrence.newest(last, until_ms, WAITING_MAX);
    let newest = *due.last()?;
    let definition = &schedule.definition;
    let late_ms = |slot: &Slot| now_ms.saturating_sub(schedule.starts_at(*slot));
    let within = |span_ms: u64| due.iter().filter(|slot| late_ms(slot) <= span_ms).count();
    let on_time = within(definition.grace_ms);
    let run = match definition.misfire {
        Misfire::Skip if planted!(SkipRunsLate) => on_time.max(1),
        Misfire::Skip => on_time,
        Misfire::Once => on_time.max(1),
        Misfire::CatchUp { .. } if planted!(CatchUpWithoutCap) => due.len(),
        Misfire::CatchUp { cap, age_ms } => {
            within(age_ms.max(definition.grace_ms)).min(cap as usize)
        }
    };
    let run = due[due.len() - run..].to_vec();
    let missed = missed(schedule, (last, &first), &run, &newest);
    Some(DueSlots { run, missed, newest })
}

/// Those that are due and come before the ones that are run.
fn missed(
    schedule: &Schedule,
    (last, first): (&Slot, &Slot),
    run: &[Slot],
    newest: &Slot,
) -> Option<MissedSlots> {
    let before_ms = match run.first() {
        Some(oldest) if oldest == first => return None,
        Some(oldest) => oldest.at_ms.saturating_sub(1),
        None => newest.at_ms,
    };
    let last_missed = schedule.recurrence.newest(last, before_ms, 1);
    let last_ms = last_missed.first()?.at_ms;
    let (mut count, mut slot) = (1, *first);
    while count < COUNTED_MAX
        && let Some(next) = schedule.next_after(&slot).filter(|next| next.at_ms <= last_ms)
    {
        count += 1;
        slot = next;
    }
    Some(MissedSlots { count, first_ms: first.at_ms, last_ms })
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;
    use crate::schedule::definition::Definition;

    const NOW_S: u64 = 1_790_000_000;

    fn every_second(misfire: Misfire, grace_s: u64) -> Schedule {
        let mut definition = Definition::new("tick", "* * * * * *");
        definition.misfire = misfire;
        definition.grace_ms = grace_s * 1_000;
        definition.resolve(&|_| Ok(TimeZone::UTC)).expect("it is right")
    }

    /// After ten minutes without a leader: the number of slots run, and of those missed.
    fn after_ten_minutes(misfire: Misfire, grace_s: u64) -> (Vec<u64>, u32) {
        let schedule = every_second(misfire, grace_s);
        let last = schedule.recurrence.moment((NOW_S - 600) * 1_000);
        let due = decide(&schedule, &last, NOW_S * 1_000 + 500).expect("they are due");
        assert_eq!(due.newest.at_ms, NOW_S * 1_000);
        assert!(decide(&schedule, &due.newest, NOW_S * 1_000 + 500).is_none(), "once and for all");
        let ago = |slot: &Slot| NOW_S - slot.at_ms / 1_000;
        (due.run.iter().map(ago).collect(), due.missed.map_or(0, |missed| missed.count))
    }

    #[test]
    fn ten_minutes_under_each_policy() {
        assert_eq!(after_ten_minutes(Misfire::Skip, 2), (vec![1, 0], 598));
        assert_eq!(after_ten_minutes(Misfire::Skip, 0), (vec![], 600));
        assert_eq!(after_ten_minutes(Misfire::Once, 0), (vec![0], 599));
        assert_eq!(after_ten_minutes(Misfire::Once, 1), (vec![0], 599));
        assert_eq!(after_ten_minutes(Misfire::Once, 2), (vec![1, 0], 598));
        let catch_up = |cap, age_s: u64| Misfire::CatchUp { cap, age_ms: age_s * 1_000 };
        assert_eq!(after_ten_minutes(catch_up(4, 3_600), 0), (vec![3, 2, 1, 0], 596));
        assert_eq!(after_ten_minutes(catch_up(100, 2), 0), (vec![1, 0], 598));
        assert_eq!(after_ten_minutes(catch_up(100, 3_600), 0).0.len(), 100);
    }

    #[test]
    fn a_slot_starts_later_by_its_jitter_and_is_late_from_then_on() {
        let mut definition = Definition::new("tick", "@hourly");
        definition.misfire = Misfire::Skip;
        definition.grace_ms = 1_000;
        definition.jitter_ms = 600_000;
        let schedule = definition.resolve(&|_| Ok(TimeZone::UTC)).expect("it is right");
        let last = schedule.recurrence.moment(0);
        let first = schedule.next_after(&last).expect("there is one");
        let start_ms = schedule.starts_at(first);
        assert!(start_ms > first.at_ms, "this name has some");
        assert_eq!(decide(&schedule, &last, start_ms - 1), None);
        let due = decide(&schedule, &last, start_ms + 1_000).expect("it is due");
        assert_eq!((due.run, due.missed), (vec![first], None));
        let due = decide(&schedule, &last, start_ms + 1_001).expect("it is due");
        assert_eq!(due.missed.map(|missed| missed.count), Some(1));
    }

    #[test]
    fn slots_of_a_long_outage_are_counted_up_to_a_limit() {
        let schedule = every_second(Misfire::Once, 0);
        let last = schedule.recurrence.moment((NOW_S - 86_400) * 1_000);
        let due = decide(&schedule, &last, NOW_S * 1_000).expect("they are due");
        let missed = due.missed.expect("nearly all were");
        assert_eq!(missed.count, COUNTED_MAX);
        assert_eq!(missed.first_ms, (NOW_S - 86_399) * 1_000);
        assert_eq!(missed.last_ms, (NOW_S - 1) * 1_000);
    }
}
