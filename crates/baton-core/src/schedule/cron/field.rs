//! One field of a cron expression: a list of numbers, names, ranges and steps becomes a set.

use std::fmt;

use super::error::CronProblem;

/// What a field of an expression says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// 0 to 59.
    Second,
    /// 0 to 59.
    Minute,
    /// 0 to 23.
    Hour,
    /// 1 to 31.
    DayOfMonth,
    /// 1 to 12, or January to December by three letters.
    Month,
    /// 0 to 7, where both ends are Sunday, or by three letters.
    DayOfWeek,
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

impl Field {
    /// The smallest and the largest number.
    pub fn bounds(self) -> (u8, u8) {
        match self {
            Self::Second | Self::Minute => (0, 59),
            Self::Hour => (0, 23),
            Self::DayOfMonth => (1, 31),
            Self::Month => (1, 12),
            Self::DayOfWeek => (0, 7),
        }
    }

    fn named(self, word: &str) -> Option<u8> {
        let (names, first): (&[&str], u8) = match self {
            Self::Month => (&MONTHS, 1),
            Self::DayOfWeek => (&WEEKDAYS, 0),
            _ => return None,
        };
        let at = names.iter().position(|name| word.eq_ignore_ascii_case(name))?;
        Some(first + at as u8)
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Second => "second",
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::DayOfMonth => "day of the month",
            Self::Month => "month",
            Self::DayOfWeek => "day of the week",
        })
    }
}

/// The numbers that a field names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Numbers {
    bits: u64,
    pub(super) begins_with_star: bool,
}

impl Numbers {
    pub(super) fn only(number: u8) -> Self {
        Self { bits: 1 << number, begins_with_star: false }
    }

    pub(super) fn has(self, number: u8) -> bool {
        self.bits & (1 << number) != 0
    }

    pub(super) fn first(self) -> Option<u8> {
        self.at_or_after(0)
    }

    pub(super) fn at_or_after(self, number: u8) -> Option<u8> {
        let left = self.bits.checked_shr(u32::from(number)).unwrap_or(0);
        (left != 0).then(|| number + left.trailing_zeros() as u8)
    }

    /// The seventh day of the week is the one before the first.
    pub(super) fn sunday_as_0(self) -> Self {
        Self { bits: (self.bits | u64::from(self.has(7))) & !(1 << 7), ..self }
    }
}

/// Reads a field, which stands at this place of the expression.
pub(super) fn parse_field(field: Field, (at, text): (usize, &str)) -> Result<Numbers, CronProblem> {
    let mut bits = 0;
    let mut start = at;
    for item in text.split(',') {
        bits |= Item { field, at: start, text: item }.numbers()?;
        start += item.len() + 1;
    }
    Ok(Numbers { bits, begins_with_star: text.starts_with('*') })
}

/// One element of the list.
#[derive(Clone, Copy)]
struct Item<'a> {
    field: Field,
    at: usize,
    text: &'a str,
}

impl Item<'_> {
    fn numbers(self) -> Result<u64, CronProblem> {
        let (least, most) = self.field.bounds();
        let (range, step) = match self.text.split_once('/') {
            Some((range, step)) => (range, Some(self.step(step)?)),
            None => (self.text, None),
        };
        let (from, to) = match range.split_once('-') {
            _ if range == "*" => (least, most),
            None => {
                let from = self.number(range)?;
                (from, if step.is_some() { most } else { from })
            }
            Some((from, to)) => {
                let (from, to) = (self.number(from)?, self.number(to)?);
                // A week that ends with Sunday.
                let is_sunday = self.field == Field::DayOfWeek && to == 0 && from > 0;
                (from, if is_sunday { 7 } else { to })
            }
        };
        if from > to {
            return Err(self.problem(|place| CronProblem::Backwards { place, from, to, most }));
        }
        let numbers = (from..=to).step_by(usize::from(step.unwrap_or(1)));
        // `*` of the days of the week names Sunday twice, which a step must not.
        let numbers = numbers.filter(|number| range != "*" || *number < 7 || most != 7);
        Ok(numbers.fold(0, |bits, number| bits | 1 << number))
    }

    fn number(self, word: &str) -> Result<u8, CronProblem> {
        if let Some(number) = self.field.named(word) {
            return Ok(number);
        }
        let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number {
            return Err(self.problem(|place| CronProblem::Word { place, word: word.to_owned() }));
        }
        let (least, most) = self.field.bounds();
        let in_range = word.parse().ok().filter(|number| (least..=most).contains(number));
        in_range.ok_or_else(|| {
            let number = word.to_owned();
            self.problem(|place| CronProblem::OutOfRange { place, number, least, most })
        })
    }

    fn step(self, word: &str) -> Result<u8, CronProblem> {
        let (_, most) = self.field.bounds();
        let step = word.parse().ok().filter(|step| (1..=most).contains(step));
        step.ok_or_else(|| {
            let step = word.to_owned();
            self.problem(|place| CronProblem::Step { place, step, most })
        })
    }

    fn problem(self, problem: impl FnOnce(Place) -> CronProblem) -> CronProblem {
        problem(Place { field: self.field, at: self.at, len: self.text.len() })
    }
}

/// Where in an expression something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// In which field.
    pub field: Field,
    /// At which byte of the expression the wrong item begins.
    pub at: usize,
    /// How long the item is.
    pub len: usize,
}
