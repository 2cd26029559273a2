//! Why an expression was refused: one line that names the field and shows where.

use std::fmt;

use super::field::Place;

/// An expression that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidCron {
    /// The expression.
    pub text: String,
    /// What is wrong with it.
    pub problem: CronProblem,
}

/// What is wrong with an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CronProblem {
    /// Nothing was given.
    Empty,
    /// It begins with `@`, and is none of those that are known.
    Shorthand,
    /// Neither five fields nor six.
    Fields {
        /// How many there are.
        count: usize,
    },
    /// A number outside of the field's.
    OutOfRange {
        /// Where.
        place: Place,
        /// The number, as it was written.
        number: String,
        /// The smallest allowed.
        least: u8,
        /// The largest allowed.
        most: u8,
    },
    /// Neither a number nor a name of the field.
    Word {
        /// Where.
        place: Place,
        /// The word.
        word: String,
    },
    /// A step of 0, or one that is no number or larger than the field's largest.
    Step {
        /// Where.
        place: Place,
        /// The step, as it was written.
        step: String,
        /// The largest allowed.
        most: u8,
    },
    /// A range whose end is before its start.
    Backwards {
        /// Where.
        place: Place,
        /// Its start.
        from: u8,
        /// Its end.
        to: u8,
        /// The largest allowed.
        most: u8,
    },
    /// No month has such a day.
    Never {
        /// At which byte of the expression the days of the month begin.
        at: usize,
        /// How long that field is.
        len: usize,
    },
}

impl CronProblem {
    /// The part of the expression that is wrong: where it begins, and its length.
    fn span(&self) -> Option<(usize, usize)> {
        match self {
            Self::Empty | Self::Shorthand | Self::Fields { .. } => None,
            Self::OutOfRange { place, .. }
            | Self::Word { place, .. }
            | Self::Step { place, .. }
            | Self::Backwards { place, .. } => Some((place.at, place.len)),
            Self::Never { at, len } => Some((*at, *len)),
        }
    }
}

impl fmt::Display for InvalidCron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cron expression \"{}\": {}", self.text, self.problem)?;
        match self.problem.span() {
            // A shorthand is never wrong in part, so the place is one of the text.
            Some((at, len)) if self.text.is_char_boundary(at) && at + len <= self.text.len() => {
                let (before, rest) = self.text.split_at(at);
                let (wrong, after) = rest.split_at(len);
                write!(f, " (here: {before}>>{wrong}<<{after})")
            }
            _ => Ok(()),
        }
    }
}

impl std::error::Error for InvalidCron {}

impl fmt::Display for CronProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str(
                "it is empty; write minute, hour, day of the month, month, day of the week",
            ),
            Self::Shorthand => f.write_str(
                "it is none of @yearly, @monthly, @weekly, @daily, @hourly and @every with a time",
            ),
            Self::Fields { count } => write!(
                f,
                "it has {count} {}; write 5 (minute, hour, day of the month, month, day of the \
                 week), or 6 with the second first",
                if *count == 1 { "field" } else { "fields" }
            ),
            Self::OutOfRange { place, number, least, most } => {
                write!(f, "{} {number} is not within {least} to {most}", place.field)
            }
            Self::Word { place, word } if word.is_empty() => {
                write!(f, "the {} has a number missing", place.field)
            }
            Self::Word { place, word } => {
                write!(f, "the {} has {word:?}, which is neither a number nor a name", place.field)
            }
            Self::Step { place, step, most } => {
                write!(f, "the {} has the step {step:?}; write 1 to {most}", place.field)
            }
            Self::Backwards { place, from, to, most } => write!(
                f,
                "the {} runs backwards from {from} to {to}; write {from}-{most},{}-{to}",
                place.field,
                place.field.bounds().0
            ),
            Self::Never { .. } => {
                f.write_str("it never comes: no month that it names has such a day of the month")
            }
        }
    }
}
