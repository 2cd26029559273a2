//! The durable term history: who coordinated, from when to when, and why it ended.
//!
//! The store writes it in the same step that begins or ends a term, stamped by its own wall clock.
//! The stamps are for people; nothing decides by them.

use serde::{Deserialize, Serialize};

use super::lease::ReleaseReason;
use crate::ids::{BootId, Epoch, NodeId};

/// How a term ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TermEnd {
    /// The holder gave the lease up.
    Released(ReleaseReason),
    /// The lease ran out and somebody else took it.
    Expired,
    /// The holder's process was proved dead and somebody else took over.
    ProvedDead,
}

/// One term.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TermRecord {
    /// Its epoch.
    pub epoch: Epoch,
    /// Who coordinated.
    pub node: NodeId,
    /// Which process.
    pub boot: BootId,
    /// When it began, in Unix milliseconds.
    pub began_ms: u64,
    /// When it ended, in Unix milliseconds, and how; `None` while it lasts.
    pub ended: Option<(u64, TermEnd)>,
    /// How long nobody coordinated before it, in milliseconds; `None` for the first term.
    pub gap_ms: Option<u64>,
}
