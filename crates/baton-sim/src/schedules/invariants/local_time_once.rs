//! A schedule whose local times count once is never claimed twice for one of them, whatever the
//! clock of its zone does.

use std::collections::BTreeMap;

use baton_core::schedule::{Daylight, Recurrence};
use jiff::Timestamp;

use crate::schedules::commit::Change;
use crate::schedules::fact::Fact;

/// Remembers the instant of each local time, by what names it: schedule, expression and zone.
pub fn check() -> impl FnMut(&Fact<'_>) -> Result<(), String> {
    let mut known: BTreeMap<[String; 4], u64> = BTreeMap::new();
    move |fact: &Fact<'_>| {
        let Fact::Committed(commit) = fact else { return Ok(()) };
        for change in &commit.changes {
            for (local, at_ms) in begun(change) {
                let definition = &change.after.definition;
                let name = definition.name.clone();
                let key = [name, definition.cron.clone(), definition.tz.clone(), local];
                let first_ms = *known.entry(key).or_insert(at_ms);
                if first_ms != at_ms {
                    let (name, slot) = (change.name(), at_ms - first_ms);
                    return Err(format!("{name}: the same local time again after {slot} ms"));
                }
            }
        }
        Ok(())
    }
}

/// The local times and instants of the runs that have begun.
fn begun(change: &Change<'_>) -> Vec<(String, u64)> {
    let Recurrence::Cron { zone, daylight: Daylight::Once, .. } = &change.schedule.recurrence
    else {
        return Vec::new();
    };
    let slots = change.begun().filter(|run| run.id.requested == 0).map(|run| run.id.at_ms);
    let local = |at_ms: u64| {
        let at = Timestamp::from_millisecond(i64::try_from(at_ms).unwrap_or(i64::MAX));
        zone.to_datetime(at.unwrap_or(Timestamp::MAX)).to_string()
    };
    slots.map(|at_ms| (local(at_ms), at_ms)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedules::invariants::testing::{commit, entry, leader, run, schedule};
    use baton_core::schedule::RunId;

    #[test]
    fn a_local_time_that_comes_twice_fires() {
        let nightly = schedule(|it| {
            it.cron = "30 2 * * *".to_owned();
            it.tz = "Europe/Berlin".to_owned();
        });
        let none = entry(&nightly);
        // 2026-10-25 at 02:30, before and after the clock was set back.
        let claimed = |at_s: u64| {
            let mut entry = none.clone();
            let id = RunId { at_ms: at_s * 1_000, requested: 0 };
            entry.running.push(baton_core::schedule::ActiveRun { id, ..run(0, 1) });
            entry
        };
        let mut checker = check();
        assert!(commit(&mut checker, (&none, &claimed(1_792_888_200)), leader(0)).is_ok());
        assert!(commit(&mut checker, (&none, &claimed(1_792_978_200)), leader(0)).is_ok());
        assert!(commit(&mut checker, (&none, &claimed(1_792_891_800)), leader(0)).is_err());
    }
}
