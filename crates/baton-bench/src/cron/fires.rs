//! What was started, and what it shows: slots that were missed, slots that were doubled, lag.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use super::LAG_P99_MS;
use crate::percentiles::Percentiles;

/// Between two slots of a schedule.
pub const SECOND_MS: u64 = 1_000;

/// One start of the work of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fire {
    /// Which schedule.
    pub schedule: u32,
    /// The time of its slot, in Unix milliseconds.
    pub slot_ms: u64,
    /// Which attempt.
    pub attempt: u32,
    /// The epoch of the term.
    pub epoch: u64,
    /// When it started, in Unix milliseconds.
    pub started_ms: u64,
}

/// Everything that was started. Clones write to the same.
#[derive(Clone, Debug, Default)]
pub struct FireLog(Arc<Mutex<Vec<Fire>>>);

impl FireLog {
    /// Adds a start.
    pub fn push(&self, fire: Fire) {
        self.0.lock().expect("no holder panics").push(fire);
    }

    /// Takes out what there is so far.
    pub fn take(&self) -> Vec<Fire> {
        std::mem::take(&mut *self.0.lock().expect("no holder panics"))
    }
}

/// What the starts of a window show.
#[derive(Clone, Debug)]
pub struct FireFigures {
    /// Starts for slots of the window.
    pub fires: usize,
    /// Slots without a start.
    pub missed: usize,
    /// Starts after the first one of the same slot.
    pub doubled: usize,
    /// Terms in which something was started.
    pub terms: usize,
    /// Milliseconds from the time of a slot to its first start.
    pub lag: Option<Percentiles>,
}

impl FireFigures {
    /// The figures of the slots from one time to before the other, of schedules numbered from 0.
    pub fn of(fires: &[Fire], schedules: u32, (from_ms, to_ms): (u64, u64)) -> Self {
        let within = |fire: &&Fire| (from_ms..to_ms).contains(&fire.slot_ms);
        let mut first: BTreeMap<(u32, u64), u64> = BTreeMap::new();
        let (mut count, mut terms) = (0, BTreeSet::new());
        for fire in fires.iter().filter(within) {
            count += 1;
            terms.insert(fire.epoch);
            let started = first.entry((fire.schedule, fire.slot_ms)).or_insert(fire.started_ms);
            *started = fire.started_ms.min(*started);
        }
        let lag = |((_, slot_ms), started_ms): (&(u32, u64), &u64)| {
            started_ms.saturating_sub(*slot_ms) as f64
        };
        let slots = (from_ms..to_ms).step_by(SECOND_MS as usize).count() * schedules as usize;
        Self {
            fires: count,
            missed: slots.saturating_sub(first.len()),
            doubled: count - first.len(),
            terms: terms.len(),
            lag: Percentiles::of(&first.iter().map(lag).collect::<Vec<_>>()),
        }
    }

    /// Was every slot started once, and in time?
    pub fn is_carried(&self) -> bool {
        let is_in_time = self.lag.is_some_and(|lag| lag.p99 <= LAG_P99_MS);
        (self.missed, self.doubled) == (0, 0) && is_in_time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fire(schedule: u32, slot_ms: u64, started_ms: u64) -> Fire {
        Fire { schedule, slot_ms, attempt: 1, epoch: 1, started_ms }
    }

    #[test]
    fn every_slot_of_the_window_has_one_start() {
        let fires = [fire(0, 1_000, 1_004), fire(1, 1_000, 1_008), fire(0, 3_000, 3_001)];
        let figures = FireFigures::of(&fires, 2, (1_000, 2_000));
        assert_eq!((figures.fires, figures.missed, figures.doubled), (2, 0, 0));
        assert_eq!(figures.lag.map(|lag| lag.max), Some(8.0));
        assert!(figures.is_carried());
    }

    #[test]
    fn a_slot_without_a_start_is_missed_and_one_with_two_is_doubled() {
        let fires = [fire(0, 1_000, 1_900), fire(0, 1_000, 1_004)];
        let figures = FireFigures::of(&fires, 2, (1_000, 3_000));
        assert_eq!((figures.fires, figures.missed, figures.doubled), (2, 3, 1));
        assert_eq!(figures.lag.map(|lag| lag.max), Some(4.0), "the first start counts");
        assert!(!figures.is_carried());
    }
}
