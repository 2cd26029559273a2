//! The thread of a store that is reached over the network: its connections live on it, so that a
//! busy application cannot starve a renewal.
//!
//! ```text
//!   handle ── job ──► thread "baton-redis" ── one task a job ──► Engine ──► server
//!      ▲                  current-thread runtime                    │
//!      └───────────────────────── answer ◄──────────────────────────┘
//! ```
//!
//! A caller that stops waiting cancels nothing: the call goes on to its own end.

use std::future::Future;
use std::sync::Arc;

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_store::{Answer, Call, Declaration, Finding, HintStream, Store, StoreError};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use crate::OpenError;

/// How many calls wait in the queue. A further call waits until there is room.
const QUEUE_MAX: usize = 1_024;

/// What a driver does on its thread. The same contract as [`Store`]'s.
#[async_trait]
pub(crate) trait Engine: Send + Sync + 'static {
    /// What the store says of itself.
    fn declaration(&self) -> Declaration;

    /// Takes one step in a namespace. Ends by itself within the driver's own timeout.
    async fn call(&self, namespace: &Namespace, call: Call) -> Result<Answer, StoreError>;

    /// What a call left to be done once its caller has the answer.
    async fn afterwards(&self, _namespace: &Namespace) {}

    /// Subscribes to hints.
    async fn hints(&self, namespace: &Namespace) -> Result<HintStream, StoreError>;

    /// Looks at the server.
    async fn examine(&self) -> Result<Vec<Finding>, StoreError>;
}

enum Job {
    Call(Namespace, Box<Call>, oneshot::Sender<Result<Answer, StoreError>>),
    Hints(Namespace, oneshot::Sender<Result<HintStream, StoreError>>),
    Examine(oneshot::Sender<Result<Vec<Finding>, StoreError>>),
}

/// A handle on an engine. The thread ends with it.
pub(crate) struct Service {
    declaration: Declaration,
    jobs: mpsc::Sender<Job>,
}

impl Service {
    /// Starts a thread of this name, and the engine on it.
    pub(crate) async fn start<E, F>(
        name: &str,
        engine: impl FnOnce() -> F + Send + 'static,
    ) -> Result<Self, OpenError>
    where
        E: Engine,
        F: Future<Output = Result<E, OpenError>>,
    {
        let (jobs, queue) = mpsc::channel(QUEUE_MAX);
        let (started, outcome) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(OpenError::Thread)?;
        let body = move || runtime.block_on(run(engine, started, queue));
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(body);
        thread.map_err(OpenError::Thread)?;
        let declaration = outcome.await.map_err(|_| OpenError::Ended)??;
        Ok(Self { declaration, jobs })
    }

    async fn ask<T>(
        &self,
        job: impl FnOnce(oneshot::Sender<Result<T, StoreError>>) -> Job,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let detail = || "the store's thread has ended; open the store again".to_owned();
        let gone = |_| StoreError::Unavailable { detail: detail() };
        self.jobs.send(job(reply)).await.map_err(gone)?;
        answer.await.map_err(|_| StoreError::Unknown { detail: detail() })?
    }
}

async fn run<E, F>(
    engine: impl FnOnce() -> F,
    started: oneshot::Sender<Result<Declaration, OpenError>>,
    mut queue: mpsc::Receiver<Job>,
) where
    E: Engine,
    F: Future<Output = Result<E, OpenError>>,
{
    let engine = match engine().await {
        Ok(engine) => Arc::new(engine),
        // The caller may have gone; then the error is of no interest.
        Err(error) => return drop(started.send(Err(error))),
    };
    if started.send(Ok(engine.declaration())).is_err() {
        return;
    }
    let mut tasks = JoinSet::new();
    while let Some(job) = queue.recv().await {
        tasks.spawn(serve(Arc::clone(&engine), job));
        while tasks.try_join_next().is_some() {}
    }
}

async fn serve<E: Engine>(engine: Arc<E>, job: Job) {
    match job {
        Job::Call(namespace, call, reply) => {
            drop(reply.send(engine.call(&namespace, *call).await));
            engine.afterwards(&namespace).await;
        }
        Job::Hints(namespace, reply) => drop(reply.send(engine.hints(&namespace).await)),
        Job::Examine(reply) => drop(reply.send(engine.examine().await)),
    }
}

#[async_trait]
impl Store for Service {
    fn declaration(&self) -> Declaration {
        self.declaration.clone()
    }

    async fn call(&self, namespace: &Namespace, call: Call) -> Result<Answer, StoreError> {
        call.check()?;
        let answer = self.ask(|reply| Job::Call(namespace.clone(), Box::new(call), reply)).await;
        answer?.check(namespace)
    }

    async fn hints(&self, namespace: &Namespace) -> Result<HintStream, StoreError> {
        self.ask(|reply| Job::Hints(namespace.clone(), reply)).await
    }

    async fn examine(&self) -> Result<Vec<Finding>, StoreError> {
        self.ask(Job::Examine).await
    }
}
