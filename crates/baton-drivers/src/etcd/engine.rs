//! The driver on its thread: takes each call to where it is answered, and remembers what was seen.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use baton_core::ids::{Namespace, NodeId};
use baton_core::protocol::{Reply, Request};
use baton_core::time::Moment;
use baton_store::{
    Answer, Call, Capability, Class, Declaration, ExpiryClock, Finding, HintStream, StoreError,
};
use tokio::task::JoinSet;

use super::connect::Link;
use super::lease::Grant;
use super::sight::{Life, Memory, Sight};
use super::spare::{Due, Spare};
use super::wire::Header;
use super::{beat, documents, examine, hints, history, inspect, prune, registry, spare, view};
use crate::service::Engine;

/// The driver.
pub(super) struct EtcdEngine {
    pub(super) link: Arc<Link>,
    memories: Mutex<Memories>,
    /// One task a listener.
    listeners: Mutex<JoinSet<()>>,
}

#[derive(Default)]
struct Memories {
    spaces: BTreeMap<Namespace, Memory>,
    /// Which cluster, and the highest revision of it that an answer came from.
    cluster: u64,
    revision: i64,
}

impl EtcdEngine {
    pub(super) fn new(link: Link) -> Self {
        let (memories, listeners) = (Mutex::default(), Mutex::default());
        Self { link: Arc::new(link), memories, listeners }
    }

    fn memories(&self) -> MutexGuard<'_, Memories> {
        self.memories.lock().expect("no holder of this lock panics")
    }

    pub(super) fn remembered(&self, namespace: &Namespace) -> Option<Memory> {
        self.memories().spaces.get(namespace).cloned()
    }

    pub(super) fn remember(&self, namespace: &Namespace, node: Option<&NodeId>, sight: &Sight) {
        let mut memories = self.memories();
        let memory = memories.spaces.entry(namespace.clone()).or_default();
        if let Some(node) = node {
            memory.nodes.insert(node.clone(), sight.node.clone());
        }
        memory.sight = Sight { node: None, document: None, ..sight.clone() };
    }

    pub(super) fn forget(&self, namespace: &Namespace) {
        self.memories().spaces.remove(namespace);
    }

    pub(super) fn forget_node(&self, namespace: &Namespace, node: &NodeId) {
        if let Some(memory) = self.memories().spaces.get_mut(namespace) {
            memory.nodes.remove(node);
        }
    }

    pub(super) fn life(&self, namespace: &Namespace) -> Life {
        self.memories().spaces.get(namespace).map(|memory| memory.life).unwrap_or_default()
    }

    pub(super) fn keep_life(&self, namespace: &Namespace, life: Life) {
        if let Some(memory) = self.memories().spaces.get_mut(namespace) {
            memory.life = life;
        }
    }

    pub(super) fn keep_spare(&self, namespace: &Namespace, spare: Spare) {
        if let Some(memory) = self.memories().spaces.get_mut(namespace) {
            memory.spare = Some(spare);
        }
    }

    /// Is there a spare that serves for so long?
    pub(super) fn has_spare(&self, namespace: &Namespace, ttl: Duration) -> bool {
        let now = self.link.clock.now();
        let spare = self.memories().spaces.get(namespace).and_then(|memory| memory.spare);
        spare.is_some_and(|spare| spare.serves(ttl, now))
    }

    /// That spare. It is somebody's now.
    pub(super) fn spend_spare(&self, namespace: &Namespace, ttl: Duration) -> Option<Grant> {
        let now = self.link.clock.now();
        let spare = self.memories().spaces.get_mut(namespace)?.spare.take();
        spare.filter(|spare| spare.serves(ttl, now)).map(|spare| spare.grant)
    }

    /// Remembers what is to be done once the call at hand is answered.
    pub(super) fn leave_due(&self, namespace: &Namespace, due: Due) {
        if let Some(memory) = self.memories().spaces.get_mut(namespace) {
            memory.due = Some(due);
        }
    }

    fn take_due(&self, namespace: &Namespace) -> Option<Due> {
        self.memories().spaces.get_mut(namespace)?.due.take()
    }

    /// Since when each of these nodes' records is known at the revision it has now.
    pub(super) fn unwritten_since(
        &self,
        namespace: &Namespace,
        nodes: &[(NodeId, i64)],
        now: Moment,
    ) -> Vec<Moment> {
        let mut memories = self.memories();
        let memory = memories.spaces.entry(namespace.clone()).or_default();
        let known = std::mem::take(&mut memory.unwritten);
        let since = |(node, revision): &(NodeId, i64)| match known.get(node) {
            Some((at, since)) if at == revision => *since,
            _ => now,
        };
        let since: Vec<Moment> = nodes.iter().map(since).collect();
        let noted = nodes.iter().zip(&since);
        memory.unwritten = noted.map(|((node, at), since)| (node.clone(), (*at, *since))).collect();
        since
    }

    /// The highest revision heard of.
    pub(super) fn revision(&self) -> i64 {
        self.memories().revision
    }

    /// An answer to a request that was sent when `before` was the highest revision. A lower one, or
    /// another cluster, means that the data went back: nothing remembered holds.
    pub(super) fn hear(&self, header: &Header, before: i64) {
        let mut memories = self.memories();
        let (cluster, revision) = (header.cluster_id.0, header.revision.0);
        if memories.cluster != cluster || revision < before {
            *memories = Memories { cluster, revision, ..Memories::default() };
        }
        memories.revision = memories.revision.max(revision);
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
            Call::Counters(_) => Err(StoreError::Unsupported(Capability::Counters)),
            Call::History { limit } => {
                history::newest(self, namespace, limit).await.map(Answer::History)
            }
            Call::Prune { fence, prune } => {
                prune::prune(self, namespace, fence, prune).await.map(Answer::Pruned)
            }
        }
    }

    async fn afterwards(&self, namespace: &Namespace) {
        if let Some(due) = self.take_due(namespace) {
            // What did not succeed is due again after the next beat.
            drop(spare::settle(self, namespace, due).await);
        }
    }

    async fn hints(&self, namespace: &Namespace) -> Result<HintStream, StoreError> {
        let (stream, listening) = hints::listen(Arc::clone(&self.link), namespace).await?;
        let mut listeners = self.listeners.lock().expect("no holder of this lock panics");
        while listeners.try_join_next().is_some() {}
        listeners.spawn(listening);
        Ok(stream)
    }

    async fn examine(&self) -> Result<Vec<Finding>, StoreError> {
        examine::examine(&self.link).await
    }
}
