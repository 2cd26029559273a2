//! The coordinator of one term: which process is given which partition, without I/O.
//!
//! ```text
//!                ┌──────────────── Coordinator ────────────────┐
//!   Input ──────►│ table:   each partition, where it stands    │──────► Actions
//!   Lists,       │ members: which processes run what, or can't │  Read, Write,
//!   Members,     │ plan:    who should own ──► what to change  │  Publish
//!   Read,        │ batch:   the one write under way            │
//!   Written      │                                             │──────► wakes_after: when to Tick
//!                └─────────────────────────────────────────────┘
//! ```
//!
//! Call [`handle`] with each input and carry out what it returns, one `Read` or `Write` at a time.
//! An answer to a request that was given up must not be handed in later.
//!
//! A partition moves in two steps, each a write of documents: its owner is asked to **release** it,
//! and once it is free another process is given it to **hold**, with a higher token. It is free if
//! its owner acknowledged the release; or if the owner's session, by its own report or by its
//! silence, or its whole process is over. A partition stays in a document of its old owner until it
//! is free, so that the next coordinator finds every move where this one left it. If it stands in
//! several documents, the one with the highest token counts.
//!
//! The documents are authoritative for who may own a partition, the processes for what they run.
//! Silence is judged by this process's own clock alone. A coordinator lives for one term: it is
//! made after the grant of its epoch, so that no write of an earlier term can follow what it reads.
//!
//! [`handle`]: Coordinator::handle

mod compose;
mod members;
mod plan;
mod requests;
mod slots;
mod table;
mod targets;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::allocation::{Limits, Problem};
use super::assignment::{Assignment, AssignmentVersion, Token};
use super::task_list::{TaskList, TaskListStatus};
use super::wanted::Wanted;
use crate::ids::{BootId, Epoch, Lineage};
use crate::lease::LeaseTerms;
use crate::protocol::Member;
use crate::time::Moment;

use members::Members;
use requests::Requests;
use slots::Slots;
use table::Table;

/// The most documents of one write.
pub const BATCH_MAX: usize = 100;

/// The most bytes of one write, which the stores take.
const BATCH_BYTES_MAX: usize = 1024 * 1024;

/// The most documents of a namespace. Each process has one; that of a process that is gone is used
/// again.
pub const SLOTS_MAX: u32 = 10_000;

/// How long a coordinator with nothing to wait for sleeps.
const IDLE: Duration = Duration::from_secs(60);

/// How the coordinator moves partitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MoveSettings {
    /// How long a live owner may take to release a partition. After that it is given to another
    /// process all the same: both may run it then, and only fenced writes are safe. `None`: a live
    /// owner is waited for.
    pub release_timeout: Option<Duration>,
    /// How long the partitions of a node that left wait for it to come back.
    pub restart_delay: Duration,
    /// What limits voluntary moves.
    pub limits: Limits,
}

/// The term of a coordinator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermOfMoves {
    /// Its epoch.
    pub epoch: Epoch,
    /// The line of history that the store's data is of.
    pub lineage: Lineage,
    /// The lease terms, which all nodes share.
    pub lease: LeaseTerms,
}

/// What happened.
#[derive(Clone, Debug)]
pub enum Input {
    /// Time has passed.
    Tick,
    /// The task lists, the moves by hand, and whether moves are paused, as they are now.
    Lists(Wanted),
    /// The node records were read.
    Members {
        /// When the request was sent.
        sent: Moment,
        /// The records.
        members: Vec<Member>,
    },
    /// Documents were read.
    Read {
        /// The version and content of each, in the order in which they were asked for; `None` if
        /// there is no such document.
        found: Vec<Option<(u64, Assignment)>>,
    },
    /// The documents could not be read.
    Unread,
    /// A write was answered, or was not.
    Written(BatchOutcome),
    /// The store's data is of this line of history. Hand it in before an answer that shows another
    /// one: the term is over then, and what was read is not what it knows.
    Lineage(Lineage),
    /// This process is proved dead.
    Died(BootId),
}

/// What came of a write of documents, of which all or none are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchOutcome {
    /// Written, at these versions.
    Written(Vec<u64>),
    /// One of them had been changed: nothing was written.
    Conflict,
    /// A later term has begun: nothing was written.
    Fenced,
    /// It may have been written.
    Unknown,
    /// It was certainly not written.
    Failed,
}

/// A document to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentWrite {
    /// Its slot.
    pub slot: u32,
    /// The version that it replaces; 0 if there is none.
    pub over: u64,
    /// What to write.
    pub content: Assignment,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Action {
    /// Read the documents of these slots.
    Read {
        /// Which.
        slots: Vec<u32>,
    },
    /// Write these documents, all or none, each over the version given and all under the epoch of
    /// the term.
    Write(Vec<DocumentWrite>),
    /// The view is to name these versions from now on. Tell the processes whose own has moved, so
    /// that they need not wait for a beat.
    Publish(Arc<BTreeMap<BootId, AssignmentVersion>>),
}

/// Says who should own each partition, by the index of the node.
type Allocate = fn(&Problem) -> Vec<Option<u32>>;

/// The coordinator of the partitions of a namespace, for one term.
#[derive(Debug)]
pub struct Coordinator {
    term: TermOfMoves,
    settings: MoveSettings,
    allocate: Allocate,
    wanted: Option<Wanted>,
    members: Members,
    slots: Slots,
    table: Table,
    requests: Requests,
    /// After the store's data went back: nothing is given away before.
    cautious_until: Option<Moment>,
    /// The highest token that was given, as far as is known.
    last_token: Token,
    /// Has anything changed since the last plan?
    is_stale: bool,
    /// When there is something to plan although nothing has changed.
    due: Option<Moment>,
}

impl Coordinator {
    /// The coordinator of a term that has been granted to this process before `now`.
    pub fn new(now: Moment, term: TermOfMoves, settings: MoveSettings) -> Self {
        Self {
            term,
            settings,
            allocate: |problem| super::allocation::allocate(problem).owners,
            wanted: None,
            members: Members::new(now, term),
            slots: Slots::default(),
            table: Table::default(),
            requests: Requests::new(now),
            cautious_until: None,
            last_token: Token::default(),
            is_stale: true,
            due: None,
        }
    }

    /// Has a later term begun, or has the store's data gone back? Then there is nothing left to do.
    pub fn is_over(&self) -> bool {
        self.requests.is_over
    }

    /// How many partitions of the active task lists no process may run now.
    pub fn unowned(&self) -> usize {
        let lists = self.wanted.as_ref().map(|wanted| wanted.lists.as_slice()).unwrap_or_default();
        let owned = |list: &TaskList| {
            let entries = self.table.list(&list.id).iter().take(list.partitions as usize);
            entries.flatten().filter(|entry| !self.is_released(entry)).count()
        };
        let active = lists.iter().filter(|list| list.status == TaskListStatus::Active);
        active.map(|list| (list.partitions as usize).saturating_sub(owned(list))).sum()
    }

    /// Takes in what happened, and returns what is to be done.
    #[must_use]
    pub fn handle(&mut self, now: Moment, input: Input) -> Vec<Action> {
        let mut actions = Vec::new();
        if self.requests.is_over {
            return actions;
        }
        match input {
            Input::Tick => {}
            Input::Lists(mut wanted) => {
                wanted.lists.sort_by(|a, b| a.id.cmp(&b.id));
                wanted.lists.dedup_by(|a, b| a.id == b.id);
                self.is_stale |= self.wanted.as_ref() != Some(&wanted);
                self.wanted = Some(wanted);
            }
            Input::Members { sent, members } => {
                self.is_stale |= self.members.read(sent, now, members, &self.slots);
                self.is_stale |= self.cautious_until.is_some();
            }
            Input::Read { found } => self.take_reading(now, found, &mut actions),
            Input::Unread => self.requests.unread(now),
            Input::Written(outcome) => self.written(now, outcome, &mut actions),
            Input::Lineage(lineage) => self.requests.is_over |= lineage != self.term.lineage,
            Input::Died(boot) => self.is_stale |= self.members.died(boot),
        }
        self.ask(now, &mut actions);
        actions
    }

    /// When to call [`Self::handle`] with a tick, unless something else happens before.
    pub fn wakes_after(&self, now: Moment) -> Duration {
        if self.requests.is_over {
            return IDLE;
        }
        let held = self.requests.held_until;
        let can_plan = self.wanted.is_some() && self.members.is_read();
        let next = match self.requests.is_settled() {
            false => (!self.requests.is_under_way()).then_some(held),
            true if self.is_stale && can_plan => Some(held),
            true => self.due.map(|due| due.max(held)),
        };
        next.map_or(IDLE, |next| next.since(now)).min(IDLE)
    }

    /// The store's data went back: processes of which nothing is known may still run partitions.
    fn be_cautious(&mut self) {
        let span = self.term.lease;
        let started = self.members.started;
        self.cautious_until = Some(span.observed_expiry(started, started, span.ttl));
    }
}
