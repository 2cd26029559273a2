//! What runs on the driver's thread: every call becomes one step.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_core::protocol::{Outcome, Reply, Request};
use baton_store::memory::Space;
use baton_store::{
    Answer, Call, Capability, Class, Declaration, ExpiryClock, Finding, StoreError, WriteOutcome,
};
use tokio::time::Instant;

use super::bucket::Bucket;
use super::config::Config;
use super::layout::Layout;
use super::state::DOCUMENT_BYTES_MAX;
use super::step::{Marks, Shelf, Step, stamp};
use crate::reader::Access;
use crate::service::Engine;

/// A handle on a bucket.
pub(super) struct S3Engine {
    pub(super) config: Config,
    pub(super) access: Access,
    pub(super) bucket: Arc<Bucket>,
    pub(super) layout: Layout,
    pub(super) marks: Marks,
    pub(super) shelves: Mutex<BTreeMap<Namespace, Arc<Shelf>>>,
}

impl S3Engine {
    fn step(&self, namespace: &Namespace) -> Step<'_> {
        let mut shelves = self.shelves.lock().expect("no holder of this lock panics");
        Step {
            bucket: &self.bucket,
            keys: self.layout.of(namespace),
            shelf: Arc::clone(shelves.entry(namespace.clone()).or_default()),
            marks: &self.marks,
            access: self.access,
            deadline: self.deadline(),
        }
    }

    /// When what begins now must have ended.
    pub(super) fn deadline(&self) -> Instant {
        Instant::now() + self.config.timeout.min(Duration::from_secs(3_600))
    }
}

#[async_trait]
impl Engine for S3Engine {
    fn declaration(&self) -> Declaration {
        Declaration {
            name: "s3".to_owned(),
            class: Class::Linearizable,
            expiry: ExpiryClock::Observer,
            capabilities: [Capability::Counters].into(),
        }
    }

    async fn call(&self, namespace: &Namespace, call: Call) -> Result<Answer, StoreError> {
        let step = self.step(namespace);
        match call {
            Call::Core(request) => core(&step, request).await.map(Answer::Core),
            Call::WriteDocument { name, body, precondition, fence } => {
                is_small_enough(&name, body.len())?;
                step.admit(true).await?;
                let rule = |space: &mut Space, _| {
                    let outcome = space.write_document(&name, body.clone(), precondition, fence);
                    (outcome, matches!(outcome, WriteOutcome::Written(_)))
                };
                step.change(rule).await.map(Answer::Written)
            }
            Call::Inspect => {
                step.look(|space: &Space| Answer::Inspected(space.inspect(stamp().now))).await
            }
            Call::ReadDocument { name } => {
                step.look(|space: &Space| Answer::Document(space.read_document(&name))).await
            }
            Call::Counters(call) => step.count(call).await.map(Answer::Counters),
            Call::History { limit } => {
                step.look(|space: &Space| Answer::History(space.history(limit))).await
            }
            Call::Prune { fence, prune } => {
                step.admit(true).await?;
                step.prune(fence, prune).await.map(Answer::Pruned)
            }
        }
    }

    async fn examine(&self) -> Result<Vec<Finding>, StoreError> {
        self.findings().await
    }
}

/// What the core asks for.
async fn core(step: &Step<'_>, request: Request) -> Result<Reply, StoreError> {
    match request {
        Request::Beat(beat) => step.beat(beat).await.map(Reply::Beat),
        Request::ReadMembers => {
            step.admit(false).await?;
            step.members().await.map(Reply::Members)
        }
        Request::Leave { node, boot } => {
            step.admit(false).await?;
            step.leave(&node, boot).await.map(Reply::Done)
        }
        request => {
            step.admit(true).await?;
            let rule = |space: &mut Space, at| {
                let reply = space.perform(at, request.clone(), false);
                let changed = reply == Reply::Done(Outcome::Applied);
                (reply, changed)
            };
            step.change(rule).await
        }
    }
}

fn is_small_enough(name: &str, bytes: usize) -> Result<(), StoreError> {
    if bytes <= DOCUMENT_BYTES_MAX {
        return Ok(());
    }
    Err(StoreError::Refused {
        detail: format!(
            "document {name:?} has {bytes} bytes, and at most {DOCUMENT_BYTES_MAX} are allowed; \
             keep it elsewhere and its name here"
        ),
    })
}
