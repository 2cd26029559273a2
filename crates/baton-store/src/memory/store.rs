//! The memory store: the pure rules behind a lock and a clock.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use baton_core::ids::{BootId, Epoch, Lineage, Namespace};
use baton_core::protocol::{Hint, Outcome, Reply, Request};
use tokio::sync::mpsc;

use super::space::{Space, StepTime};
use crate::capability::{Capability, Declaration, ExpiryClock};
use crate::clock::Clock;
use crate::contract::{Backend, Contract, HintStream};
use crate::election::{Answer, Call, Election};
use crate::error::StoreError;
use crate::finding::Finding;
use crate::namespaces::namespace_page;

/// Hints kept for a listener that is behind.
const HINTS_KEPT: usize = 64;

#[derive(Clone, Debug)]
enum StoredSpace {
    Space(Box<Space>),
    Corrupt,
}

#[derive(Default)]
struct StoreState {
    spaces: BTreeMap<Namespace, StoredSpace>,
    listeners: BTreeMap<Namespace, Vec<mpsc::Sender<Hint>>>,
    lineage: u64,
}

/// A store in this process's memory. Handles are clones of an `Arc` around it.
pub struct MemoryStore {
    /// What it declares, and therefore does.
    declaration: Declaration,
    clock: Arc<dyn Clock>,
    state: Mutex<StoreState>,
}

impl MemoryStore {
    /// An empty store that judges leases by this clock.
    pub fn new(declaration: Declaration, clock: Arc<dyn Clock>) -> Self {
        Self { declaration, clock, state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, StoreState> {
        self.state.lock().expect("no step of the rules panics while it holds the lock")
    }

    fn step_time(&self) -> StepTime {
        StepTime { now: self.clock.now(), wall_ms: self.clock.wall_ms() }
    }

    fn has(&self, capability: Capability) -> bool {
        self.declaration.has(capability)
    }

    /// Runs one step in a namespace, which is created if need be.
    fn step<T>(
        &self,
        namespace: &Namespace,
        step: impl FnOnce(&mut Space, StepTime) -> T,
    ) -> Result<T, StoreError> {
        let at = self.step_time();
        let mut state = self.lock();
        let lineage = Lineage(state.lineage);
        let expiry = self.declaration.expiry;
        let sees_deaths = self.has(Capability::DeathProof);
        let begin = || Space::new(expiry, lineage).seeing_deaths(sees_deaths);
        let kept = state
            .spaces
            .entry(namespace.clone())
            .or_insert_with(|| StoredSpace::Space(Box::new(begin())));
        match kept {
            StoredSpace::Space(space) => Ok(step(space, at)),
            StoredSpace::Corrupt => Err(StoreError::Corrupt {
                record: format!("the lease of namespace {namespace}"),
                detail: "it was overwritten by something else".to_owned(),
            }),
        }
    }

    fn core(&self, namespace: &Namespace, request: Request) -> Result<Reply, StoreError> {
        let with_age = self.has(Capability::MemberAge);
        let hint = request.hint_when_applied();
        let reply = self.step(namespace, |space, at| space.perform(at, request, with_age))?;
        if let (Reply::Done(Outcome::Applied), Some(hint)) = (&reply, hint) {
            self.push(namespace, &hint);
        }
        Ok(reply)
    }

    fn answer(&self, namespace: &Namespace, call: Call) -> Result<Answer, StoreError> {
        match call {
            Call::Core(request) => self.core(namespace, request).map(Answer::Core),
            Call::Inspect => {
                self.step(namespace, |space, at| Answer::Inspected(space.inspect(at.now)))
            }
            Call::ReadDocuments { names } => self.step(namespace, |space, _| {
                let found = names.iter().map(|name| space.read_document(name));
                Answer::Documents(found.collect())
            }),
            Call::WriteDocuments { writes, fence } => self
                .step(namespace, |space, _| Answer::Written(space.write_documents(writes, fence))),
            Call::Namespaces { after, limit } => {
                let namespaces = self.namespaces();
                Ok(Answer::Namespaces(namespace_page(namespaces, after.as_ref(), limit)))
            }
            Call::History { limit } => {
                self.step(namespace, |space, _| Answer::History(space.history(limit)))
            }
            Call::Counters(call) => {
                self.step(namespace, |space, at| Answer::Counters(space.counters(at, call)))
            }
            Call::Prune { fence, prune } => {
                self.step(namespace, |space, at| Answer::Pruned(space.prune(at.now, fence, prune)))
            }
        }
    }

    /// The namespaces that have a lease, or had one before it was overwritten.
    fn namespaces(&self) -> Vec<Namespace> {
        let begun = |kept: &StoredSpace| match kept {
            StoredSpace::Space(space) => space.epoch() > Epoch::NONE,
            StoredSpace::Corrupt => true,
        };
        let state = self.lock();
        let begun = state.spaces.iter().filter(|(_, kept)| begun(kept));
        begun.map(|(namespace, _)| namespace.clone()).collect()
    }

    fn push(&self, namespace: &Namespace, hint: &Hint) {
        if !self.has(Capability::Push) {
            return;
        }
        let mut state = self.lock();
        if let Some(listeners) = state.listeners.get_mut(namespace) {
            listeners.retain(|listener| !listener.is_closed());
            for listener in listeners {
                // A full listener misses a hint, which hints may be.
                let _ = listener.try_send(hint.clone());
            }
        }
    }

    /// A copy of everything, as a backup would have it.
    pub fn backup(&self, namespace: &Namespace) -> Option<Space> {
        match self.lock().spaces.get(namespace) {
            Some(StoredSpace::Space(space)) => Some(Space::clone(space)),
            _ => None,
        }
    }

    /// Puts a copy back. A store that declares lineage says so from now on.
    pub fn restore(&self, namespace: &Namespace, mut backup: Space) {
        let tells = self.has(Capability::Lineage);
        if self.declaration.expiry == ExpiryClock::StoreLease {
            backup.extend_leases(self.clock.now());
        }
        let mut state = self.lock();
        if tells {
            state.lineage += 1;
            backup.begin_lineage(Lineage(state.lineage));
        }
        state.spaces.insert(namespace.clone(), StoredSpace::Space(Box::new(backup)));
    }

    /// The store after a stop and a start: the same data, and no subscriptions.
    #[must_use]
    pub fn restarted(&self) -> Self {
        let state = self.lock();
        let kept = StoreState {
            spaces: state.spaces.clone(),
            listeners: BTreeMap::new(),
            lineage: state.lineage,
        };
        Self {
            declaration: self.declaration.clone(),
            clock: self.clock.clone(),
            state: Mutex::new(kept),
        }
    }

    /// The process of this boot is gone. A store that declares proof of death knows it at once.
    pub fn process_died(&self, boot: BootId) {
        if !self.has(Capability::DeathProof) {
            return;
        }
        for kept in self.lock().spaces.values_mut() {
            if let StoredSpace::Space(space) = kept {
                space.process_died(boot);
            }
        }
    }

    /// Overwrites the namespace's lease with something that is not a lease.
    pub fn corrupt(&self, namespace: &Namespace) {
        self.lock().spaces.insert(namespace.clone(), StoredSpace::Corrupt);
    }
}

#[async_trait]
impl Backend for MemoryStore {
    fn declaration(&self) -> Declaration {
        self.declaration.clone()
    }

    async fn call(&self, namespace: &Namespace, call: Call) -> Result<Answer, StoreError> {
        if let Some(answer) = Election::check_call(&self.declaration, &call)? {
            return Ok(answer);
        }
        Election::check_answer(namespace, self.answer(namespace, call)?)
    }

    async fn hints(&self, namespace: &Namespace) -> Result<HintStream, StoreError> {
        if !self.has(Capability::Push) {
            return Err(StoreError::Unsupported(Capability::Push));
        }
        let (sender, receiver) = mpsc::channel(HINTS_KEPT);
        self.lock().listeners.entry(namespace.clone()).or_default().push(sender);
        Ok(receiver)
    }

    async fn examine(&self) -> Result<Vec<Finding>, StoreError> {
        let remedy = "for trying things out only; name a store that other processes can see";
        Ok(vec![Finding::warn("keeps", "nothing beyond this process", remedy)])
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use baton_core::protocol::Expiry;

    use super::super::testing;
    use super::*;
    use crate::clock::ManualClock;
    use crate::election::Store;

    const TTL: Duration = Duration::from_secs(10);

    /// What is left of a lease whose copy, kept when it was fresh, comes back after `waited`.
    async fn left_after_restore(expiry: ExpiryClock, waited: Duration) -> Option<Expiry> {
        let clock = Arc::new(ManualClock::default());
        let mut declaration = testing::store(clock.clone()).declaration();
        declaration.expiry = expiry;
        let store = MemoryStore::new(declaration, clock.clone());
        let space = testing::namespace();
        let taken = store.beat(&space, testing::first_claim(TTL)).await;
        assert_eq!(taken.expect("it answers").outcome, Some(Outcome::Applied));
        let copy = store.backup(&space).expect("it was just written to");
        clock.advance(waited);
        store.restore(&space, copy);
        let restored = store.backup(&space).expect("it was just restored");
        restored.snapshot(clock.now()).map(|lease| lease.expiry)
    }

    #[tokio::test]
    async fn a_restored_lease_has_its_time_again_only_where_leases_are_the_stores_own() {
        let left = left_after_restore(ExpiryClock::StoreLease, TTL * 2).await;
        assert_eq!(left, Some(Expiry::Left(TTL)));
        let left = left_after_restore(ExpiryClock::Store, TTL / 2).await;
        assert_eq!(left, Some(Expiry::Left(TTL / 2)));
    }
}
