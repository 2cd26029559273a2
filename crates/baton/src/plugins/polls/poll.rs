//! What is to be polled, and what can be wrong with it.

use std::time::Duration;

use baton_core::settings::show_span;
use baton_store::StoreError;

use super::state::IllegalStep;

const NAME_BYTES_MAX: usize = 64;

/// The longest payload, in bytes: all polls of a namespace share one document.
const PAYLOAD_BYTES_MAX: usize = 1_024;

/// A poll: a question that some node answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Poll {
    /// Its name: nodes that have a handler of this name can run it.
    pub name: String,
    /// How long one attempt may take.
    pub timeout: Duration,
    /// How often it is tried again after a failure or a timeout.
    pub retries: u32,
    /// What the handler is given.
    pub payload: String,
    /// How long after it was enqueued another of the same name is taken for it; zero for never.
    pub unique_for: Duration,
}

impl Poll {
    /// A poll of this name: 30 s for an attempt, two retries, no payload, no uniqueness window.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            timeout: Duration::from_secs(30),
            retries: 2,
            payload: String::new(),
            unique_for: Duration::ZERO,
        }
    }

    pub(super) fn check(&self) -> Result<(), PollError> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':' | '-');
        let name = self.name.len();
        if !(1..=NAME_BYTES_MAX).contains(&name) || !self.name.chars().all(allowed) {
            return Err(PollError::Name { name: self.name.clone() });
        }
        if self.timeout < Duration::from_millis(1) {
            return Err(PollError::Timeout { name: self.name.clone() });
        }
        if self.payload.len() > PAYLOAD_BYTES_MAX {
            let (name, bytes) = (self.name.clone(), self.payload.len());
            return Err(PollError::Payload { name, bytes });
        }
        Ok(())
    }
}

/// Why a poll was not enqueued, cancelled or run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PollError {
    /// Choose another name.
    #[error(
        "poll name {name:?} is refused; \
         give 1 to {NAME_BYTES_MAX} letters, digits, '.', '_', ':' or '-'"
    )]
    Name {
        /// What was given.
        name: String,
    },
    /// Give it more time.
    #[error("timeout of poll {name} is less than 1ms; give it the time that an attempt may take")]
    Timeout {
        /// Which poll.
        name: String,
    },
    /// Poll less often.
    #[error("poll {name} is due every {}, less than 100ms; poll less often", show_span(*every))]
    TooOften {
        /// Which poll.
        name: String,
        /// How often it was to be.
        every: Duration,
    },
    /// Keep the data elsewhere, and hand on where.
    #[error("payload of poll {name} has {bytes} bytes; at most {PAYLOAD_BYTES_MAX} are allowed")]
    Payload {
        /// Which poll.
        name: String,
        /// How many there are.
        bytes: usize,
    },
    /// Wait until some are done, or cancel some.
    #[error("{what} {count}; at most {limit} are kept: wait until some are done")]
    Full {
        /// What there is too much of.
        what: &'static str,
        /// How much there would be.
        count: usize,
        /// How much there may be.
        limit: usize,
    },
    /// It does not exist, or was done long ago and has been forgotten.
    #[error("there is no poll {id}")]
    Unknown {
        /// Which.
        id: u64,
    },
    /// It is too late for that, or too early.
    #[error(transparent)]
    Illegal(#[from] IllegalStep),
    /// The attempt is over: the leader gave it up.
    #[error("attempt {attempt} of poll {id} is over")]
    AttemptOver {
        /// Which poll.
        id: u64,
        /// Which attempt.
        attempt: u32,
    },
    /// The term that was to write is over.
    #[error("the term is over: a later epoch exists")]
    TermOver,
    /// Others wrote again and again; try again.
    #[error("the polls were changed {0} times by other processes; try again")]
    Contended(u32),
    /// A person must look: the document is not of this version.
    #[error("document baton:polls cannot be read as format 1 ({0}); it was left as it is")]
    Unreadable(String),
    /// The store said so.
    #[error(transparent)]
    Store(#[from] StoreError),
}
