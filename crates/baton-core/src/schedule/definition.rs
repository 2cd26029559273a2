//! What a schedule is: its name, when it is due, and what happens when things go wrong.

use std::time::Duration;

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::on_crash::OnCrash;
use super::recurrence::{Daylight, InvalidTime, Recurrence};
use super::slot::Slot;
use crate::hash;
use crate::settings::show_span;

/// The longest name of a schedule, in bytes.
pub const NAME_BYTES_MAX: usize = 100;

/// The most slots of one schedule that wait to be run.
pub const WAITING_MAX: usize = 100;

/// The largest number of retries.
pub const RETRIES_MAX: u32 = 100;

/// The longest expression, and the longest name of a time zone, in bytes.
const TEXT_BYTES_MAX: usize = 200;

/// The longest jitter.
const JITTER_MAX: Duration = Duration::from_secs(86_400);

/// What becomes of slots that were missed, because no leader was there or none could act.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "policy")]
pub enum Misfire {
    /// They are not run.
    Skip,
    /// One run makes up for all of them: that of the newest, unless another slot is on time.
    #[default]
    Once,
    /// Each of them is run, the oldest first.
    CatchUp {
        /// The most slots to run, the newest of those missed.
        cap: u32,
        /// Slots older than this are not run.
        age_ms: u64,
    },
}

/// What happens when a slot is due while a run of the schedule is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overlap {
    /// Both run at the same time.
    Allow,
    /// The slot is not run.
    #[default]
    Skip,
    /// The slot waits for the run to end.
    Queue,
    /// The run is stopped, and the newest slot runs instead.
    Replace,
}

/// What a schedule is. It is kept in the store, so that everyone can tell when the schedule is due;
/// what it runs is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// Its name among the schedules of the namespace.
    pub name: String,
    /// A cron expression, or `@every` with a length of time.
    pub cron: String,
    /// The name of the time zone in which the expression is read.
    #[serde(default = "utc", skip_serializing_if = "is_utc")]
    pub tz: String,
    /// What a change of the clock does, unless the expression decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daylight: Option<Daylight>,
    /// What becomes of missed slots.
    #[serde(default)]
    pub misfire: Misfire,
    /// How late a slot may start without counting as missed, in milliseconds.
    pub grace_ms: u64,
    /// What happens when a slot is due during a run.
    #[serde(default)]
    pub overlap: Overlap,
    /// What becomes of a run that was cut off.
    #[serde(default)]
    pub on_crash: OnCrash,
    /// Slots start up to this much later, by an amount that the name determines, so that schedules
    /// of the same time do not all start at once. In milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub jitter_ms: u64,
    /// How long one attempt may take, in milliseconds; 0 for no limit.
    pub timeout_ms: u64,
    /// How many times a run that failed or took too long is tried again.
    #[serde(default, skip_serializing_if = "is_zero_count")]
    pub retries: u32,
}

fn utc() -> String {
    "UTC".to_owned()
}

fn is_utc(zone: &str) -> bool {
    zone == "UTC"
}

fn is_zero(span: &u64) -> bool {
    *span == 0
}

fn is_zero_count(count: &u32) -> bool {
    *count == 0
}

/// Why a definition was refused: the field, what was given, and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidSchedule {
    /// The name.
    #[error("{problem}")]
    Name {
        /// What is wrong with it.
        problem: String,
    },
    /// The expression.
    #[error("schedule {name}: {problem}")]
    Time {
        /// Which schedule.
        name: String,
        /// What is wrong with the expression.
        problem: InvalidTime,
    },
    /// The time zone.
    #[error(
        "schedule {name}: tz {zone:?} is not a known time zone{nearest}; write a name such as \
        Europe/Berlin or UTC"
    )]
    Zone {
        /// Which schedule.
        name: String,
        /// What was given.
        zone: String,
        /// A zone whose name is much alike, as a question.
        nearest: String,
    },
    /// A number or a length of time.
    #[error("schedule {name}: {field} is {given}; it must be {least} to {most}")]
    OutOfRange {
        /// Which schedule.
        name: String,
        /// The field.
        field: &'static str,
        /// What was given.
        given: String,
        /// The smallest that is allowed.
        least: String,
        /// The largest.
        most: String,
    },
    /// Two schedules have the same name.
    #[error("two schedules are named {name}: each name can be used once in a namespace")]
    Twice {
        /// The name.
        name: String,
    },
    /// There are too many.
    #[error("{count} schedules are declared; a namespace can have {most}")]
    TooMany {
        /// How many there are.
        count: usize,
        /// How many there may be.
        most: usize,
    },
}

impl Definition {
    /// A schedule of this name with the default policies, in UTC: missed slots are made up for by
    /// one run, a slot that is due during a run is skipped, a run that was cut off runs again.
    pub fn new(name: impl Into<String>, cron: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            cron: cron.into(),
            tz: utc(),
            daylight: None,
            misfire: Misfire::default(),
            grace_ms: 60_000,
            overlap: Overlap::default(),
            on_crash: OnCrash::default(),
            jitter_ms: 0,
            timeout_ms: 300_000,
            retries: 0,
        }
    }

    /// Checks it and makes it ready to be used. `zone` finds a time zone by its name.
    pub fn resolve(
        self,
        zone: &dyn Fn(&str) -> Result<TimeZone, UnknownZone>,
    ) -> Result<Schedule, InvalidSchedule> {
        check_name(&self.name)?;
        self.check_ranges()?;
        let found = zone(&self.tz).map_err(|UnknownZone { nearest }| InvalidSchedule::Zone {
            name: self.name.clone(),
            zone: self.tz.clone(),
            nearest: nearest.map_or_else(String::new, |it| format!(", did you mean {it}?")),
        })?;
        let recurrence = Recurrence::parse(&self.cron, found, self.daylight)
            .map_err(|problem| InvalidSchedule::Time { name: self.name.clone(), problem })?;
        Ok(Schedule { offset_ms: jitter(&self), definition: self, recurrence })
    }

    fn check_ranges(&self) -> Result<(), InvalidSchedule> {
        let most_ms = JITTER_MAX.as_millis() as u64;
        let shown = |ms| show_span(Duration::from_millis(ms)).to_string();
        let refuse = |field, given, least: &str, most| {
            let (name, least) = (self.name.clone(), least.to_owned());
            Err(InvalidSchedule::OutOfRange { name, field, given, least, most })
        };
        if self.jitter_ms > most_ms {
            return refuse("jitter", shown(self.jitter_ms), "0s", shown(most_ms));
        }
        if self.retries > RETRIES_MAX {
            let (given, most) = (self.retries.to_string(), RETRIES_MAX.to_string());
            return refuse("retries", given, "0", most);
        }
        for (field, text) in [("cron", &self.cron), ("tz", &self.tz)] {
            if text.len() > TEXT_BYTES_MAX {
                let (given, most) = (text.len(), TEXT_BYTES_MAX);
                return refuse(field, format!("{given} bytes long"), "1", format!("{most} bytes"));
            }
        }
        if let Misfire::CatchUp { cap, .. } = self.misfire
            && !(1..=WAITING_MAX as u32).contains(&cap)
        {
            let (given, most) = (cap.to_string(), WAITING_MAX.to_string());
            return refuse("the cap of misfire catch-up", given, "1", most);
        }
        Ok(())
    }
}

/// A name of a time zone that is not known, and one that is much like it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownZone {
    /// The one that is much alike, if there is one.
    pub nearest: Option<String>,
}

fn check_name(name: &str) -> Result<(), InvalidSchedule> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':' | '-');
    let problem = match name.chars().position(|c| !allowed(c)) {
        _ if name.is_empty() => {
            format!(
                "schedule name is empty; give 1 to {NAME_BYTES_MAX} letters, digits, '.', '_', \
                 ':' or '-'"
            )
        }
        _ if name.len() > NAME_BYTES_MAX => format!(
            "schedule name is {} bytes long; at most {NAME_BYTES_MAX} are allowed",
            name.len()
        ),
        Some(at) => format!(
            "schedule name {name:?} has a character that is not allowed, at position {}; \
             allowed are letters, digits, '.', '_', ':' and '-'",
            at + 1
        ),
        None => return Ok(()),
    };
    Err(InvalidSchedule::Name { problem })
}

/// How much later than its slots a schedule starts: the same for all of its slots, so that they
/// stay in order, and on every node.
fn jitter(definition: &Definition) -> u64 {
    if definition.jitter_ms == 0 {
        return 0;
    }
    (hash::text(&definition.name) >> 16) % (definition.jitter_ms + 1)
}

/// A definition that was checked, with its times.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// What was defined.
    pub definition: Definition,
    /// When it is due.
    pub recurrence: Recurrence,
    /// How much later than its slots it starts, because of its jitter.
    offset_ms: u64,
}

impl Schedule {
    /// When a slot starts, in Unix milliseconds.
    pub fn starts_at(&self, slot: Slot) -> u64 {
        slot.at_ms.saturating_add(self.offset_ms)
    }

    /// The instant whose slots start at `now_ms`.
    pub(super) fn slots_until(&self, now_ms: u64) -> u64 {
        now_ms.saturating_sub(self.offset_ms)
    }

    /// The first slot after this one.
    pub fn next_after(&self, last: &Slot) -> Option<Slot> {
        self.recurrence.next_after(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(name: &str) -> Result<TimeZone, UnknownZone> {
        match name {
            "UTC" => Ok(TimeZone::UTC),
            _ => Err(UnknownZone { nearest: Some("UTC".to_owned()) }),
        }
    }

    fn refused(change: impl FnOnce(&mut Definition)) -> String {
        let mut definition = Definition::new("report", "0 2 * * *");
        change(&mut definition);
        definition.resolve(&zone).expect_err("it is wrong").to_string()
    }

    #[test]
    fn what_is_refused_names_the_schedule_and_the_field() {
        let cases = [
            (refused(|it| it.name.clear()), "schedule name is empty; "),
            (
                refused(|it| it.name = "x".repeat(101)),
                "schedule name is 101 bytes long; at most 100",
            ),
            (
                refused(|it| it.name = "a b".into()),
                "schedule name \"a b\" has a character that is \
                not allowed, at position 2",
            ),
            (
                refused(|it| it.tz = "UCT1".into()),
                "schedule report: tz \"UCT1\" is not a known time \
                zone, did you mean UTC?; ",
            ),
            (
                refused(|it| it.cron = "0 0 30 2 *".into()),
                "schedule report: cron expression \
                \"0 0 30 2 *\": it never comes",
            ),
            (
                refused(|it| it.retries = 101),
                "schedule report: retries is 101; it must be 0 to 100",
            ),
            (refused(|it| it.jitter_ms = 86_400_001), "schedule report: jitter is "),
            (
                refused(|it| it.misfire = Misfire::CatchUp { cap: 0, age_ms: 1 }),
                "schedule report: \
                the cap of misfire catch-up is 0; it must be 1 to 100",
            ),
        ];
        for (message, expected) in cases {
            assert!(message.starts_with(expected), "{message}");
        }
    }

    #[test]
    fn jitter_is_the_same_for_all_slots_and_differs_between_names() {
        let offsets: Vec<u64> = (0..50)
            .map(|number| {
                let mut definition = Definition::new(format!("report-{number}"), "* * * * *");
                definition.jitter_ms = 10_000;
                let schedule = definition.resolve(&zone).expect("it is right");
                let slot = |at_ms| Slot { at_ms, ..Slot::default() };
                assert_eq!(schedule.starts_at(slot(5)) - 5, schedule.starts_at(slot(9)) - 9);
                schedule.starts_at(slot(0))
            })
            .collect();
        assert!(offsets.iter().all(|offset| *offset <= 10_000));
        let (low, high) = (offsets.iter().min(), offsets.iter().max());
        assert!(low < Some(&2_000) && high > Some(&8_000), "{offsets:?}");
    }
}
