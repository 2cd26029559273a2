//! What goes wrong in the world of schedules. A campaign in which one of these never happened has
//! failed.

use std::collections::BTreeMap;

macro_rules! faults {
    ($($name:ident = $text:literal: $doc:literal,)*) => {
        /// Something that goes wrong, or that people do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Fault { $(#[doc = $doc] $name,)* }

        impl Fault {
            /// Every fault.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Its name in reports.
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

faults! {
    SlowRequest = "slow-request": "A request reaches the store after its timeout.",
    LostRequest = "lost-request": "A request is lost.",
    LostReply = "lost-reply": "A reply is lost.",
    Reset = "reset": "A connection is reset while its request goes on: the answer is unknown.",
    FailedRequest = "failed-request": "A request fails and is certainly not carried out.",
    StoreAway = "store-away": "The store does not answer for seconds.",
    Crash = "crash": "The leader's process dies, and its runs with it.",
    Pause = "pause": "The leader is paused beyond its window; its guard kills its runs.",
    ShortPause = "short-pause": "The leader is paused within its window.",
    UnreportedEnd = "unreported-end": "A handover in which the ends of runs are not reported.",
    SchedulerFails = "scheduler-fails": "A scheduler fails; another one of its term follows.",
    WorkLost = "work-lost": "A run is cut off although its scheduler goes on.",
    OldRequest = "old-request": "A write of an earlier term reaches the store.",
    WallAhead = "wall-ahead": "A wall clock is stepped forward.",
    WallBack = "wall-back": "A wall clock is stepped back.",
    ClockChange = "clock-change": "A zone changes between summer and winter time.",
    SchedulePaused = "schedule-paused": "A person pauses a schedule.",
    ScheduleResumed = "schedule-resumed": "A person resumes a schedule.",
    RunRequested = "run-requested": "A person asks for a run.",
    EditConflict = "edit-conflict": "A person's edit meets a page that was changed meanwhile.",
    Deploy = "deploy": "The leader declares another set of schedules.",
    MixedVersions = "mixed-versions": "A term begins with a set that its predecessor did not have.",
    RunFails = "run-fails": "A run fails.",
    RunTimesOut = "run-times-out": "A run takes longer than its timeout.",
}

/// How often each fault happened.
#[derive(Clone, Debug, Default)]
pub struct FaultCounts(BTreeMap<Fault, u64>);

impl FaultCounts {
    /// It happened.
    pub fn count(&mut self, fault: Fault) {
        *self.0.entry(fault).or_default() += 1;
    }

    /// Adds the counts of another run.
    pub fn add(&mut self, other: &Self) {
        for (fault, count) in &other.0 {
            *self.0.entry(*fault).or_default() += count;
        }
    }

    /// Every fault with its count.
    pub fn all(&self) -> impl Iterator<Item = (Fault, u64)> {
        Fault::ALL.iter().map(|fault| (*fault, self.0.get(fault).copied().unwrap_or(0)))
    }
}
