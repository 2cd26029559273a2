//! Poll orchestration: polls handed to live nodes, each once, whatever becomes of nodes and
//! leaders.
//!
//! ```text
//!   plan, requests ──► pending ──► dispatching ──► running ──► completed
//!                        ▲  │  ▲        │  │         │  ├────► failed
//!                        │  │  └────────┘  │         │  └────► timed out
//!                        │  └── cancelled ◄┘         │
//!                        └───────── retry ───────────┘
//!
//!   leader: Polls, round      ──┐ fenced by its epoch
//!                               ├──► document baton:polls, by compare-and-set
//!   each node: PollHandlers   ──┘ claims and reports
//! ```
//!
//! The document, the *table* of polls, is authoritative. A slot of a schedule is enqueued once,
//! also by two leaders, because its number is kept there. An attempt that was given up, since its
//! time was over or its node is gone, may still run: it cannot report any more, and what it writes
//! elsewhere must be idempotent or fenced.

mod client;
mod poll;
mod round;
mod runner;
mod state;
mod table;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use baton_core::protocol::Failure;
use baton_store::StoreError;
use baton_store::clock::{Clock, SystemClock};

pub use client::{DOCUMENT, PollClient};
pub use poll::{Poll, PollError};
pub use runner::{PollHandlers, PollRun};
pub use state::{IllegalStep, PollState, PollStep};
pub use table::{
    Assignment, AttemptEnd, Enqueued, PollEntry, PollRequestId, PollTable, RunnerEntry,
};

use crate::leadership::Leadership;
use crate::plugin::{Plugin, PluginError, RestartPolicy};
use round::{Periodic, PresentNodes, StateWatch, hold_round};

const EVERY_MIN: Duration = Duration::from_millis(100);

/// The plugin: enqueues periodic polls, hands out what waits, and takes back what is stuck.
#[derive(Debug)]
pub struct Polls {
    plan: Vec<Periodic>,
    look_every: Duration,
    watch: Mutex<StateWatch>,
}

impl Default for Polls {
    fn default() -> Self {
        Self { plan: Vec::new(), look_every: Duration::from_secs(1), watch: Mutex::default() }
    }
}

impl Polls {
    /// Adds a poll that is due every so often. Slots are counted by the wall clock; each is
    /// enqueued once, and skipped while the one before it still runs.
    pub fn every(mut self, every: Duration, poll: Poll) -> Result<Self, PollError> {
        poll.check()?;
        if every < EVERY_MIN {
            return Err(PollError::TooOften { name: poll.name, every });
        }
        self.plan.push(Periodic { every, poll });
        Ok(self)
    }

    /// The time between two looks at the table; 1 s unless given. Nodes should look as often.
    #[must_use]
    pub fn look_every(mut self, span: Duration) -> Self {
        self.look_every = span;
        self
    }

    async fn round(&self, term: &Leadership) -> Result<(), PollError> {
        let client = PollClient::new(&term.shared, term.shared.store.clone());
        let table = client.table().await?;
        let present = present(term, &table).await?;
        let patience = 3 * self.look_every + 2 * term.shared.settings.request_timeout;
        let fence = Some(term.epoch());
        client
            .change(fence, |table| {
                let now = (SystemClock.now(), SystemClock.wall_ms());
                let mut watch = self.watch.lock().expect("no holder panics");
                hold_round(table, &self.plan, &present, patience, &mut watch, now);
                Ok(())
            })
            .await
    }
}

/// Who is there: by the leader's own view, and where that leaves a doubt, by the records.
async fn present(term: &Leadership, table: &PollTable) -> Result<PresentNodes, StoreError> {
    let shared = &term.shared;
    let (view, settings) = (shared.snapshot().view.clone(), &shared.settings);
    let mut live = BTreeMap::new();
    let mut undead = BTreeSet::from([shared.boot]);
    if !settings.enabled {
        live.insert(shared.id.clone(), shared.boot);
        return Ok(PresentNodes { live, undead });
    }
    for member in view.iter().flat_map(|view| &view.members) {
        undead.insert(member.boot);
        if !member.draining {
            live.insert(member.id.clone(), member.boot);
        }
    }
    let held = table.active().filter_map(|entry| entry.assigned.as_ref()).map(|to| to.boot);
    let mut known = held.chain(table.runners().values().map(|runner| runner.boot));
    if known.any(|boot| !undead.contains(&boot)) {
        for member in shared.store.members(&shared.namespace).await? {
            let silent = member.silent_for.unwrap_or_default();
            if silent < settings.dead_node_timeout {
                undead.insert(member.record.boot);
            }
        }
    }
    Ok(PresentNodes { live, undead })
}

#[async_trait]
impl Plugin for Polls {
    fn name(&self) -> &str {
        "polls"
    }

    fn work_interval(&self) -> Duration {
        self.look_every
    }

    /// Its failures are the store's, which the node minds itself.
    fn restart_policy(&self) -> RestartPolicy {
        RestartPolicy { limit: u32::MAX, ..RestartPolicy::default() }
    }

    async fn on_become_coordinator(&self, _: &Leadership) -> Result<(), PluginError> {
        // What the last term saw, this one has not seen yet.
        *self.watch.lock().expect("no holder panics") = StateWatch::default();
        Ok(())
    }

    async fn coordinator_work(&self, term: &Leadership) -> Result<(), PluginError> {
        match self.round(term).await {
            // The node itself tells of a store that is away, and of a term that is over.
            Err(PollError::Store(problem)) if problem.failure() != Failure::Rejected => Ok(()),
            Err(PollError::TermOver | PollError::Contended(_)) => Ok(()),
            done => done.map_err(PluginError::from),
        }
    }
}
