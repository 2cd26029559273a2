//! Counters: changes appended from anywhere, made into one value by the leader.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch};
use serde::{Deserialize, Serialize};

use crate::operations;

/// The longest name of a counter, in bytes.
pub const COUNTER_BYTES_MAX: usize = 200;

/// The most changes in one append. A store may refuse more.
pub const APPEND_MAX: usize = 1_000;

/// Why a counter's name was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidCounter {
    /// Nothing was given.
    #[error("the counter's name is empty; give 1 to {COUNTER_BYTES_MAX} bytes")]
    Empty,
    /// Too long for the stores' key columns.
    #[error("the counter's name is {bytes} bytes long; at most {COUNTER_BYTES_MAX} are allowed")]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
    /// A character that would break a line or a terminal.
    #[error(
        "the counter's name has the control character {found:?} at position {at}; leave it out"
    )]
    Control {
        /// The character found.
        found: char,
        /// Where, counted from 1.
        at: usize,
    },
}

/// The name of a counter: any text without control characters. Names differ by every byte.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CounterName(Arc<str>);

impl CounterName {
    /// Checks and wraps a name.
    pub fn new(text: &str) -> Result<Self, InvalidCounter> {
        if text.is_empty() {
            return Err(InvalidCounter::Empty);
        }
        if text.len() > COUNTER_BYTES_MAX {
            return Err(InvalidCounter::TooLong { bytes: text.len() });
        }
        match text.chars().enumerate().find(|(_, c)| c.is_control()) {
            Some((at, found)) => Err(InvalidCounter::Control { found, at: at + 1 }),
            None => Ok(Self(Arc::from(text))),
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for CounterName {
    type Error = InvalidCounter;
    fn try_from(text: String) -> Result<Self, InvalidCounter> {
        Self::new(&text)
    }
}

impl From<CounterName> for String {
    fn from(name: CounterName) -> String {
        name.0.to_string()
    }
}

impl fmt::Display for CounterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for CounterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

/// What is done to a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// So much more, or less if it is negative.
    Add(i64),
    /// It begins anew from here.
    Set(i64),
}

/// One change of one counter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Delta {
    /// Which counter.
    pub counter: CounterName,
    /// What is done to it.
    pub change: Change,
}

/// Where a counter stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CounterValue {
    /// The value; the nearest one that 64 bits hold if it overflowed.
    pub value: i64,
    /// Did it ever leave the range of 64 bits since it was last set? Then the value is wrong.
    pub overflowed: bool,
}

impl CounterValue {
    /// After this change.
    #[must_use]
    pub fn after(self, change: Change) -> Self {
        match change {
            Change::Set(value) => Self { value, overflowed: false },
            Change::Add(more) => Self {
                value: self.value.saturating_add(more),
                overflowed: self.overflowed || self.value.checked_add(more).is_none(),
            },
        }
    }
}

/// A counter as it stood at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// Which counter.
    pub counter: CounterName,
    /// What the leader has consolidated.
    pub consolidated: CounterValue,
    /// The same with everything that is pending.
    pub current: CounterValue,
}

operations! {
    /// What can be asked about counters.
    pub enum CounterCall;

    /// The answer to a [`CounterCall`].
    pub enum CounterAnswer {
        /// The counters, each once.
        Readings(Vec<Reading>),
        /// A later epoch exists: the caller's term is over, and nothing was changed.
        Fenced,
    }

    families {}

    reads {
        /// Reads these counters at one moment. What was never counted is left out.
        Read "read-counters" {
            /// Which.
            counters: Vec<CounterName>,
        } needs Counters or CounterAnswer::Readings(Vec::new()),
        /// Reads counters in the order of their names, byte by byte, at one moment.
        List "list-counters" {
            /// Those that begin with this.
            prefix: String,
            /// Those after this one.
            after: Option<CounterName>,
            /// The most counters to read.
            limit: u32,
        } needs Counters or CounterAnswer::Readings(Vec::new()),
    }

    writes {
        /// Appends changes, to be applied later, in this order and after all that came before.
        Append "append" {
            /// The writer: each handle draws a new one.
            writer: BootId,
            /// The number of this append among the writer's, from 1 and always higher. A number at
            /// or below the writer's last changes nothing: so an append without an answer is
            /// repeated.
            number: u64,
            /// At most [`APPEND_MAX`].
            deltas: Vec<Delta>,
        } needs Counters -> Appended,
        /// Applies what is pending, the oldest first, and takes it off the pending in the same
        /// step.
        Consolidate "consolidate" {
            /// Refused once a later epoch exists.
            fence: Epoch,
            /// The most changes to apply.
            limit: u32,
        } fenced by fence needs Counters -> Consolidated {
            /// How many changes.
            applied: u32,
            /// Is anything left?
            more: bool,
        },
        /// Forgets the last numbers of writers that have appended nothing for this long.
        Collect "collect" {
            /// Refused once a later epoch exists.
            fence: Epoch,
            /// Longer than any writer goes on repeating an append.
            silent_for: Duration,
            /// The most writers to forget.
            limit: u32,
        } fenced by fence needs Counters -> /** How many writers were forgotten. */ Collected(u32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked_and_the_message_says_what_is_wrong() {
        let long = "x".repeat(201);
        for (given, expected) in [
            ("", "the counter's name is empty"),
            (long.as_str(), "the counter's name is 201 bytes long; at most 200 are allowed"),
            ("a\u{7}b", "the counter's name has the control character '\\u{7}' at position 2"),
        ] {
            let message = CounterName::new(given).expect_err("must be refused").to_string();
            assert!(message.starts_with(expected), "{given:?} gave {message:?}");
        }
        let widest = "ä".repeat(100);
        assert_eq!(CounterName::new(&widest).expect("200 bytes").as_str(), widest);
    }

    #[test]
    fn what_does_not_fit_is_marked_until_the_counter_is_set() {
        let full = CounterValue::default().after(Change::Set(i64::MAX));
        assert_eq!(full, CounterValue { value: i64::MAX, overflowed: false });
        let over = full.after(Change::Add(1)).after(Change::Add(-7));
        assert_eq!(over, CounterValue { value: i64::MAX - 7, overflowed: true });
        assert_eq!(over.after(Change::Set(3)), CounterValue { value: 3, overflowed: false });
        let under = CounterValue::default().after(Change::Set(i64::MIN)).after(Change::Add(-1));
        assert_eq!(under, CounterValue { value: i64::MIN, overflowed: true });
    }
}
