//! One moment at which a schedule is due, and how runs of it are told apart.

use std::fmt;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

/// One moment at which a schedule is due.
///
/// The instant says when; the local time says which slot it is: two versions of the time zone data
/// that disagree about the instant agree about the local time, so that none fires it again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "(u64, i64, bool)", into = "(u64, i64, bool)")]
pub struct Slot {
    /// The instant, in Unix milliseconds.
    pub at_ms: u64,
    /// The local time that the expression names, in seconds since 1970 as that clock counts them.
    /// A time that the clock skips has one too.
    pub local_s: i64,
    /// Is it the second of two equal local times, when the clock was set back?
    pub is_repeated: bool,
}

impl From<(u64, i64, bool)> for Slot {
    fn from((at_ms, local_s, is_repeated): (u64, i64, bool)) -> Self {
        Self { at_ms, local_s, is_repeated }
    }
}

impl From<Slot> for (u64, i64, bool) {
    fn from(slot: Slot) -> Self {
        (slot.at_ms, slot.local_s, slot.is_repeated)
    }
}

impl Slot {
    /// The instant as RFC 3339 has it, with the offset of a zone: what a command is told.
    pub fn rfc3339(self, zone: &TimeZone) -> String {
        instant_rfc3339(self.at_ms, zone)
    }
}

/// An instant as RFC 3339 has it, with the offset of a zone. Milliseconds only if there are any.
pub fn instant_rfc3339(at_ms: u64, zone: &TimeZone) -> String {
    let at = timestamp(at_ms);
    if *zone == TimeZone::UTC {
        return at.to_string();
    }
    at.display_with_offset(zone.to_offset(at)).to_string()
}

/// An instant. Those after the year 9999 are its end.
pub(super) fn timestamp(at_ms: u64) -> Timestamp {
    let ms = i64::try_from(at_ms).unwrap_or(i64::MAX);
    Timestamp::from_millisecond(ms).unwrap_or(Timestamp::MAX)
}

/// Names a run among those of its schedule: its slot, or its number among those that people asked
/// for. Every attempt of a run has the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "(u64, u32)", into = "(u64, u32)")]
pub struct RunId {
    /// The slot's instant, or when the run was asked for, in Unix milliseconds.
    pub at_ms: u64,
    /// The number among the runs that people asked for; 0 for a slot of the schedule.
    pub requested: u32,
}

impl From<(u64, u32)> for RunId {
    fn from((at_ms, requested): (u64, u32)) -> Self {
        Self { at_ms, requested }
    }
}

impl From<RunId> for (u64, u32) {
    fn from(id: RunId) -> Self {
        (id.at_ms, id.requested)
    }
}

impl From<Slot> for RunId {
    fn from(slot: Slot) -> Self {
        Self { at_ms: slot.at_ms, requested: 0 }
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&instant_rfc3339(self.at_ms, &TimeZone::UTC))
    }
}
