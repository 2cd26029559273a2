//! The engine: every call becomes one statement, and its answer is read.

use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use baton_core::ids::{Lineage, Namespace};
use baton_core::protocol::{Reply, Request};
use baton_store::{
    Answer, Call, Capability, Class, CounterAnswer, CounterCall, Declaration, ExpiryClock, Finding,
    HintStream, StoreError,
};
use mysql_async::Row;

use super::config::MysqlConfig;
use super::connect::Servers;
use super::error::Fault;
use super::schema::{self, Flavour};
use super::{beat, counters, documents, examine, history, lease, prune, registry, view};
use crate::refusal::Refusal;
use crate::service::Engine;

/// A handle on the servers.
pub(super) struct MysqlEngine {
    pub(super) servers: Servers,
    pub(super) flavour: Flavour,
    /// The highest lineage that a step of this handle was in.
    seen: AtomicU64,
}

impl MysqlEngine {
    /// Connects, looks at what the server is, and sees to the schema.
    pub(super) async fn start(config: MysqlConfig) -> Result<Self, Refusal> {
        let servers = Servers::new(config)?;
        let flavour = examine::first_look(&servers).await?;
        schema::ensure(&servers, flavour).await?;
        Ok(Self { servers, flavour, seen: AtomicU64::new(0) })
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

    async fn core(&self, namespace: &Namespace, request: &Request) -> Result<Reply, StoreError> {
        let (prefix, seen) = (self.servers.config.prefix.as_str(), self.seen());
        let text = match request {
            Request::Beat(beat) => {
                let text = beat::call(prefix, namespace, seen, beat);
                let reply = beat::reply(&self.query(namespace, text).await?, namespace)?;
                return Ok(Reply::Beat(self.saw((reply.lineage, reply))));
            }
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

    async fn hints(&self, _namespace: &Namespace) -> Result<HintStream, StoreError> {
        Err(StoreError::Unsupported(Capability::Push))
    }

    async fn examine(&self) -> Result<Vec<Finding>, StoreError> {
        examine::examine(self).await
    }
}
