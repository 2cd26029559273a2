//! One step: what is remembered or looked up, a transaction that compares all of it, and the
//! records as they are afterwards.
//!
//! A transaction whose comparisons fail has done nothing, for certain, and shows how things are; so
//! it is right to judge again and to try again.

use std::time::Duration;

use baton_core::ids::{Namespace, NodeId};
use baton_core::time::Moment;
use baton_store::StoreError;

use super::engine::EtcdEngine;
use super::keys::Keys;
use super::lease::{Grant, WallMs, whole_seconds};
use super::sight::{Life, Look, Sight};
use super::spare::Due;
use super::wire::{self, Compare, Decimal, Op, OpAnswer, Txn, TxnAnswer};

/// How often a step is tried that others keep getting ahead of.
pub(super) const TRIES: usize = 5;

/// One call on its way.
pub(super) struct Step<'e> {
    engine: &'e EtcdEngine,
    namespace: &'e Namespace,
    look: Look,
    by: Moment,
}

/// What a transaction came to.
pub(super) enum Committed {
    /// It took place; this is how things are now.
    Done(Box<Sight>),
    /// Something was not as remembered; this is how it is.
    Stale(Box<Sight>),
}

impl<'e> Step<'e> {
    /// A step that depends on the lease and the view, and perhaps on a node or a document.
    pub(super) fn new(
        engine: &'e EtcdEngine,
        namespace: &'e Namespace,
        node: Option<&NodeId>,
        document: Option<&str>,
    ) -> Self {
        let view = engine.memories.remembered(namespace).and_then(|memory| memory.sight.view);
        let look = Look {
            keys: Keys::new(&engine.link.config.prefix, namespace),
            namespace: namespace.clone(),
            node: node.cloned(),
            document: document.map(str::to_owned),
            view,
        };
        Self { engine, namespace, look, by: engine.link.deadline() }
    }

    pub(super) fn keys(&self) -> &Keys {
        &self.look.keys
    }

    pub(super) fn wall(&self) -> WallMs {
        WallMs(self.engine.link.clock.wall_ms())
    }

    pub(super) fn now(&self) -> Moment {
        self.engine.link.clock.now()
    }

    /// How things were at the last look, if everything that this step depends on was seen then.
    pub(super) fn remembered(&self) -> Option<Sight> {
        let memory = self.engine.memories.remembered(self.namespace)?;
        if self.look.document.is_some() {
            return None;
        }
        let node = match &self.look.node {
            None => None,
            Some(node) => memory.nodes.get(node)?.clone(),
        };
        Some(Sight { node, ..memory.sight })
    }

    /// Looks.
    pub(super) async fn look(&self) -> Result<Sight, StoreError> {
        let txn = Txn { success: self.look.operations(), ..Txn::default() };
        let before = self.engine.memories.revision();
        let answer: Result<TxnAnswer, _> = self.engine.link.ask("kv/txn", &txn, self.by).await;
        let answer = answer.map_err(super::error::Trouble::of_read)?;
        self.engine.memories.hear(&answer.header, before);
        self.take_in(&answer.responses)
    }

    /// Writes, if nothing of `compare` has changed.
    pub(super) async fn commit(
        &self,
        compare: Vec<Compare>,
        writes: Vec<Op>,
    ) -> Result<Committed, StoreError> {
        let failure = self.look.operations();
        let written = writes.len();
        let success = writes.into_iter().chain(failure.clone()).collect();
        let txn = Txn { compare, success, failure };
        let before = self.engine.memories.revision();
        let answer: Result<TxnAnswer, _> = self.engine.link.ask("kv/txn", &txn, self.by).await;
        let answer = answer.map_err(super::error::Trouble::of_write)?;
        self.engine.memories.hear(&answer.header, before);
        let read = if answer.succeeded { written } else { 0 };
        let sight = self.take_in(answer.responses.get(read..).unwrap_or_default())?;
        Ok(match answer.succeeded {
            true => Committed::Done(Box::new(sight)),
            false => Committed::Stale(Box::new(sight)),
        })
    }

    fn take_in(&self, answers: &[OpAnswer]) -> Result<Sight, StoreError> {
        let sight = self.look.read(answers);
        match &sight {
            Ok(sight) => {
                self.engine.memories.remember(self.namespace, self.look.node.as_ref(), sight);
            }
            // The next step looks before it writes.
            Err(_) => self.engine.memories.forget(self.namespace),
        }
        sight
    }

    /// What is known of the etcd lease that the record names. Asks etcd where this handle cannot
    /// know: on its first look, and when the holder key is gone. A key that somebody deleted by
    /// hand ends no lease; its holder may still trust it.
    pub(super) async fn life(&self, sight: &Sight) -> Life {
        let mut life = self.engine.memories.life(self.namespace);
        let Some(row) = sight.held() else {
            // From now on, whatever lease comes is a new one.
            life.alive = life.alive.or(Some((0, self.now())));
            self.engine.memories.keep_life(self.namespace, life);
            return life;
        };
        let known = life.alive.is_some_and(|(lease, _)| lease == row.lease);
        if sight.is_live() && life.alive.is_some() {
            if !known {
                life.alive = Some((row.lease, self.now() + row.granted));
            }
        } else if life.gone != Some(row.lease) {
            match self.left(row.lease).await {
                Some(None) => life.gone = Some(row.lease),
                Some(Some(left)) => {
                    let until = self.now() + left.min(row.granted);
                    life.alive = Some((row.lease, until));
                }
                None => {}
            }
        }
        self.engine.memories.keep_life(self.namespace, life);
        life
    }

    /// What etcd says is left of a lease, the second that has begun included; `None` if it does not
    /// say, `Some(None)` if the lease is gone.
    pub(super) async fn left(&self, lease: i64) -> Option<Option<Duration>> {
        let query = wire::OfLease { id: Decimal(lease) };
        let answer: Result<wire::TimeToLive, _> =
            self.engine.link.ask("lease/timetolive", &query, self.by).await;
        let seconds = answer.ok()?.ttl.0;
        Some(u64::try_from(seconds).ok().map(|whole| Duration::from_secs(whole + 1)))
    }

    /// The spare, if it serves; else a lease that is granted now.
    pub(super) async fn lease_at_hand(&self, ttl: Duration) -> Result<Grant, StoreError> {
        match self.engine.memories.spend_spare(self.namespace, ttl, self.now()) {
            Some(spare) => {
                self.leave(Due::OwnLease(spare.id));
                Ok(spare)
            }
            None => self.grant(ttl).await,
        }
    }

    /// Leaves this to be done once the call is answered.
    pub(super) fn leave(&self, due: Due) {
        self.engine.memories.leave_due(self.namespace, due);
    }

    /// An etcd lease of at least this length. It is nobody's until a transaction says so, and ends
    /// by itself if none does.
    pub(super) async fn grant(&self, ttl: Duration) -> Result<Grant, StoreError> {
        let query = wire::Grant { ttl: Decimal(whole_seconds(ttl)) };
        let answer: Result<wire::Granted, _> =
            self.engine.link.ask("lease/grant", &query, self.by).await;
        let granted = answer.map_err(super::error::Trouble::of_read)?;
        let seconds = u64::try_from(granted.ttl.0).unwrap_or(0);
        let ttl_granted = Duration::from_secs(seconds);
        if granted.id.0 == 0 || ttl_granted < ttl.min(Duration::from_secs(9_000_000_000)) {
            let detail = format!("etcd granted {seconds} s of the {ttl:?} that were asked for");
            return Err(StoreError::Refused { detail });
        }
        Ok(Grant { id: granted.id.0, ttl: ttl_granted })
    }
}

/// Others were ahead of it too often.
pub(super) fn crowded() -> StoreError {
    let detail = format!("others wrote first, {TRIES} times in a row");
    StoreError::Throttled { detail }
}
