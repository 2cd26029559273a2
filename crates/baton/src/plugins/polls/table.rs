//! The table: every poll of a namespace, in one document that is changed by compare-and-set.
//!
//! Nothing here asks or waits. Each change is one step of the table in [`super::state`]; who may
//! take it is checked here: the node that a poll was handed to claims it, the attempt that runs
//! reports.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use baton_core::ids::{BootId, NodeId};
use baton_core::time::whole_ms;
use serde::{Deserialize, Serialize};

use super::poll::{Poll, PollError};
use super::state::{PollState, PollStep};

pub(super) const FORMAT: u32 = 1;

/// The largest number of polls that wait or run at once.
const ACTIVE_MAX: usize = 128;

/// The largest number of finished polls that are kept.
const FINISHED_MAX: usize = 100;

/// The largest numbers of names of periodic polls and of nodes that are remembered.
const NAMES_MAX: usize = 256;
const RUNNERS_MAX: usize = 1_024;

/// The number of characters to which an answer or an error is cut.
const NOTE_MAX: usize = 256;

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
pub struct PollRequestId {
    /// Whose request.
    pub boot: BootId,
    /// Its number among the requests of that process.
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
    pub ticket: Option<PollRequestId>,
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

/// Every poll of a namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PollTable {
    pub(super) format: u32,
    last_id: u64,
    /// The last slot of each periodic poll that was enqueued or skipped.
    slots: BTreeMap<String, u64>,
    pub(super) runners: BTreeMap<NodeId, RunnerEntry>,
    active: BTreeMap<u64, PollEntry>,
    finished: VecDeque<PollEntry>,
}

impl Default for PollTable {
    fn default() -> Self {
        Self {
            format: FORMAT,
            last_id: 0,
            slots: BTreeMap::new(),
            runners: BTreeMap::new(),
            active: BTreeMap::new(),
            finished: VecDeque::new(),
        }
    }
}

impl PollTable {
    /// The polls that wait or run, the oldest first.
    pub fn active(&self) -> impl Iterator<Item = &PollEntry> {
        self.active.values()
    }

    /// The last polls that are done, the oldest first.
    pub fn finished(&self) -> impl Iterator<Item = &PollEntry> {
        self.finished.iter()
    }

    /// The poll with this number.
    pub fn poll(&self, id: u64) -> Option<&PollEntry> {
        self.active.get(&id).or_else(|| self.finished.iter().find(|entry| entry.id == id))
    }

    /// The nodes that run polls.
    pub fn runners(&self) -> &BTreeMap<NodeId, RunnerEntry> {
        &self.runners
    }

    pub(super) fn is_due(&self, name: &str, slot: u64) -> bool {
        self.slots.get(name).is_none_or(|last| *last < slot)
    }

    /// Enqueues a slot of a periodic poll, once and for all.
    pub(super) fn enqueue_slot(
        &mut self,
        poll: &Poll,
        slot: u64,
        now_ms: u64,
    ) -> Result<Enqueued, PollError> {
        if !self.is_due(&poll.name, slot) {
            return Ok(Enqueued::Skipped);
        }
        let names = self.slots.len() + usize::from(!self.slots.contains_key(&poll.name));
        full("periodic polls would be", names, NAMES_MAX)?;
        let busy = self.active().any(|entry| entry.name == poll.name && entry.slot.is_some());
        let enqueued =
            if busy { Enqueued::Skipped } else { self.admit(poll, Some(slot), None, now_ms)? };
        self.slots.insert(poll.name.clone(), slot);
        Ok(enqueued)
    }

    pub(super) fn enqueue(
        &mut self,
        poll: &Poll,
        ticket: PollRequestId,
        now_ms: u64,
    ) -> Result<Enqueued, PollError> {
        let all = self.active.values().chain(&self.finished);
        if let Some(made) = all.clone().find(|entry| entry.ticket == Some(ticket)) {
            return Ok(Enqueued::New(made.id));
        }
        self.admit(poll, None, Some(ticket), now_ms)
    }

    /// The poll that counts for this one, if it is within its uniqueness window.
    fn same(&self, poll: &Poll, now_ms: u64) -> Option<u64> {
        let window_ms = whole_ms(poll.unique_for);
        let recent = |entry: &&PollEntry| {
            entry.name == poll.name && now_ms.saturating_sub(entry.enqueued_ms) < window_ms
        };
        self.active.values().chain(&self.finished).filter(recent).map(|entry| entry.id).max()
    }

    fn admit(
        &mut self,
        poll: &Poll,
        slot: Option<u64>,
        ticket: Option<PollRequestId>,
        now_ms: u64,
    ) -> Result<Enqueued, PollError> {
        if let Some(id) = self.same(poll, now_ms) {
            return Ok(Enqueued::Duplicate(id));
        }
        full("active polls would be", self.active.len() + 1, ACTIVE_MAX)?;
        self.last_id += 1;
        let entry = PollEntry {
            id: self.last_id,
            name: poll.name.clone(),
            slot,
            state: PollState::Pending,
            attempt: 0,
            retries: poll.retries,
            timeout_ms: whole_ms(poll.timeout),
            payload: poll.payload.clone(),
            assigned: None,
            enqueued_ms: now_ms,
            finished_ms: None,
            note: String::new(),
            ticket,
        };
        self.active.insert(entry.id, entry);
        Ok(Enqueued::New(self.last_id))
    }

    pub(super) fn register(
        &mut self,
        to: &Assignment,
        names: &BTreeSet<String>,
        places: usize,
    ) -> Result<(), PollError> {
        let known = self.runners.get(&to.node).filter(|runner| runner.boot == to.boot);
        if known.is_some_and(|runner| runner.names == *names) {
            return Ok(());
        }
        let handed = known.map_or(0, |runner| runner.handed);
        let runners = self.runners.len() + usize::from(!self.runners.contains_key(&to.node));
        full("nodes that run polls would be", runners, RUNNERS_MAX)?;
        let runner = RunnerEntry { boot: to.boot, names: names.clone(), places, handed };
        self.runners.insert(to.node.clone(), runner);
        Ok(())
    }

    pub(super) fn dispatch(&mut self, id: u64, to: &Assignment) -> Result<(), PollError> {
        let entry = self.step(id, PollStep::Dispatch)?;
        entry.assigned = Some(to.clone());
        if let Some(runner) = self.runners.get_mut(&to.node) {
            runner.handed += 1;
        }
        Ok(())
    }

    /// Takes a poll from a node that has not begun.
    pub(super) fn withdraw(&mut self, id: u64) -> Result<(), PollError> {
        self.step(id, PollStep::Withdraw).map(|_| ())
    }

    /// The process that a poll was handed to begins its next attempt.
    pub(super) fn claim(&mut self, id: u64, boot: BootId) -> Result<&PollEntry, PollError> {
        let entry = self.active.get(&id).ok_or(PollError::Unknown { id })?;
        if entry.assigned.as_ref().map(|to| to.boot) != Some(boot) {
            return Err(PollError::AttemptOver { id, attempt: entry.attempt });
        }
        let entry = self.step(id, PollStep::Claim)?;
        entry.attempt += 1;
        Ok(entry)
    }

    /// An attempt ended, by its node's word or the leader's. Only the one that runs can.
    pub(super) fn attempt_ended(
        &mut self,
        id: u64,
        (boot, attempt): (BootId, u32),
        end: AttemptEnd,
        now_ms: u64,
    ) -> Result<PollState, PollError> {
        let entry = self.active.get(&id).ok_or(PollError::AttemptOver { id, attempt })?;
        let runs = entry.assigned.as_ref().map(|to| to.boot) == Some(boot)
            && entry.attempt == attempt
            && entry.state == PollState::Running;
        if !runs {
            return Err(PollError::AttemptOver { id, attempt });
        }
        let again = attempt <= entry.retries;
        let (step, note) = match end {
            AttemptEnd::Done(answer) => (PollStep::Complete, answer),
            AttemptEnd::Failed(error) if again => (PollStep::Retry, error),
            AttemptEnd::Failed(error) => (PollStep::Fail, error),
            AttemptEnd::TimedOut if again => (PollStep::Retry, "timed out".to_owned()),
            AttemptEnd::TimedOut => (PollStep::TimeOut, "timed out".to_owned()),
        };
        let entry = self.step(id, step)?;
        entry.note = note.chars().take(NOTE_MAX).collect();
        let state = entry.state;
        self.finish(id, now_ms);
        Ok(state)
    }

    /// Takes a poll back that has not begun.
    pub(super) fn cancel(&mut self, id: u64, now_ms: u64) -> Result<(), PollError> {
        let done = self.finished.iter().find(|entry| entry.id == id).map(|entry| entry.state);
        match done {
            Some(PollState::Cancelled) => return Ok(()),
            Some(state) => state.after(PollStep::Cancel).map(|_| ())?,
            None => {}
        }
        self.step(id, PollStep::Cancel)?;
        self.finish(id, now_ms);
        Ok(())
    }

    fn step(&mut self, id: u64, step: PollStep) -> Result<&mut PollEntry, PollError> {
        let entry = self.active.get_mut(&id).ok_or(PollError::Unknown { id })?;
        entry.state = entry.state.after(step)?;
        Ok(entry)
    }

    /// Moves a poll that is done to the others that are.
    fn finish(&mut self, id: u64, now_ms: u64) {
        if !self.active.get(&id).is_some_and(|entry| entry.state.is_final()) {
            return;
        }
        if let Some(mut entry) = self.active.remove(&id) {
            entry.finished_ms = Some(now_ms);
            entry.payload.clear();
            self.finished.push_back(entry);
            while self.finished.len() > FINISHED_MAX {
                self.finished.pop_front();
            }
        }
    }
}

fn full(what: &'static str, count: usize, limit: usize) -> Result<(), PollError> {
    if count > limit { Err(PollError::Full { what, count, limit }) } else { Ok(()) }
}
