//! What changes a schedule from outside: what the leader declares, and what people ask for.

use super::{Entry, MissReason, Step};
use crate::planted::planted;
use crate::schedule::definition::{Schedule, WAITING_MAX};
use crate::schedule::due::MissedSlots;
use crate::schedule::slot::RunId;

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// Why a schedule was not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditRefused {
    /// It does not exist.
    #[error("there is no schedule {name}; baton schedules list shows them")]
    Unknown {
        /// The name.
        name: String,
    },
    /// It is paused already.
    #[error("schedule {name} is paused already")]
    Paused {
        /// The name.
        name: String,
    },
    /// It is not paused.
    #[error("schedule {name} is not paused")]
    NotPaused {
        /// The name.
        name: String,
    },
    /// No leader declares it any more.
    #[error(
        "schedule {name} was removed: the leader no longer declares it, so that it cannot be run"
    )]
    Undeclared {
        /// The name.
        name: String,
    },
    /// Too many runs wait already.
    #[error("{waiting} runs of schedule {name} wait already; at most {WAITING_MAX} can")]
    Full {
        /// The name.
        name: String,
        /// How many.
        waiting: usize,
    },
}

impl Entry {
    /// The leader declares the schedule. A change of the times counts from now on.
    pub(in crate::schedule) fn declare(&mut self, schedule: &Schedule, now_ms: u64) {
        let is_back = self.undeclared_ms.take().is_some();
        let (old, new) = (&self.definition, &schedule.definition);
        let has_new_times =
            (&old.cron, &old.tz, old.daylight) != (&new.cron, &new.tz, new.daylight);
        if is_back || has_new_times {
            // No slot of the time before is owed.
            self.last = schedule.recurrence.moment(now_ms.max(self.last.at_ms));
        }
        if is_back || old != new {
            self.definition = new.clone();
            self.revision += 1;
        }
    }

    /// The leader does not declare it any more.
    pub(in crate::schedule) fn withdraw(&mut self, step: &mut Step<'_>) {
        self.undeclared_ms = Some(step.now_ms);
        self.revision += 1;
        self.drop_waiting(step);
    }

    /// Slots that wait are not run any more, nor is what people have asked for.
    fn drop_waiting(&mut self, step: &mut Step<'_>) {
        if let Some(dropped) = self.drop_waiting_slots() {
            self.miss(dropped, MissReason::Withdrawn, step);
        }
        self.waiting.clear();
    }

    /// Takes out the slots that wait.
    fn drop_waiting_slots(&mut self) -> Option<MissedSlots> {
        let slots = || self.waiting.iter().filter(|id| id.requested == 0).map(|id| id.at_ms);
        let (first_ms, last_ms) = (slots().min()?, slots().max()?);
        let count = u32::try_from(slots().count()).unwrap_or(u32::MAX);
        self.waiting.retain(|id| id.requested > 0);
        Some(MissedSlots { count, first_ms, last_ms })
    }

    /// Slots are not due any more, and those that wait count as missed. What runs goes on.
    pub fn pause(&mut self, now_ms: u64) -> Result<(), EditRefused> {
        if self.paused_ms.is_some() {
            return Err(EditRefused::Paused { name: self.name().to_owned() });
        }
        self.paused_ms = Some(now_ms);
        if let Some(dropped) = self.drop_waiting_slots()
            && !planted!(PauseDropsSlots)
        {
            self.record_missed(dropped, MissReason::Withdrawn);
        }
        self.revision += 1;
        Ok(())
    }

    /// Slots are due again, from now on: those of the pause are not made up for. If the last slot
    /// was one of a clock that was more than a day ahead, they are due from now on all the same.
    pub fn resume(&mut self, schedule: &Schedule, now_ms: u64) -> Result<(), EditRefused> {
        if self.paused_ms.take().is_none() {
            return Err(EditRefused::NotPaused { name: self.name().to_owned() });
        }
        let from_ms = match self.last.at_ms {
            last if last > now_ms.saturating_add(DAY_MS) => now_ms,
            last => last.max(now_ms),
        };
        if !planted!(ResumeMakesUp) {
            self.last = schedule.recurrence.moment(from_ms);
        }
        self.revision += 1;
        Ok(())
    }

    /// Asks for a run now, beside the slots, and names it.
    pub fn request(&mut self, now_ms: u64) -> Result<RunId, EditRefused> {
        let name = || self.name().to_owned();
        if self.undeclared_ms.is_some() {
            return Err(EditRefused::Undeclared { name: name() });
        }
        if self.waiting.len() >= WAITING_MAX {
            return Err(EditRefused::Full { name: name(), waiting: self.waiting.len() });
        }
        self.revision += 1;
        let requested = u32::try_from(self.revision).unwrap_or(u32::MAX);
        let id = RunId { at_ms: now_ms, requested };
        self.waiting.push(id);
        Ok(id)
    }
}
