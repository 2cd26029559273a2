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
use baton_store::{Backend, Capability, Contract, Election, Finding, HintStream, StoreError};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

/// At most so many calls wait; whoever comes then waits to be let in.
const QUEUE_MAX: usize = 1_024;

/// What a driver does on its thread. The same contract as [`Backend`]'s; what the store does not
/// declare never comes here.
#[async_trait]
pub(crate) trait Engine<C: Contract = Election>: Send + Sync + 'static {
    /// What the store says of itself.
    fn declaration(&self) -> C::Declaration;

    /// Takes one step in a namespace. Ends by itself within the driver's own timeout.
    async fn call(&self, namespace: &Namespace, call: C::Call) -> Result<C::Answer, StoreError>;

    /// What a call left to be done once its caller has the answer.
    async fn afterwards(&self, _namespace: &Namespace) {}

    /// Subscribes to hints, if the store pushes any.
    async fn hints(&self, _namespace: &Namespace) -> Result<HintStream<C>, StoreError> {
        Err(StoreError::Unsupported(Capability::Push))
    }

    /// Looks at the server.
    async fn examine(&self) -> Result<Vec<Finding>, StoreError>;
}

/// Where an answer goes.
type ReplySender<T> = oneshot::Sender<Result<T, StoreError>>;

enum Job<C: Contract> {
    Call(Namespace, Box<C::Call>, ReplySender<C::Answer>),
    Hints(Namespace, ReplySender<HintStream<C>>),
    Examine(ReplySender<Vec<Finding>>),
}

/// A handle on an engine. The thread ends with it.
pub(crate) struct Service<C: Contract = Election> {
    declaration: C::Declaration,
    jobs: mpsc::Sender<Job<C>>,
}

impl<C: Contract> Service<C> {
    /// Starts a thread of this name, and the engine on it.
    pub(crate) async fn start<E, F, R>(
        name: &str,
        engine: impl FnOnce() -> F + Send + 'static,
    ) -> Result<Self, StartError<R>>
    where
        E: Engine<C>,
        F: Future<Output = Result<E, R>>,
        R: Send + 'static,
    {
        let (jobs, queue) = mpsc::channel(QUEUE_MAX);
        let (started, outcome) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(StartError::Thread)?;
        let body = move || runtime.block_on(run(engine, started, queue));
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(body);
        thread.map_err(StartError::Thread)?;
        match outcome.await {
            Ok(Ok(declaration)) => Ok(Self { declaration, jobs }),
            Ok(Err(refusal)) => Err(StartError::Refused(refusal)),
            Err(_) => Err(StartError::Ended),
        }
    }

    async fn ask<T>(&self, job: impl FnOnce(ReplySender<T>) -> Job<C>) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let detail = || "the store's thread has ended; open the store again".to_owned();
        let gone = |_| StoreError::Unavailable { detail: detail() };
        self.jobs.send(job(reply)).await.map_err(gone)?;
        answer.await.map_err(|_| StoreError::Unknown { detail: detail() })?
    }
}

/// Why a service did not start.
#[derive(Debug)]
pub(crate) enum StartError<R> {
    /// The system gave no thread.
    Thread(std::io::Error),
    /// The thread ended at once.
    Ended,
    /// The engine would not have it.
    Refused(R),
}

async fn run<C, E, F, R>(
    engine: impl FnOnce() -> F,
    started: oneshot::Sender<Result<C::Declaration, R>>,
    mut queue: mpsc::Receiver<Job<C>>,
) where
    C: Contract,
    E: Engine<C>,
    F: Future<Output = Result<E, R>>,
{
    let engine = match engine().await {
        Ok(engine) => Arc::new(engine),
        // Whoever asked may have gone; then nobody is told.
        Err(refusal) => return drop(started.send(Err(refusal))),
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

async fn serve<C: Contract, E: Engine<C>>(engine: Arc<E>, job: Job<C>) {
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
impl<C: Contract> Backend<C> for Service<C> {
    fn declaration(&self) -> C::Declaration {
        self.declaration.clone()
    }

    async fn call(&self, namespace: &Namespace, call: C::Call) -> Result<C::Answer, StoreError> {
        C::check_call(&self.declaration, &call)?;
        let answer = self.ask(|reply| Job::Call(namespace.clone(), Box::new(call), reply)).await?;
        C::check_answer(namespace, answer)
    }

    async fn hints(&self, namespace: &Namespace) -> Result<HintStream<C>, StoreError> {
        self.ask(|reply| Job::Hints(namespace.clone(), reply)).await
    }

    async fn examine(&self) -> Result<Vec<Finding>, StoreError> {
        self.ask(Job::Examine).await
    }
}
