//! The engine: every call becomes one statement, and its answer is read.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use async_trait::async_trait;
use baton_core::ids::{Lineage, Namespace};
use baton_core::protocol::{BeatReply, BeatRequest, LeaseIntent, Outcome, Reply, Request};
use baton_store::{
    Answer, Call, Capability, Class, CounterAnswer, CounterCall, Declaration, ExpiryClock, Finding,
    Operation, StoreError,
};
use mysql_async::Row;

use super::config::MysqlConfig;
use super::connect::Servers;
use super::error::Fault;
use super::schema::{self, Flavour};
use super::{beat, counters, documents, examine, history, lease, prune, registry, view};
use crate::driver::SeenLeases;
use crate::reader::Access;
use crate::refusal::Refusal;
use crate::service::Engine;

/// A handle on the servers.
pub(super) struct MysqlEngine {
    pub(super) servers: Servers,
    pub(super) flavour: Flavour,
    /// Is the schema known to be there? Only a reader may find none.
    is_there: AtomicBool,
    /// The highest lineage that a step of this handle was in.
    seen: AtomicU64,
    leases: SeenLeases,
}

impl MysqlEngine {
    /// Connects, looks at what the server is, and sees to the schema. A reader only looks.
    pub(super) async fn start(config: MysqlConfig, access: Access) -> Result<Self, Refusal> {
        let servers = Servers::new(config)?;
        let flavour = examine::first_look(&servers).await?;
        let is_there = match access {
            Access::Read => schema::look(&servers).await?,
            Access::Write => schema::ensure(&servers, flavour).await.map(|()| true)?,
        };
        let (is_there, seen) = (AtomicBool::new(is_there), AtomicU64::new(0));
        Ok(Self { servers, flavour, is_there, seen, leases: SeenLeases::default() })
    }

    /// Is there anything to read? What was not there may have been made since.
    async fn is_there(&self) -> Result<bool, StoreError> {
        if !self.is_there.load(Ordering::Relaxed) {
            let found = schema::look(&self.servers).await;
            let told = |refusal: Refusal| StoreError::Refused { detail: refusal.to_string() };
            self.is_there.store(found.map_err(told)?, Ordering::Relaxed);
        }
        Ok(self.is_there.load(Ordering::Relaxed))
    }

    fn seen(&self) -> Lineage {
        Lineage(self.seen.load(Ordering::Relaxed))
    }

    fn saw<T>(&self, (lineage, it): (Lineage, T)) -> T {
        self.seen.fetch_max(lineage.0, Ordering::Relaxed);
        it
    }

    async fn query(&self, namespace: &Namespace, text: String) -> Result<Vec<Row>, StoreError> {
        let outcome = self.servers.query(text).await;
        outcome.map_err(|fault: Fault| fault.store_error(&self.servers.place(), Some(namespace)))
    }

    async fn count(
        &self,
        namespace: &Namespace,
        call: &CounterCall,
    ) -> Result<CounterAnswer, StoreError> {
        let prefix = self.servers.config.prefix.as_str();
        let Some(text) = counters::statement(prefix, namespace, self.seen(), call) else {
            return Ok(CounterAnswer::Readings(Vec::new()));
        };
        let rows = self.query(namespace, text).await?;
        let (lineage, answer) = counters::answer(&rows, namespace, call)?;
        Ok(self.saw((lineage.unwrap_or(self.seen()), answer)))
    }

    /// One round trip. A second one only if the data went back, to begin a new lineage: the first
    /// has written nothing then but the node record, as no claim or renewal fits an earlier lease.
    async fn beat(
        &self,
        namespace: &Namespace,
        beat: &BeatRequest,
    ) -> Result<BeatReply, StoreError> {
        let before = self.leases.of(namespace);
        let reply = self.beat_once(namespace, beat).await?;
        if !before.is_some_and(|seen| seen.is_ahead_of(&reply)) {
            self.leases.note(namespace, &reply);
            return Ok(reply);
        }
        // From now on every step of this handle begins a lineage above the one that is there.
        self.seen.fetch_max(reply.lineage.0.saturating_add(1), Ordering::Relaxed);
        if reply.outcome == Some(Outcome::Applied) {
            return Ok(reply);
        }
        let look = BeatRequest { lease: LeaseIntent::Observe, ..beat.clone() };
        let shown = self.beat_once(namespace, &look).await?;
        self.leases.note(namespace, &shown);
        Ok(BeatReply { outcome: reply.outcome, ..shown })
    }

    async fn beat_once(
        &self,
        namespace: &Namespace,
        beat: &BeatRequest,
    ) -> Result<BeatReply, StoreError> {
        let text = beat::call(&self.servers.config.prefix, namespace, self.seen(), beat);
        let reply = beat::reply(&self.query(namespace, text).await?, namespace)?;
        Ok(self.saw((reply.lineage, reply)))
    }

    async fn core(&self, namespace: &Namespace, request: &Request) -> Result<Reply, StoreError> {
        let (prefix, seen) = (self.servers.config.prefix.as_str(), self.seen());
        let text = match request {
            Request::Beat(beat) => return self.beat(namespace, beat).await.map(Reply::Beat),
            Request::ReadMembers => {
                let text = registry::read(prefix, namespace);
                let rows = self.query(namespace, text).await?;
                return registry::members(&rows, namespace).map(Reply::Members);
            }
            Request::PublishView { fence, view } => {
                view::publish(prefix, namespace, seen, *fence, view)
            }
            Request::Release(release) => lease::release(prefix, namespace, seen, release),
            Request::Leave { node, boot } => registry::leave(prefix, namespace, seen, node, *boot),
            Request::Ask { epoch, ask } => lease::ask(prefix, namespace, seen, *epoch, ask),
        };
        let rows = self.query(namespace, text).await?;
        let outcome = lease::outcome(&rows, &lease::record(namespace))?;
        Ok(Reply::Done(self.saw(outcome)))
    }
}

#[async_trait]
impl Engine for MysqlEngine {
    fn declaration(&self) -> Declaration {
        Declaration {
            name: "mysql".to_owned(),
            class: Class::SingleServer,
            expiry: ExpiryClock::Store,
            capabilities: [Capability::MemberAge, Capability::Lineage, Capability::Counters].into(),
        }
    }

    async fn call(&self, namespace: &Namespace, call: Call) -> Result<Answer, StoreError> {
        if let Some(nothing) = call.answer_when_empty()
            && !self.is_there().await?
        {
            return Ok(nothing);
        }
        let prefix = self.servers.config.prefix.as_str();
        Ok(match call {
            Call::Core(request) => Answer::Core(self.core(namespace, &request).await?),
            Call::Inspect => {
                let identity = self.flavour.identity();
                let text = view::inspect(prefix, identity, namespace, self.seen());
                let rows = self.query(namespace, text).await?;
                Answer::Inspected(view::inspection(&rows, namespace)?)
            }
            Call::ReadDocument { name } => {
                let text = documents::read(prefix, namespace, &name);
                let rows = self.query(namespace, text).await?;
                Answer::Document(documents::document(&rows, namespace, &name)?)
            }
            Call::WriteDocument { name, body, precondition, fence } => {
                let place = (namespace, name.as_str());
                let text = documents::write(prefix, place, self.seen(), &body, precondition, fence);
                let rows = self.query(namespace, text).await?;
                Answer::Written(self.saw(documents::written(&rows, namespace, &name)?))
            }
            Call::History { limit } => {
                let text = history::read(prefix, namespace, limit);
                let rows = self.query(namespace, text).await?;
                Answer::History(history::terms(&rows, namespace)?)
            }
            Call::Counters(call) => Answer::Counters(self.count(namespace, &call).await?),
            Call::Prune { fence, prune } => {
                let text = prune::call(prefix, namespace, self.seen(), fence, &prune);
                let rows = self.query(namespace, text).await?;
                Answer::Pruned(self.saw(prune::outcome(&rows, namespace)?))
            }
        })
    }

    async fn examine(&self) -> Result<Vec<Finding>, StoreError> {
        examine::examine(self).await
    }
}
