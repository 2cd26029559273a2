//! When a schedule is due: local times of an expression become instants of a zone, or a span
//! repeats.
//!
//! ```text
//!   clock set forward 02:00 ─► 03:00         clock set back 03:00 ─► 02:00
//!   nominal  02:30 does not exist            nominal  02:30 comes twice
//!   once     at 03:00, the first moment      once     the first of them
//!            after the gap
//!   elapsed  not at all                      elapsed  both
//! ```
//!
//! Zones come from the caller: nothing here reads a file.

use std::time::Duration;

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use jiff::{Span, Timestamp};
use serde::{Deserialize, Serialize};

use super::cron::{CronExpression, InvalidCron};
use super::slot::{Slot, timestamp};
use crate::planted::planted;
use crate::time::whole_ms;

/// The shortest span of `@every`.
pub const EVERY_MIN: Duration = Duration::from_secs(1);

/// What becomes of local times that a change of the clock skips or repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Daylight {
    /// Each local time once: one that is skipped comes at the end of the gap, together with all
    /// others of it; of one that comes twice, the first counts.
    Once,
    /// As time passes: what is skipped does not come, what comes twice comes twice.
    Elapsed,
}

/// Why a time was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidTime {
    /// The expression names no times.
    #[error(transparent)]
    Cron(#[from] InvalidCron),
    /// What follows `@every` is no length of time.
    #[error(
        "{text:?} is not a length of time ({problem}); write \"@every 5m\" or \"@every 1h 30m\""
    )]
    Span {
        /// What was given.
        text: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The span is too short.
    #[error("every is {}; it must be at least {}", show(*every), show(EVERY_MIN))]
    TooOften {
        /// What was given.
        every: Duration,
    },
}

fn show(span: Duration) -> humantime::FormattedDuration {
    humantime::format_duration(span)
}

/// When a schedule is due.
#[derive(Clone, Debug)]
pub enum Recurrence {
    /// At the local times that an expression names.
    Cron {
        /// The expression.
        expression: CronExpression,
        /// Whose local times.
        zone: TimeZone,
        /// What happens when the clock changes.
        daylight: Daylight,
    },
    /// Every so often, counted from 1970, so that all nodes count alike.
    Every {
        /// How often, in milliseconds.
        every_ms: u64,
    },
}

impl Recurrence {
    /// Reads a cron expression, or `@every` and a length of time. Without a word about changes of
    /// the clock, what is meant to come round all day long goes by elapsed time, and the rest comes
    /// once.
    pub fn parse(
        text: &str,
        zone: TimeZone,
        daylight: Option<Daylight>,
    ) -> Result<Self, InvalidTime> {
        if let Some(span) = text.trim().strip_prefix("@every") {
            let invalid = |problem: humantime::DurationError| InvalidTime::Span {
                text: span.trim().to_owned(),
                problem: problem.to_string(),
            };
            return Self::every(humantime::parse_duration(span.trim()).map_err(invalid)?);
        }
        let expression = CronExpression::parse(text)?;
        let by_itself = if expression.is_every_hour() { Daylight::Elapsed } else { Daylight::Once };
        let daylight = daylight.unwrap_or(by_itself);
        Ok(Self::Cron { expression, zone, daylight })
    }

    /// Every so often.
    pub fn every(every: Duration) -> Result<Self, InvalidTime> {
        if every < EVERY_MIN {
            return Err(InvalidTime::TooOften { every });
        }
        Ok(Self::Every { every_ms: whole_ms(every) })
    }

    /// The zone that its slots are shown in.
    pub fn zone(&self) -> TimeZone {
        match self {
            Self::Cron { zone, .. } => zone.clone(),
            Self::Every { .. } => TimeZone::UTC,
        }
    }

    /// This instant, as if it were a slot: what is due after it is due from then on.
    pub fn moment(&self, at_ms: u64) -> Slot {
        match self {
            Self::Every { .. } => Slot { at_ms, local_s: seconds(at_ms), is_repeated: false },
            Self::Cron { zone, .. } => {
                let at = timestamp(at_ms);
                let local = zone.to_datetime(at);
                Slot { at_ms, local_s: local_seconds(local), is_repeated: is_repeated(zone, at) }
            }
        }
    }

    /// The first slot after this one. `None` at the end of the calendar.
    pub fn next_after(&self, last: &Slot) -> Option<Slot> {
        match self {
            Self::Every { every_ms } => {
                let at_ms = (last.at_ms / every_ms).checked_add(1)?.checked_mul(*every_ms)?;
                Some(Slot { at_ms, local_s: seconds(at_ms), is_repeated: false })
            }
            Self::Cron { expression, zone, daylight: Daylight::Once } => {
                next_once(expression, zone, last)
            }
            Self::Cron { expression, zone, daylight: Daylight::Elapsed } => {
                next_elapsed(expression, zone, last)
            }
        }
    }

    /// The newest slots after `last` and up to this instant, the oldest first, `count` at most.
    pub fn newest(&self, last: &Slot, until_ms: u64, count: usize) -> Vec<Slot> {
        let mut span_ms = 60_000;
        loop {
            let from_ms = until_ms.saturating_sub(span_ms);
            let reaches_back = from_ms <= last.at_ms;
            let mut slot = if reaches_back { *last } else { self.moment(from_ms) };
            let mut found = std::collections::VecDeque::new();
            while let Some(next) = self.next_after(&slot).filter(|next| next.at_ms <= until_ms) {
                slot = next;
                found.push_back(next);
                if found.len() > count {
                    found.pop_front();
                }
            }
            if reaches_back || found.len() == count {
                return found.into();
            }
            span_ms = span_ms.saturating_mul(4);
        }
    }
}

/// The next local time that the expression names, each once.
fn next_once(expression: &CronExpression, zone: &TimeZone, last: &Slot) -> Option<Slot> {
    let mut after = last.local_s;
    if planted!(DaylightHourDoubled) && !last.is_repeated {
        after -= 1;
    }
    loop {
        let local = expression.at_or_after(local_time(after.checked_add(1)?)?)?;
        let local_s = local_seconds(local);
        let slot = |at_ms| Slot { at_ms, local_s, is_repeated: false };
        after = local_s;
        let at = match zone.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset }
            | AmbiguousOffset::Fold { before: offset, .. } => offset.to_timestamp(local).ok()?,
            AmbiguousOffset::Gap { after: offset, .. } => {
                let end = zone.following(offset.to_timestamp(local).ok()?).next()?.timestamp();
                if milliseconds(end) <= last.at_ms {
                    // All the others of this gap have come with the one before.
                    after = local_seconds(offset.to_datetime(end)) - 1;
                }
                end
            }
        };
        if planted!(DaylightHourDoubled)
            && let AmbiguousOffset::Fold { after: offset, .. } =
                zone.to_ambiguous_timestamp(local).offset()
            && local_s == last.local_s
        {
            let again = milliseconds(offset.to_timestamp(local).ok()?);
            return Some(Slot { is_repeated: true, ..slot(again) });
        }
        if milliseconds(at) > last.at_ms {
            return Some(slot(milliseconds(at)));
        }
    }
}

/// The next instant whose local time the expression names.
fn next_elapsed(expression: &CronExpression, zone: &TimeZone, last: &Slot) -> Option<Slot> {
    // From the next whole second on.
    let mut from = Timestamp::from_second(seconds(last.at_ms).checked_add(1)?).ok()?;
    loop {
        let offset = zone.to_offset(from);
        let local = expression.at_or_after(offset.to_datetime(from))?;
        let at = offset.to_timestamp(local).ok()?;
        // What is still to come before the next change of the clock has this offset.
        let change = zone.following(from).next().map(|change| change.timestamp());
        if let Some(change) = change.filter(|change| at >= *change) {
            from = change;
            continue;
        }
        let (local_s, is_repeated) = (local_seconds(local), is_repeated(zone, at));
        // Another version of the zone may have given that very slot another instant.
        if (local_s, is_repeated) == (last.local_s, last.is_repeated) {
            from = at.checked_add(Span::new().seconds(1)).ok()?;
            continue;
        }
        return Some(Slot { at_ms: milliseconds(at), local_s, is_repeated });
    }
}

/// Is this the second time that the zone's clock shows what it shows then?
fn is_repeated(zone: &TimeZone, at: Timestamp) -> bool {
    match zone.to_ambiguous_timestamp(zone.to_datetime(at)).offset() {
        AmbiguousOffset::Fold { after, .. } => zone.to_offset(at) == after,
        _ => false,
    }
}

fn milliseconds(at: Timestamp) -> u64 {
    u64::try_from(at.as_millisecond()).unwrap_or(0)
}

fn seconds(at_ms: u64) -> i64 {
    i64::try_from(at_ms / 1_000).unwrap_or(i64::MAX)
}

fn local_seconds(local: DateTime) -> i64 {
    Offset::UTC.to_timestamp(local).map_or(i64::MAX, Timestamp::as_second)
}

fn local_time(local_s: i64) -> Option<DateTime> {
    Some(Offset::UTC.to_datetime(Timestamp::from_second(local_s).ok()?))
}

#[cfg(test)]
mod tests;
