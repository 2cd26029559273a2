//! The durable term history: which node led, from when to when, and why it ended.
//!
//! The store writes it in the same step that begins or ends a term, stamped by its own wall clock.
//! The stamps are for people; nothing decides by them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::lease::ReleaseReason;
use crate::ids::{BootId, Epoch, NodeId};

/// How a term ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TermEnd {
    /// The holder gave the lease up.
    Released(ReleaseReason),
    /// The lease ran out and another process took it.
    Expired,
    /// The holder's process was proved dead and another process took over.
    ProvedDead,
}

impl fmt::Display for TermEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Expired => "expired",
            Self::ProvedDead => "proved dead",
            Self::Released(reason) => match reason {
                ReleaseReason::Shutdown => "shut down",
                ReleaseReason::Resigned => "resigned",
                ReleaseReason::Transferred => "transferred",
                ReleaseReason::Preempted => "preempted",
                ReleaseReason::PluginsFailed => "plugins failed",
                ReleaseReason::NotEligible => "not eligible",
                ReleaseReason::WindowClosed => "window closed",
                ReleaseReason::Superseded => "superseded",
                ReleaseReason::FencedOff => "fenced off",
                ReleaseReason::GivenBack => "given back",
            },
        })
    }
}

/// One term.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TermRecord {
    /// Its epoch.
    pub epoch: Epoch,
    /// Who led.
    pub node: NodeId,
    /// Which process.
    pub boot: BootId,
    /// When it began, in Unix milliseconds.
    pub began_ms: u64,
    /// When its holder could last act, in Unix milliseconds, and how it ended; `None` until the
    /// lease is released or claimed by another process. That is the release or the claim, or the
    /// end of the lease if that came first.
    pub ended: Option<(u64, TermEnd)>,
    /// How long no node could act before it, in milliseconds; `None` for the first term.
    pub gap_ms: Option<u64>,
    /// How long that can have been at most, in milliseconds: from the last renewal of the term
    /// before, after which its holder may have been paused or dead. `None` if that term was
    /// released, as its end is known then, and where an earlier version wrote the record.
    #[serde(default)]
    pub gap_at_most_ms: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_an_earlier_version_wrote_is_read() {
        let written = r#"{"epoch": 2, "node": "a", "boot": "0000000000000000000000000000000b",
            "began_ms": 5, "ended": [9, "expired"], "gap_ms": 1}"#;
        let read: TermRecord = serde_json::from_str(written).expect("it was written by baton");
        assert_eq!(read.ended, Some((9, TermEnd::Expired)));
        assert_eq!((read.gap_ms, read.gap_at_most_ms), (Some(1), None));
    }
}
