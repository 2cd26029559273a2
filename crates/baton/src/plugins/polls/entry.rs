//! What stands on the table.

use std::collections::BTreeSet;

use baton_core::ids::{BootId, NodeId};
use serde::{Deserialize, Serialize};

use super::state::PollState;

/// Where a poll was handed to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// The node.
    pub node: NodeId,
    /// Its process.
    pub boot: BootId,
}

/// Names one request, so that one whose outcome is unknown is not made twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticket {
    /// Whose request.
    pub boot: BootId,
    /// The so-manieth.
    pub number: u64,
}

/// One poll on the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PollEntry {
    /// Its number, never used again.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// The place in its schedule, if it has one.
    pub slot: Option<u64>,
    /// Where it stands.
    pub state: PollState,
    /// The attempt that runs or ran last, from 1; 0 before the first.
    pub attempt: u32,
    /// How often it is tried again.
    pub retries: u32,
    /// How long an attempt may take.
    pub timeout_ms: u64,
    /// What the handler is given. Forgotten when it is done.
    pub payload: String,
    /// Who has it, or had it last.
    pub assigned: Option<Assignment>,
    /// When it was enqueued, in Unix milliseconds.
    pub enqueued_ms: u64,
    /// When it was done, in Unix milliseconds.
    pub finished_ms: Option<u64>,
    /// The answer, or what went wrong last.
    pub note: String,
    /// The request it came from, if it was one.
    pub ticket: Option<Ticket>,
}

/// A node that runs polls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunnerEntry {
    /// Its process.
    pub boot: BootId,
    /// What it has handlers for.
    pub names: BTreeSet<String>,
    /// How many it runs at once.
    pub places: usize,
    /// How many it was handed so far.
    pub handed: u64,
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptEnd {
    /// With this answer.
    Done(String),
    /// With this error.
    Failed(String),
    /// It took too long.
    TimedOut,
}

/// What came of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enqueued {
    /// A new poll.
    New(u64),
    /// This one counts for it.
    Duplicate(u64),
    /// Nothing: the one before still runs, or this slot had its poll.
    Skipped,
}
