//! The driver on its thread: takes each call to where it is answered.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_core::protocol::{Reply, Request};
use baton_store::{
    Answer, Call, Capability, Class, Declaration, ExpiryClock, Finding, HintStream, StoreError,
};
use tokio::task::JoinSet;

use super::connect::Link;
use super::memory::Memories;
use super::{beat, documents, examine, hints, history, inspect, prune, registry, spare, view};
use crate::service::Engine;

/// The driver.
pub(super) struct EtcdEngine {
    pub(super) link: Arc<Link>,
    pub(super) memories: Arc<Memories>,
    /// One task a listener.
    listeners: Mutex<JoinSet<()>>,
}

impl EtcdEngine {
    pub(super) fn new(link: Link) -> Self {
        let (memories, listeners) = (Arc::default(), Mutex::default());
        Self { link: Arc::new(link), memories, listeners }
    }

    async fn core(&self, namespace: &Namespace, request: Request) -> Result<Reply, StoreError> {
        Ok(Reply::Done(match request {
            Request::Beat(beat) => {
                return beat::beat(self, namespace, beat).await.map(Reply::Beat);
            }
            Request::ReadMembers => {
                return registry::members(self, namespace).await.map(Reply::Members);
            }
            Request::PublishView { fence, view } => {
                view::publish(self, namespace, fence, view).await?
            }
            Request::Release(release) => beat::release(self, namespace, release).await?,
            Request::Leave { node, boot } => registry::leave(self, namespace, &node, boot).await?,
            Request::Ask { epoch, ask } => beat::ask(self, namespace, epoch, ask).await?,
        }))
    }
}

#[async_trait]
impl Engine for EtcdEngine {
    fn declaration(&self) -> Declaration {
        Declaration {
            name: "etcd".to_owned(),
            class: Class::Linearizable,
            expiry: ExpiryClock::StoreLease,
            capabilities: [Capability::Push].into(),
        }
    }

    async fn call(&self, namespace: &Namespace, call: Call) -> Result<Answer, StoreError> {
        match call {
            Call::Core(request) => self.core(namespace, request).await.map(Answer::Core),
            Call::Inspect => inspect::inspect(self, namespace).await.map(Answer::Inspected),
            Call::ReadDocument { name } => {
                documents::read(self, namespace, &name).await.map(Answer::Document)
            }
            Call::WriteDocument { name, body, precondition, fence } => {
                let written =
                    documents::write(self, namespace, &name, &body, precondition, fence).await;
                written.map(Answer::Written)
            }
            Call::Counters(_) => unreachable!("counters are not declared"),
            Call::History { limit } => {
                history::newest(self, namespace, limit).await.map(Answer::History)
            }
            Call::Prune { fence, prune } => {
                prune::prune(self, namespace, fence, prune).await.map(Answer::Pruned)
            }
        }
    }

    async fn afterwards(&self, namespace: &Namespace) {
        if let Some(due) = self.memories.take_due(namespace) {
            // What did not succeed is due again after the next beat.
            drop(spare::settle(self, namespace, due).await);
        }
    }

    async fn hints(&self, namespace: &Namespace) -> Result<HintStream, StoreError> {
        let (stream, listening) = hints::listen(&self.link, &self.memories, namespace).await?;
        let mut listeners = self.listeners.lock().expect("no holder of this lock panics");
        while listeners.try_join_next().is_some() {}
        listeners.spawn(listening);
        Ok(stream)
    }

    async fn examine(&self) -> Result<Vec<Finding>, StoreError> {
        examine::examine(&self.link).await
    }
}
