//! The driver on its thread, and one call on its way: what is cached or read, a transaction that
//! compares all of it, and the records as they are afterwards.
//!
//! A transaction whose comparisons fail has done nothing, for certain, and shows how things are; so
//! it is right to judge again and to try again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use baton_core::ids::{Namespace, NodeId};
use baton_core::protocol::View;
use baton_core::time::Moment;
use baton_store::clock::{Clock, SystemClock};
use baton_store::{
    Answer, Call, Capability, Class, Declaration, Document, ExpiryClock, Finding, HintStream,
    StoreError,
};
use tokio::task::JoinSet;

use super::cache::{Cache, CachedNamespace};
use super::connect::Connection;
use super::error::GatewayError;
use super::lease::{Grant, whole_seconds};
use super::namespace_state::{KnownLeases, NamespaceState, stored};
use super::records::Stored;
use super::schema::Keys;
use super::wire::{Compare, EtcdLease, Op, OpAnswer, Range, Txn, TxnAnswer};
use super::{NAME, examine, hints};
use crate::driver::DriverError;
use crate::service::Engine;

/// How often a call is tried while other writers are ahead of it.
pub(super) const ATTEMPTS: usize = 5;

pub(super) struct EtcdEngine {
    pub(super) connection: Arc<Connection>,
    pub(super) cache: Arc<Cache>,
    /// One task a receiver of hints.
    pub(super) watches: Mutex<JoinSet<()>>,
}

#[async_trait]
impl Engine for EtcdEngine {
    fn declaration(&self) -> Declaration {
        Declaration {
            name: NAME.to_owned(),
            class: Class::Linearizable,
            expiry: ExpiryClock::StoreLease,
            capabilities: [Capability::Push].into(),
        }
    }

    async fn call(&self, namespace: &Namespace, call: Call) -> Result<Answer, StoreError> {
        CallContext::new(self, namespace).perform(call).await
    }

    async fn afterwards(&self, namespace: &Namespace) {
        if let Some(due) = self.cache.with(namespace, |cached| cached.follow_up.take()) {
            // What did not succeed is due again after the next beat.
            drop(CallContext::new(self, namespace).follow_up(due).await);
        }
    }

    async fn hints(&self, namespace: &Namespace) -> Result<HintStream, StoreError> {
        let (stream, watch) = hints::watch(&self.connection, &self.cache, namespace).await?;
        let mut watches = self.watches.lock().expect("no holder of this lock panics");
        while watches.try_join_next().is_some() {}
        watches.spawn(watch);
        Ok(stream)
    }

    async fn examine(&self) -> Result<Vec<Finding>, StoreError> {
        examine::examine(&self.connection).await
    }
}

pub(super) struct CallContext<'e> {
    pub(super) engine: &'e EtcdEngine,
    pub(super) namespace: &'e Namespace,
    pub(super) keys: Keys,
    /// The node and the documents that this call rests on too.
    pub(super) node: Option<NodeId>,
    pub(super) documents: Vec<String>,
    /// The view as it is known; it is read only if there is another.
    view: Option<Stored<Arc<View>>>,
    deadline: Moment,
}

/// What a call makes of the state it finds.
pub(super) enum Plan<T> {
    /// Nothing is to be written, and this is the answer: if it still is after a read.
    Answer(T),
    /// If nothing of the comparisons has changed, the writes take place, and this is the answer.
    Write(Vec<Compare>, Vec<Op>, T),
}

impl<'e> CallContext<'e> {
    /// A call that rests on the lease and the view.
    pub(super) fn new(engine: &'e EtcdEngine, namespace: &'e Namespace) -> Self {
        Self {
            engine,
            namespace,
            keys: Keys::new(&engine.connection.config.prefix, namespace),
            node: None,
            documents: Vec::new(),
            view: engine.cache.with(namespace, |cached| cached.state.as_ref()?.view.clone()),
            deadline: engine.connection.deadline(),
        }
    }

    /// How things were at the last read, if everything that this call rests on was seen then.
    pub(super) fn cached(&self) -> Option<NamespaceState> {
        if !self.documents.is_empty() {
            return None;
        }
        self.engine.cache.with(self.namespace, |cached| {
            let node = match &self.node {
                None => None,
                Some(node) => cached.nodes.get(node)?.clone(),
            };
            Some(NamespaceState { node, ..cached.state.clone()? })
        })
    }

    /// How things are as far as is known, and whether they were read just now.
    pub(super) async fn cached_or_read(&self) -> Result<(NamespaceState, bool), StoreError> {
        match self.cached() {
            Some(state) => Ok((state, false)),
            None => Ok((self.read().await?, true)),
        }
    }

    pub(super) async fn read(&self) -> Result<NamespaceState, StoreError> {
        let success = self.operations().chain(self.document_operations()).collect();
        let txn = Txn { success, ..Txn::default() };
        let answer = self.send(&txn).await.map_err(GatewayError::of_read)?;
        self.take_in(&answer.responses)
    }

    /// Writes, if nothing of `compare` has changed. Says whether it did, and how things are now.
    /// The documents are shown only if it did not: what was just sent need not come back.
    pub(super) async fn commit(
        &self,
        compare: Vec<Compare>,
        writes: Vec<Op>,
    ) -> Result<(bool, NamespaceState), StoreError> {
        let failure = self.operations().chain(self.document_operations()).collect();
        let written = writes.len();
        let success = writes.into_iter().chain(self.operations()).collect();
        let txn = Txn { compare, success, failure };
        let answer = self.send(&txn).await.map_err(DriverError::from)?;
        let skipped = if answer.succeeded { written } else { 0 };
        let state = self.take_in(answer.responses.get(skipped..).unwrap_or_default())?;
        Ok((answer.succeeded, state))
    }

    /// Carries out what is planned for the state as it is known. Without a write the answer is only
    /// given for a state that was read; and a write that came too late is planned again.
    pub(super) async fn carry_out<T>(
        &self,
        plan: impl Fn(&NamespaceState) -> Plan<T>,
    ) -> Result<T, StoreError> {
        let (mut state, mut is_fresh) = self.cached_or_read().await?;
        for _ in 0..ATTEMPTS {
            (state, is_fresh) = match plan(&state) {
                Plan::Answer(answer) if is_fresh => return Ok(answer),
                Plan::Answer(_) => (self.read().await?, true),
                Plan::Write(compare, writes, answer) => match self.commit(compare, writes).await? {
                    (true, _) => return Ok(answer),
                    (false, now) => (now, true),
                },
            };
        }
        Err(overtaken(ATTEMPTS))
    }

    pub(super) async fn send(&self, txn: &Txn) -> Result<TxnAnswer, GatewayError> {
        let before = self.engine.cache.revision();
        let answer: TxnAnswer = self.engine.connection.ask_by("kv/txn", txn, self.deadline).await?;
        self.engine.cache.note(&answer.header, before);
        Ok(answer)
    }

    /// The operations that read all that this call rests on but its documents.
    fn operations(&self) -> impl Iterator<Item = Op> {
        let keys = &self.keys;
        let known = self.view.as_ref().map_or(0, |stored| stored.revision);
        let mut ranges = vec![
            Range::key(&keys.lease),
            Range::key(&keys.holder),
            Range::key(&keys.fence),
            Range::key_after(&keys.view, known),
        ];
        ranges.extend(self.node.iter().map(|node| Range::key(&keys.node(node))));
        ranges.into_iter().map(Op::range)
    }

    /// The operations that read its documents.
    pub(super) fn document_operations(&self) -> impl Iterator<Item = Op> {
        let key = |name: &String| Op::range(Range::key(&self.keys.document(name)));
        self.documents.iter().map(key)
    }

    /// Their answers, in the same order.
    fn state_of(&self, answers: &[OpAnswer]) -> Result<NamespaceState, StoreError> {
        let space = self.namespace;
        let mut answers = answers.iter();
        let mut state = NamespaceState {
            lease: stored(answers.next(), || format!("the lease of namespace {space}"))?,
            holder: stored(answers.next(), || format!("the holder key of namespace {space}"))?,
            fence: stored(answers.next(), || format!("the fence of namespace {space}"))?,
            ..NamespaceState::default()
        };
        let view = answers.next();
        state.view = stored(view, || format!("the view of namespace {space}"))?;
        if state.view.is_none() && view.is_some_and(|answer| answer.response_range.count > 0) {
            state.view.clone_from(&self.view);
        }
        if let Some(node) = &self.node {
            state.node = stored(answers.next(), || format!("node {node} of namespace {space}"))?;
        }
        state.documents = self.documents_of(answers)?;
        Ok(state)
    }

    /// The documents in these answers, in the order of their names.
    pub(super) fn documents_of<'a>(
        &self,
        answers: impl Iterator<Item = &'a OpAnswer>,
    ) -> Result<Vec<Option<Stored<Document>>>, StoreError> {
        let found = self.documents.iter().zip(answers).map(|(name, answer)| {
            stored(Some(answer), || format!("document {name:?} of namespace {}", self.namespace))
        });
        found.collect()
    }

    fn take_in(&self, answers: &[OpAnswer]) -> Result<NamespaceState, StoreError> {
        let (cache, state) = (&self.engine.cache, self.state_of(answers));
        match &state {
            Ok(state) => cache.keep_state(self.namespace, self.node.as_ref(), state),
            // The next call reads before it writes.
            Err(_) => cache.with(self.namespace, |cached| *cached = CachedNamespace::default()),
        }
        state
    }

    /// What is known of the etcd lease that the record names. Asks etcd where this handle cannot
    /// know: on its first look, and when the holder key is gone. A key that was deleted by hand
    /// ends no lease; its holder may still trust it.
    pub(super) async fn known_leases(&self, state: &NamespaceState) -> KnownLeases {
        let cache = &self.engine.cache;
        let mut leases = cache.with(self.namespace, |cached| cached.leases);
        match state.held() {
            // From now on, any lease that comes is a new one.
            None => leases.alive = leases.alive.or(Some((0, SystemClock.now()))),
            Some(row) if state.is_live() && leases.alive.is_some() => {
                if leases.alive.is_none_or(|(lease, _)| lease != row.lease) {
                    leases.alive = Some((row.lease, SystemClock.now() + row.granted));
                }
            }
            Some(row) if leases.gone != Some(row.lease) => match self.left(row.lease).await {
                Some(None) => leases.gone = Some(row.lease),
                Some(Some(left)) => {
                    leases.alive = Some((row.lease, SystemClock.now() + left.min(row.granted)));
                }
                None => {}
            },
            Some(_) => {}
        }
        cache.with(self.namespace, |cached| cached.leases = leases);
        leases
    }

    /// What etcd says is left of a lease, the second that has begun included; `None` if it does not
    /// say, `Some(None)` if the lease is gone.
    async fn left(&self, lease: i64) -> Option<Option<Duration>> {
        let query = BTreeMap::from([("ID", lease.to_string())]);
        let answer = self.engine.connection.ask_by("lease/timetolive", &query, self.deadline);
        let answer: EtcdLease = answer.await.ok()?;
        Some(u64::try_from(answer.ttl).ok().map(|whole| Duration::from_secs(whole + 1)))
    }

    /// An etcd lease of at least this length. It belongs to no term until a transaction says so,
    /// and ends by itself if none does.
    pub(super) async fn grant(&self, ttl: Duration) -> Result<Grant, StoreError> {
        let query = BTreeMap::from([("TTL", whole_seconds(ttl).to_string())]);
        let answer = self.engine.connection.ask_by("lease/grant", &query, self.deadline);
        let granted: EtcdLease = answer.await.map_err(GatewayError::of_read)?;
        let seconds = u64::try_from(granted.ttl).unwrap_or(0);
        let ttl_granted = Duration::from_secs(seconds);
        if granted.id == 0 || ttl_granted < ttl.min(Duration::from_secs(9_000_000_000)) {
            let detail = format!("etcd granted {seconds} s of the {ttl:?} that were asked for");
            return Err(StoreError::Refused { detail });
        }
        Ok(Grant { id: granted.id, ttl: ttl_granted })
    }
}

pub(super) fn overtaken(attempts: usize) -> StoreError {
    let detail = format!("other processes wrote first, {attempts} times in a row");
    StoreError::Throttled { detail }
}
