//! Where a case plays: a namespace of its own, and the peers that take part.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use baton_core::ids::{BootId, Namespace};
use baton_core::protocol::{Claim, Expiry, LeaseSnapshot, Member, TermRecord, Version};

use super::case::{CaseError, Check, holds, present, same};
use super::peer::{Peer, shown};
use super::subject::{Conforms, Subject, SuiteSettings};
use crate::capability::ExpiryClock;
use crate::contract::Backend;
use crate::election::{Election, Store};

/// The boot of the peer that only looks.
const ONLOOKER: BootId = BootId(u128::MAX);

pub(super) struct Stage<'a, C: Conforms = Election> {
    pub(super) subject: &'a dyn Subject<C>,
    pub(super) namespace: Namespace,
    pub(super) settings: SuiteSettings,
    pub(super) declaration: C::Declaration,
    boots: AtomicU64,
    passed: Mutex<Duration>,
}

impl<'a, C: Conforms> Stage<'a, C> {
    pub(super) async fn set(
        subject: &'a dyn Subject<C>,
        label: &str,
        settings: SuiteSettings,
    ) -> Self {
        Self {
            subject,
            namespace: subject.namespace(label),
            settings,
            declaration: subject.open().await.declaration(),
            boots: AtomicU64::new(0),
            passed: Mutex::default(),
        }
    }

    pub(super) async fn pass(&self, span: Duration) {
        self.subject.pass(span).await;
        *self.passed.lock().expect("no holder panics") += span;
    }

    /// How much time the case let pass on purpose.
    pub(super) fn passed(&self) -> Duration {
        *self.passed.lock().expect("no holder panics")
    }

    /// Lets so much time pass that a lease written just now is over.
    pub(super) async fn expire(&self) {
        self.pass(self.settings.ttl + self.settings.lateness).await;
    }
}

impl Stage<'_> {
    /// A new process of a node, with a handle of its own.
    pub(super) async fn peer(&self, name: &str) -> Peer {
        self.peer_on(self.subject.open().await, &self.namespace, name)
    }

    /// A new process of a node in another namespace.
    pub(super) async fn peer_in(&self, namespace: &Namespace, name: &str) -> Peer {
        self.peer_on(self.subject.open().await, namespace, name)
    }

    /// A new process of a node that goes by this handle.
    pub(super) fn peer_on(&self, store: Arc<dyn Store>, namespace: &Namespace, name: &str) -> Peer {
        let number = u128::from(self.boots.fetch_add(1, Ordering::Relaxed)) + 1;
        // All 128 bits matter: a store that keeps fewer mistakes one boot for another.
        let boot = BootId((0x9000 + number) << 112 | number);
        Peer::new(store, namespace.clone(), name, boot, self.settings.ttl)
    }

    /// A new process that has just taken the vacant lease.
    pub(super) async fn holder(&self, name: &str) -> Result<(Peer, Version), CaseError> {
        let mut peer = self.peer(name).await;
        let version = peer.take(Claim::Vacant).await?;
        Ok((peer, version))
    }

    /// Terms come and go until this one, which is held.
    pub(super) async fn holder_at(&self, epoch: u64) -> Result<(Peer, Version), CaseError> {
        for _ in 1..epoch {
            let (mut peer, held) = self.holder(&format!("past-{epoch}")).await?;
            peer.resign(held).await?;
            peer.store.leave(&self.namespace, peer.id(), peer.boot()).await?;
        }
        let (peer, held) = self.holder("holder").await?;
        same("the epoch so far", held.epoch.0, epoch)?;
        Ok((peer, held))
    }

    /// The lease as an onlooker sees it.
    pub(super) async fn lease(&self) -> Result<LeaseSnapshot, CaseError> {
        let store = self.subject.open().await;
        let namespace = self.namespace.clone();
        let mut onlooker = Peer::new(store, namespace, "onlooker", ONLOOKER, self.settings.ttl);
        Ok(shown(&onlooker.look().await?)?.clone())
    }

    /// The term history, the newest first.
    pub(super) async fn terms(&self) -> Result<Vec<TermRecord>, CaseError> {
        let store = self.subject.open().await;
        Ok(store.history(&self.namespace, 100).await?)
    }

    /// The newest term.
    pub(super) async fn last_term(&self) -> Result<TermRecord, CaseError> {
        present("the newest term", self.terms().await?.into_iter().next())
    }

    /// The reply must tell how much is left, or that only the observer can tell.
    pub(super) fn is_live(&self, lease: &LeaseSnapshot) -> Check {
        match (self.declaration.expiry, lease.expiry) {
            (ExpiryClock::Observer, told) => same("the expiry", told, Expiry::Observer),
            (_, told) => {
                let most = self.settings.ttl + self.settings.lateness;
                let sound = |left: Duration| !left.is_zero() && left <= most;
                let test = matches!(told, Expiry::Left(left) if sound(left));
                let wanted = format!("between nothing and {most:?} left");
                holds("the expiry", &told, &wanted, test)
            }
        }
    }

    /// The names of all nodes in the registry, sorted.
    pub(super) async fn member_names(
        &self,
        namespace: &Namespace,
    ) -> Result<Vec<String>, CaseError> {
        let members = self.subject.open().await.members(namespace).await?;
        let name = |member: Member| member.record.id.to_string();
        let mut names: Vec<String> = members.into_iter().map(name).collect();
        names.sort();
        Ok(names)
    }
}
