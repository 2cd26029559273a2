//! One namespace, as plain data with pure steps. Cloning it is taking a backup.

use std::collections::BTreeSet;
use std::sync::Arc;

use baton_core::ids::{BootId, Epoch, Lineage, NodeId};
use baton_core::protocol::{
    BeatReply, BeatRequest, LeaseIntent, LeaseSnapshot, Outcome, Registration, Reply, Request, View,
};
use baton_core::time::Moment;
use serde::{Deserialize, Serialize};

use super::counters::Counters;
use super::documents::Documents;
use super::history::History;
use super::lease::LeaseRow;
use super::registry::Registry;
use crate::capability::ExpiryClock;
use crate::counters::{CounterAnswer, CounterCall};
use crate::document::{BatchOutcome, Document, DocumentWrite};
use crate::election::Inspection;
use crate::prune::{Prune, PruneOutcome};

/// When a step happens: by the clock that judges leases, and by the one that people read.
#[derive(Clone, Copy, Debug)]
pub struct StepTime {
    /// The store's monotonic clock.
    pub now: Moment,
    /// Its wall clock, in Unix milliseconds. Decides nothing.
    pub wall_ms: u64,
}

/// Everything a store keeps for one namespace. Written down it lacks the node records, the counters
/// and the deaths: a store that keeps it so has a place of its own for the first two, and does not
/// declare the last.
#[derive(Clone, Debug, Hash, Serialize, Deserialize)]
pub struct Space {
    pub(super) expiry: ExpiryClock,
    pub(super) lineage: Lineage,
    /// The lineage in which the namespace was first written to: a copy from before its first term
    /// has no lease to tell by that terms may have been lost.
    pub(super) born_in: Lineage,
    pub(super) lease: Option<LeaseRow>,
    pub(super) history: History,
    #[serde(skip)]
    registry: Registry,
    view: Option<Arc<View>>,
    documents: Documents,
    #[serde(skip)]
    counters: Counters,
    /// The highest epoch that a fenced write carried. A row of its own, so that fencing never waits
    /// for the lease.
    pub(super) fence: Epoch,
    /// Does the store see which processes live?
    #[serde(skip)]
    pub(super) sees_deaths: bool,
    /// Processes that the store knows to be gone.
    #[serde(skip)]
    pub(super) dead: BTreeSet<BootId>,
}

impl Space {
    /// An empty namespace.
    pub fn new(expiry: ExpiryClock, lineage: Lineage) -> Self {
        Self {
            expiry,
            lineage,
            born_in: lineage,
            lease: None,
            history: History::default(),
            registry: Registry::default(),
            view: None,
            documents: Documents::default(),
            counters: Counters::default(),
            fence: Epoch::NONE,
            sees_deaths: false,
            dead: BTreeSet::new(),
        }
    }

    /// The same, in a store that sees which processes live.
    #[must_use]
    pub fn seeing_deaths(mut self, sees_deaths: bool) -> Self {
        self.sees_deaths = sees_deaths;
        self
    }

    /// Does what the core asks for. The reply shows the ages of members if the store may
    /// tell them.
    pub fn perform(&mut self, at: StepTime, request: Request, with_age: bool) -> Reply {
        Reply::Done(match request {
            Request::Beat(beat) => return Reply::Beat(self.beat(at, beat)),
            Request::ReadMembers => return Reply::Members(self.members(at.now, with_age)),
            Request::PublishView { fence, view } => self.publish_view(fence, view),
            Request::Release(release) => self.release(at, &release),
            Request::Leave { node, boot } => self.leave(&node, boot),
            Request::Ask { epoch, ask } => self.ask(epoch, &ask),
        })
    }

    /// One beat, whole.
    pub fn beat(&mut self, at: StepTime, beat: BeatRequest) -> BeatReply {
        let registration = match beat.may_leave_record() && self.registry.has(&beat.node) {
            true => Registration::Registered,
            false => self.registry.register(at.now, &beat.node, beat.replaces, &self.dead),
        };
        self.registered_beat(at, beat, registration)
    }

    /// The rest of a beat, once it is known whether the node's record was written.
    pub fn registered_beat(
        &mut self,
        at: StepTime,
        beat: BeatRequest,
        registration: Registration,
    ) -> BeatReply {
        let outcome = match (&registration, beat.lease) {
            (Registration::TakenBy { .. }, _) | (_, LeaseIntent::Observe) => None,
            (_, LeaseIntent::Acquire(acquire)) => Some(self.acquire(at, &beat.node, acquire)),
            (_, LeaseIntent::Renew(renew)) => Some(self.renew(at, renew)),
        };
        let view = self.view.as_ref().filter(|view| view.version > beat.known_view).cloned();
        let lease = self.snapshot(at.now);
        BeatReply { registration, lease, outcome, lineage: self.lineage, view }
    }

    /// Every node record, with its age if the store may tell.
    pub fn members(&self, now: Moment, with_age: bool) -> Vec<baton_core::protocol::Member> {
        self.registry.members(now, with_age)
    }

    /// Publishes a view.
    pub fn publish_view(&mut self, fence: Epoch, view: Arc<View>) -> Outcome {
        let older = self.view.as_ref().is_some_and(|known| {
            known.version.epoch == view.version.epoch && known.version >= view.version
        });
        if older || self.is_fenced_off(fence) {
            return Outcome::Conflict;
        }
        self.fence = fence;
        self.view = Some(view);
        Outcome::Applied
    }

    /// Is a later epoch known here, by a grant or by a write?
    pub fn is_fenced_off(&self, fence: Epoch) -> bool {
        fence < self.fence.max(self.epoch())
    }

    /// Takes note of a write with this epoch. Says whether that is news.
    pub fn raise_fence(&mut self, fence: Epoch) -> bool {
        let is_news = fence > self.fence;
        self.fence = self.fence.max(fence);
        is_news
    }

    /// Takes a node's record out.
    pub fn leave(&mut self, node: &NodeId, boot: BootId) -> Outcome {
        self.registry.leave(node, boot)
    }

    /// Reads a document.
    pub fn read_document(&self, name: &str) -> Option<Document> {
        self.documents.read(name)
    }

    /// Writes documents, all or none.
    pub fn write_documents(
        &mut self,
        writes: Vec<DocumentWrite>,
        fence: Option<Epoch>,
    ) -> BatchOutcome {
        if fence.is_some_and(|fence| self.is_fenced_off(fence)) {
            return BatchOutcome::Fenced;
        }
        let outcome = self.documents.write(writes);
        if let (Some(fence), BatchOutcome::Written(_)) = (fence, &outcome) {
            self.fence = fence;
        }
        outcome
    }

    /// Counts.
    pub fn counters(&mut self, at: StepTime, call: CounterCall) -> CounterAnswer {
        if let CounterCall::Consolidate { fence, .. } | CounterCall::Collect { fence, .. } = call {
            if self.is_fenced_off(fence) {
                return CounterAnswer::Fenced;
            }
            self.fence = fence;
        }
        self.counters.perform(at.now, call)
    }

    /// The last terms, the newest first.
    pub fn history(&self, limit: usize) -> Vec<baton_core::protocol::TermRecord> {
        self.history.newest(limit)
    }

    /// Lets old records go: nodes first, then terms.
    pub fn prune(&mut self, now: Moment, fence: Epoch, prune: Prune) -> PruneOutcome {
        if self.is_fenced_off(fence) {
            return PruneOutcome::Fenced;
        }
        let limit = usize::try_from(prune.limit).unwrap_or(usize::MAX);
        let nodes = self.registry.forget(now, prune.dead_for, limit);
        let terms = self.history.forget(prune.keep_terms.max(1), limit - nodes);
        if nodes + terms > 0 {
            self.fence = fence;
        }
        PruneOutcome::Pruned { records: u32::try_from(nodes + terms).unwrap_or(u32::MAX) }
    }

    /// Forgets all terms but the newest.
    pub fn keep_terms(&mut self, most: usize) {
        self.history.forget(most, usize::MAX);
    }

    /// The lease as a reply shows it.
    pub fn snapshot(&self, now: Moment) -> Option<LeaseSnapshot> {
        let row = self.lease.as_ref()?;
        let mut shown = row.snapshot(self.expiry, now, self.holder_is_dead());
        let is_dead = |named: &NodeId| {
            self.registry.boot_of(named).is_some_and(|boot| self.dead.contains(&boot))
        };
        shown.successor = shown.successor.filter(|named| !is_dead(named));
        Some(shown)
    }

    /// Everything an onlooker may see.
    pub fn inspect(&self, now: Moment) -> Inspection {
        let (lease, lineage) = (self.snapshot(now), self.lineage);
        Inspection { lease, lineage, view: self.view.clone() }
    }

    /// The process of this boot is gone, and the store knows it.
    pub fn process_died(&mut self, boot: BootId) {
        self.dead.insert(boot);
    }

    /// The published view.
    pub fn view(&self) -> Option<&Arc<View>> {
        self.view.as_ref()
    }

    /// The highest epoch granted here.
    pub fn epoch(&self) -> Epoch {
        self.lease.as_ref().map_or(Epoch::NONE, |row| row.record.epoch)
    }

    /// The lineage of the data.
    pub fn lineage(&self) -> Lineage {
        self.lineage
    }

    /// The data is an older copy from now on: a replica was promoted or a backup restored.
    pub fn begin_lineage(&mut self, lineage: Lineage) {
        self.lineage = lineage;
    }

    /// A store whose own leases end anew after a failover gives every holder its full time again.
    pub fn extend_leases(&mut self, now: Moment) {
        if let Some(row) = self.lease.as_mut() {
            row.expires_at = row.expires_at.max(now + row.record.ttl);
        }
    }
}
