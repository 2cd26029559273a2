//! How a crash is noticed where nothing proves it: late, and why.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::settings::show_span;
use crate::time::whole_ms;

/// The crash of a node will be noticed only after a while: no other node can prove its death.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LateNotice {
    /// After how long at most.
    pub after_ms: u64,
    /// What is known of the node's lifeline.
    pub because: String,
    /// Which setting changes that.
    pub remedy: String,
}

impl LateNotice {
    /// It will be noticed this long after the crash, for this reason, unless the remedy is applied.
    pub fn new(after: Duration, because: String, remedy: &str) -> Self {
        Self { after_ms: whole_ms(after), because, remedy: remedy.to_owned() }
    }

    /// In words, of the node that is called so.
    pub fn of(&self, node: impl fmt::Display) -> String {
        let Self { after_ms, because, remedy } = self;
        let after = show_span(Duration::from_millis(*after_ms));
        format!("a crash of {node} will be noticed after {after} here, because {because}; {remedy}")
    }
}

impl fmt::Display for LateNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.of("this node"))
    }
}
