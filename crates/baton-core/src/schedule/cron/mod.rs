//! Cron expressions: which local times they name. Zones and instants are the [recurrence]'s.
//!
//! ```text
//!   "*/10 9-17 * * mon-fri" ──► fields, one set of numbers each ──► next local time at or after
//!      5 fields, 6 with seconds, or @yearly … @hourly
//! ```
//!
//! As in Vixie cron, a day has to be in both sets of days, those of the month and those of the
//! week, unless neither of the two begins with `*`: then one of them suffices.
//!
//! [recurrence]: super::recurrence

mod error;
mod field;

use std::fmt;

use jiff::civil::{Date, DateTime, Time};

pub use error::{CronProblem, InvalidCron};
pub use field::Field;

use field::{Numbers, parse_field};

/// Names for expressions that are used often.
const SHORTHANDS: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

/// The most days of each month, from January.
const DAYS_MAX: [u8; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// A cron expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CronExpression {
    text: String,
    seconds: Numbers,
    minutes: Numbers,
    hours: Numbers,
    days: Numbers,
    months: Numbers,
    weekdays: Numbers,
}

impl CronExpression {
    /// Reads an expression of five fields, of six if it begins with seconds, or a shorthand.
    pub fn parse(text: &str) -> Result<Self, InvalidCron> {
        let text = text.trim();
        let invalid = |problem| InvalidCron { text: text.to_owned(), problem };
        let expanded = match text.strip_prefix('@') {
            None => text,
            Some(_) => {
                let found = SHORTHANDS.iter().find(|(name, _)| text.eq_ignore_ascii_case(name));
                found.map(|(_, fields)| *fields).ok_or_else(|| invalid(CronProblem::Shorthand))?
            }
        };
        let words: Vec<(usize, &str)> = words(expanded).collect();
        let (seconds, rest) = match words.as_slice() {
            [] => return Err(invalid(CronProblem::Empty)),
            rest @ [_, _, _, _, _] => (Numbers::only(0), rest),
            [seconds, rest @ ..] if rest.len() == 5 => {
                (parse_field(Field::Second, *seconds).map_err(invalid)?, rest)
            }
            other => return Err(invalid(CronProblem::Fields { count: other.len() })),
        };
        let parse = |field, at: usize| parse_field(field, rest[at]).map_err(invalid);
        let expression = Self {
            text: text.to_owned(),
            seconds,
            minutes: parse(Field::Minute, 0)?,
            hours: parse(Field::Hour, 1)?,
            days: parse(Field::DayOfMonth, 2)?,
            months: parse(Field::Month, 3)?,
            weekdays: parse(Field::DayOfWeek, 4)?.sunday_as_0(),
        };
        match expression.is_ever_due() {
            true => Ok(expression),
            false => Err(invalid(CronProblem::Never { at: rest[2].0, len: rest[2].1.len() })),
        }
    }

    /// As it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Is it meant to come round all day long, such as every hour or every ten minutes?
    pub fn is_every_hour(&self) -> bool {
        self.hours.begins_with_star
    }

    /// The first local time at or after this one that the expression names. Always there, except in
    /// the last years before 10,000.
    pub fn at_or_after(&self, from: DateTime) -> Option<DateTime> {
        let date = from.date();
        if self.has_day(date)
            && let Some(time) = self.time_at_or_after(from.time())
        {
            return Some(date.to_datetime(time));
        }
        let mut date = date.tomorrow().ok()?;
        while !self.has_day(date) {
            date = match self.months.has(date.month() as u8) {
                true => date.tomorrow().ok()?,
                false => date.last_of_month().tomorrow().ok()?,
            };
        }
        let first = self.time_at_or_after(Time::midnight());
        first.map(|time| date.to_datetime(time))
    }

    fn has_day(&self, date: Date) -> bool {
        let weekday = date.weekday().to_sunday_zero_offset() as u8;
        let (day, weekday) = (self.days.has(date.day() as u8), self.weekdays.has(weekday));
        let either = !self.days.begins_with_star && !self.weekdays.begins_with_star;
        let is_named = if either { day || weekday } else { day && weekday };
        is_named && self.months.has(date.month() as u8)
    }

    fn time_at_or_after(&self, from: Time) -> Option<Time> {
        let (hour, minute, second) = (from.hour() as u8, from.minute() as u8, from.second() as u8);
        let time = |hour: u8, minute: u8, second: u8| {
            Time::constant(hour as i8, minute as i8, second as i8, 0)
        };
        let (first_minute, first_second) = (self.minutes.first()?, self.seconds.first()?);
        if self.hours.has(hour) {
            if self.minutes.has(minute)
                && let Some(second) = self.seconds.at_or_after(second)
            {
                return Some(time(hour, minute, second));
            }
            if let Some(minute) = self.minutes.at_or_after(minute + 1) {
                return Some(time(hour, minute, first_second));
            }
        }
        let hour = self.hours.at_or_after(hour + 1)?;
        Some(time(hour, first_minute, first_second))
    }

    /// Has some month a day of that number? Only days of the month can miss every month: each date,
    /// also a 29 February, falls on every day of the week in some year.
    fn is_ever_due(&self) -> bool {
        let either = !self.days.begins_with_star && !self.weekdays.begins_with_star;
        let least = self.days.first().unwrap_or_default();
        let fits = |(month, days): (u8, &u8)| self.months.has(month) && least <= *days;
        either || (1..).zip(&DAYS_MAX).any(fits)
    }
}

impl fmt::Display for CronExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The words of a text, each with where it begins.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let start = text.as_ptr() as usize;
    text.split_ascii_whitespace().map(move |word| (word.as_ptr() as usize - start, word))
}

#[cfg(test)]
mod tests;
