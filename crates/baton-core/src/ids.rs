//! Names and numbers that identify things. Each is a type of its own, so that an epoch is never
//! compared with a version or a node id with a namespace.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The longest node id or namespace accepted, in bytes. Stores keep both in indexed columns.
pub const NAME_BYTES_MAX: usize = 128;

/// Why a name was refused. The message names the field, the limit and what was given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidName {
    /// Nothing was given.
    #[error("{field} is empty; give 1 to {NAME_BYTES_MAX} letters, digits, '.', '_', ':' or '-'")]
    Empty {
        /// Which name it was to be.
        field: &'static str,
    },
    /// Too long for the stores' key columns.
    #[error("{field} is {bytes} bytes long; at most {NAME_BYTES_MAX} are allowed")]
    TooLong {
        /// Which name it was to be.
        field: &'static str,
        /// How long it is.
        bytes: usize,
    },
    /// A character that would be ambiguous in a key, a path or a log line.
    #[error("{field} has {found:?} at position {at}; use letters, digits, '.', '_', ':' or '-'")]
    Character {
        /// Which name it was to be.
        field: &'static str,
        /// The character found.
        found: char,
        /// Where, counted from 1.
        at: usize,
    },
}

/// For signatures that take a name or text that becomes one: what is a name already is not refused.
impl From<Infallible> for InvalidName {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

pub(crate) fn check_name(field: &'static str, text: &str) -> Result<(), InvalidName> {
    if text.is_empty() {
        return Err(InvalidName::Empty { field });
    }
    if text.len() > NAME_BYTES_MAX {
        return Err(InvalidName::TooLong { field, bytes: text.len() });
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':' | '-');
    match text.chars().enumerate().find(|&(_, c)| !allowed(c)) {
        Some((at, found)) => Err(InvalidName::Character { field, found, at: at + 1 }),
        None => Ok(()),
    }
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $field:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks and wraps a name.
            pub fn new(text: &str) -> Result<Self, InvalidName> {
                check_name($field, text)?;
                Ok(Self(Arc::from(text)))
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidName;
            fn try_from(text: String) -> Result<Self, InvalidName> {
                Self::new(&text)
            }
        }

        impl TryFrom<&str> for $name {
            type Error = InvalidName;
            fn try_from(text: &str) -> Result<Self, InvalidName> {
                Self::new(text)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0.to_string()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name!(
    /// A node's stable, sortable name. A restarted process may keep it.
    NodeId,
    "node id"
);
name!(
    /// One independent cluster inside a store. Everything is keyed by it.
    Namespace,
    "namespace"
);

impl NodeId {
    /// The name a node gets when none was given: sortable by start, unique by its random part.
    pub fn generated(unix_ms: u64, random: u64) -> Self {
        Self(Arc::from(format!("worker-{unix_ms:013}-{random:016x}").as_str()))
    }
}

/// Fresh for each start of a process, so that a restarted node is never taken for its past self.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BootId(pub u128);

impl fmt::Display for BootId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for BootId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "boot:{:x}", self.0)
    }
}

impl From<BootId> for String {
    fn from(boot: BootId) -> String {
        boot.to_string()
    }
}

impl TryFrom<String> for BootId {
    type Error = std::num::ParseIntError;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        u128::from_str_radix(&text, 16).map(Self)
    }
}

/// The fencing number of a term: one higher for every new term, never reused, never lower.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Epoch(pub u64);

impl Epoch {
    /// Before the first term.
    pub const NONE: Self = Self(0);

    /// How far epochs leap for each lineage that has passed since the last grant: more terms than
    /// can have been granted in one lineage and lost unseen.
    pub const LEAP: u64 = 1_000;

    /// The highest epoch that is ever granted: what a signed 64-bit column holds. Terms and leaps
    /// of thousands of years stay below it, so a higher one is an error of the caller.
    pub const MAX: Self = Self(u64::MAX >> 1);

    /// How far a task's epoch may be ahead of the highest that the store has shown: more than all
    /// leaps of a lineage that counts milliseconds, and far too little to reach [`Epoch::MAX`].
    pub const LEAD_MAX: u64 = 1 << 53;

    /// This epoch, if it can have been granted.
    pub fn grantable(self) -> Result<Self, EpochTooHigh> {
        if self > Self::MAX { Err(EpochTooHigh(self)) } else { Ok(self) }
    }

    /// The epoch after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<Epoch> for u64 {
    fn from(epoch: Epoch) -> u64 {
        epoch.0
    }
}

/// No term has this epoch, and none will: it must not raise a fence, or every later term would be
/// below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "epoch {0} is above {max}, the highest that is ever granted; nothing was written",
    max = Epoch::MAX
)]
pub struct EpochTooHigh(pub Epoch);

/// Names one attempt to write the lease. No two attempts of any process share one, so reading it
/// back tells whether an attempt whose reply was lost took place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Nonce {
    /// The process that made the attempt.
    pub boot: BootId,
    /// Its number among that process's attempts.
    pub attempt: u64,
}

impl fmt::Debug for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}#{}", self.boot.0, self.attempt)
    }
}

/// Which line of history the store's data belongs to. It grows whenever the data may have gone back
/// to an older copy: a replica was promoted, a backup restored, a log truncated after a crash. It
/// must grow even when the change before it was lost: a timeline number, or the time of promotion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Lineage(pub u64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked_and_the_message_says_what_is_wrong() {
        let long = "x".repeat(300);
        let cases = [
            ("", "node id is empty; give 1 to 128"),
            (long.as_str(), "node id is 300 bytes long; at most 128 are allowed"),
            ("a\nb", "node id has '\\n' at position 2"),
            ("a/b", "node id has '/' at position 2"),
            ("nœud", "node id has 'œ' at position 2"),
        ];
        for (given, expected) in cases {
            let message = NodeId::new(given).expect_err("must be refused").to_string();
            assert!(message.starts_with(expected), "{given:?} gave {message:?}");
        }
        assert_eq!(NodeId::new("pod-1.web:a_b").expect("allowed").as_str(), "pod-1.web:a_b");
    }

    #[test]
    fn generated_ids_sort_by_start_time() {
        let earlier = NodeId::generated(999, u64::MAX);
        let later = NodeId::generated(1_734_567_890_123, 0);
        assert!(earlier < later);
        assert_eq!(later.as_str(), "worker-1734567890123-0000000000000000");
    }

    #[test]
    fn a_boot_id_survives_a_round_trip_through_text() {
        let boot = BootId(0x00ab_cdef);
        assert_eq!(BootId::try_from(boot.to_string()), Ok(boot));
    }
}
