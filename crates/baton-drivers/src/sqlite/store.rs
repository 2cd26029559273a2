//! The handle: every method of the contract becomes one job.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use baton_core::ids::{BootId, Epoch, Namespace, NodeId};
use baton_core::protocol::{
    Ask, BeatReply, BeatRequest, Member, Outcome, Reply, Request, TermRecord, View,
};
use baton_store::clock::{Clock, SystemClock};
use baton_store::wrap::{Answer, Call};
use baton_store::{
    Capability, Class, Declaration, Document, ExpiryClock, HintStream, Inspection, Precondition,
    Release, Store, StoreError, WriteOutcome,
};
use tokio::sync::{mpsc, oneshot};

use super::boot::Machine;
use super::config::SqliteConfig;
use super::connect::Link;
use super::error::Refusal;
use super::worker::{self, Job};

/// A handle on the file, with a connection and a thread of its own. The thread ends with it.
pub struct SqliteStore {
    jobs: mpsc::Sender<Job>,
    commits: Arc<AtomicU64>,
}

impl SqliteStore {
    /// Opens the file. Blocks for as long as that takes.
    pub fn open(config: SqliteConfig) -> Result<Self, Refusal> {
        Self::open_with_clock(config, Arc::new(SystemClock))
    }

    /// The same, but leases are judged by this clock. Every process on the file must have the same.
    pub fn open_with_clock(
        mut config: SqliteConfig,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Refusal> {
        let machine = Machine::here(clock)?;
        // The working directory may change; the file may not.
        config.path = std::path::absolute(&config.path)
            .map_err(|error| Refusal::Unreadable { path: config.path.clone(), error })?;
        let link = Link::open(&config, &machine, true, 0)?;
        let commits = Arc::new(AtomicU64::new(0));
        let jobs = worker::start(config, machine, link, Arc::clone(&commits))?;
        Ok(Self { jobs, commits })
    }

    /// How many transactions that write this handle has committed.
    pub fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    async fn call(&self, namespace: &Namespace, call: Call) -> Result<Answer, StoreError> {
        let (reply, answer) = oneshot::channel();
        let job = Job { namespace: namespace.clone(), call, reply };
        let ended = |detail: &str| detail.to_owned();
        self.jobs.send(job).await.map_err(|_| StoreError::Unavailable {
            detail: ended("the store's thread has ended; open the store again"),
        })?;
        answer.await.map_err(|_| StoreError::Unknown {
            detail: ended("the store's thread ended at this"),
        })?
    }

    async fn conditional(
        &self,
        namespace: &Namespace,
        request: Request,
    ) -> Result<Outcome, StoreError> {
        match self.call(namespace, Call::Core(request)).await? {
            Answer::Core(Reply::Done(outcome)) => Ok(outcome),
            other => not_in_kind(&other),
        }
    }
}

fn not_in_kind(answer: &Answer) -> ! {
    unreachable!("each step answers its call in kind, and this is not: {answer:?}")
}

#[async_trait]
impl Store for SqliteStore {
    fn declaration(&self) -> Declaration {
        let capabilities = [Capability::MemberAge, Capability::Lineage, Capability::DeathProof];
        Declaration {
            name: "sqlite".to_owned(),
            class: Class::SingleServer,
            expiry: ExpiryClock::Store,
            capabilities: capabilities.into(),
        }
    }

    async fn beat(
        &self,
        namespace: &Namespace,
        beat: BeatRequest,
    ) -> Result<BeatReply, StoreError> {
        match self.call(namespace, Call::Core(Request::Beat(beat))).await? {
            Answer::Core(Reply::Beat(reply)) => Ok(reply),
            other => not_in_kind(&other),
        }
    }

    async fn inspect(&self, namespace: &Namespace) -> Result<Inspection, StoreError> {
        match self.call(namespace, Call::Inspect).await? {
            Answer::Inspected(inspection) => Ok(inspection),
            other => not_in_kind(&other),
        }
    }

    async fn members(&self, namespace: &Namespace) -> Result<Vec<Member>, StoreError> {
        match self.call(namespace, Call::Core(Request::ReadMembers)).await? {
            Answer::Core(Reply::Members(members)) => Ok(members),
            other => not_in_kind(&other),
        }
    }

    async fn publish_view(
        &self,
        namespace: &Namespace,
        fence: Epoch,
        view: Arc<View>,
    ) -> Result<Outcome, StoreError> {
        self.conditional(namespace, Request::PublishView { fence, view }).await
    }

    async fn release(
        &self,
        namespace: &Namespace,
        release: Release,
    ) -> Result<Outcome, StoreError> {
        let Release { expect, nonce, successor, reason } = release;
        let request = Request::Release { expect, nonce, successor, reason };
        self.conditional(namespace, request).await
    }

    async fn leave(
        &self,
        namespace: &Namespace,
        node: &NodeId,
        boot: BootId,
    ) -> Result<Outcome, StoreError> {
        let node = node.clone();
        self.conditional(namespace, Request::Leave { node, boot }).await
    }

    async fn ask(
        &self,
        namespace: &Namespace,
        epoch: Epoch,
        ask: Ask,
    ) -> Result<Outcome, StoreError> {
        self.conditional(namespace, Request::Ask { epoch, ask }).await
    }

    async fn read_document(
        &self,
        namespace: &Namespace,
        name: &str,
    ) -> Result<Option<Document>, StoreError> {
        let name = name.to_owned();
        match self.call(namespace, Call::ReadDocument { name }).await? {
            Answer::Document(document) => Ok(document),
            other => not_in_kind(&other),
        }
    }

    async fn write_document(
        &self,
        namespace: &Namespace,
        name: &str,
        body: Vec<u8>,
        precondition: Precondition,
        fence: Option<Epoch>,
    ) -> Result<WriteOutcome, StoreError> {
        let call = Call::WriteDocument { name: name.to_owned(), body, precondition, fence };
        match self.call(namespace, call).await? {
            Answer::Written(outcome) => Ok(outcome),
            other => not_in_kind(&other),
        }
    }

    async fn history(
        &self,
        namespace: &Namespace,
        limit: usize,
    ) -> Result<Vec<TermRecord>, StoreError> {
        match self.call(namespace, Call::History { limit }).await? {
            Answer::History(terms) => Ok(terms),
            other => not_in_kind(&other),
        }
    }

    async fn hints(&self, _namespace: &Namespace) -> Result<HintStream, StoreError> {
        Err(StoreError::Unsupported(Capability::Push))
    }
}
