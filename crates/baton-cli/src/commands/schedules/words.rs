//! What a schedule is, in words.

use baton::plugins::schedules::{Daylight, Definition, Misfire, OnCrash, Overlap};
use baton_core::schedule::Recurrence;
use jiff::tz::TimeZone;

use crate::output::times::span_ms;

/// The expression and its zone: `0 2 * * * in Europe/Berlin`.
pub fn times(definition: &Definition) -> String {
    let Definition { cron, tz, .. } = definition;
    if is_span(cron) { cron.clone() } else { format!("{cron} in {tz}") }
}

/// The same for a table: of a zone other than UTC only the last part of its name.
pub fn times_in_short(definition: &Definition) -> String {
    let Definition { cron, tz, .. } = definition;
    let place = tz.rsplit('/').next().unwrap_or(tz);
    if tz == "UTC" || is_span(cron) { cron.clone() } else { format!("{cron} {place}") }
}

fn is_span(cron: &str) -> bool {
    cron.trim_start().starts_with("@every")
}

/// What a change of the clock does, if the zone has any and the times depend on it.
pub fn clock_changes(recurrence: &Recurrence) -> Option<&'static str> {
    let Recurrence::Cron { daylight, zone, .. } = recurrence else { return None };
    if *zone == TimeZone::UTC {
        return None;
    }
    Some(match daylight {
        Daylight::Once => {
            "each local time comes once: one that the clock skips comes right after the gap, of \
             one that it shows twice the first counts"
        }
        Daylight::Elapsed => {
            "slots go by elapsed time: a local time that the clock skips does not come, one that \
             it shows twice comes twice"
        }
    })
}

pub fn misfire(misfire: Misfire) -> String {
    match misfire {
        Misfire::Skip => "slots that were missed are not run".to_owned(),
        Misfire::Once => "one run makes up for all slots that were missed".to_owned(),
        Misfire::CatchUp { cap, age_ms } => format!(
            "slots that were missed are run one after another, at most {cap} and none older \
             than {}",
            span_ms(age_ms)
        ),
    }
}

pub fn grace(grace_ms: u64) -> String {
    format!("a slot that starts later than {} counts as missed", span_ms(grace_ms))
}

pub fn overlap(overlap: Overlap) -> &'static str {
    match overlap {
        Overlap::Allow => "a slot that is due during a run starts beside it",
        Overlap::Skip => "a slot that is due during a run is not run",
        Overlap::Queue => "a slot that is due during a run waits for its end",
        Overlap::Replace => "a slot that is due during a run stops that run and starts instead",
    }
}

pub fn on_crash(on_crash: OnCrash) -> &'static str {
    match on_crash {
        OnCrash::Retry => "a run that was cut off starts again under the next leader",
        OnCrash::Skip => "a run that was cut off is abandoned",
    }
}

pub fn jitter(jitter_ms: u64, offset_ms: u64) -> String {
    match jitter_ms {
        0 => "slots start at their time".to_owned(),
        most => format!(
            "slots start up to {} later; those of this schedule {}",
            span_ms(most),
            span_ms(offset_ms)
        ),
    }
}

pub fn timeout(timeout_ms: u64) -> String {
    match timeout_ms {
        0 => "an attempt has no time limit".to_owned(),
        most => format!("an attempt is stopped after {}", span_ms(most)),
    }
}

pub fn retries(retries: u32) -> String {
    match retries {
        0 => "a run that failed is not tried again".to_owned(),
        1 => "a run that failed is tried again once".to_owned(),
        most => format!("a run that failed is tried again up to {most} times"),
    }
}
