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

use crate::OpenError;

/// How many calls wait in the queue. A further call waits until there is room.
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
    pub(crate) async fn start<E, F>(
        name: &str,
        engine: impl FnOnce() -> F + Send + 'static,
    ) -> Result<Self, OpenError>
    where
        E: Engine<C>,
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

    async fn ask<T>(&self, job: impl FnOnce(ReplySender<T>) -> Job<C>) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let detail = || "the store's thread has ended; open the store again".to_owned();
        let gone = |_| StoreError::Unavailable { detail: detail() };
        self.jobs.send(job(reply)).await.map_err(gone)?;
        answer.await.map_err(|_| StoreError::Unknown { detail: detail() })?
    }
}

async fn run<C, E, F>(
    engine: impl FnOnce() -> F,
    started: oneshot::Sender<Result<C::Declaration, OpenError>>,
    mut queue: mpsc::Receiver<Job<C>>,
) where
    C: Contract,
    E: Engine<C>,
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
        if let Some(answer) = C::check_call(&self.declaration, &call)? {
            return Ok(answer);
        }
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use baton_core::ids::Epoch;
    use baton_store::clock::SystemClock;
    use baton_store::wrap::{CallFault, Count, Faults};
    use baton_store::{Operation, operations};

    use super::*;

    operations! {
        /// What can be asked of a bell.
        pub enum BellCall;
        /// The answer.
        pub enum BellAnswer {}
        families {}
        reads {
            /// How often did it ring?
            Rings "rings" -> Rings(u32) or BellAnswer::Rings(0),
        }
        writes {
            /// Rings it.
            Ring "ring" {
                /// The term in which it is rung.
                fence: Epoch,
            } fenced by fence -> Rung,
            /// Resets it.
            Reset "reset" needs Counters -> Reset,
        }
    }

    /// A contract that has nothing to do with leases.
    enum BellContract {}

    impl Contract for BellContract {
        type Declaration = &'static str;
        type Call = BellCall;
        type Answer = BellAnswer;
        type Hint = u32;

        fn declares(_bell: &&'static str, capability: Capability) -> bool {
            capability == Capability::Push
        }

        fn check_answer(_at: &Namespace, answer: BellAnswer) -> Result<BellAnswer, StoreError> {
            Ok(answer)
        }
    }

    #[derive(Default)]
    struct Bell {
        rings: Mutex<u32>,
        listener: Mutex<Option<mpsc::Sender<u32>>>,
    }

    #[async_trait]
    impl Engine<BellContract> for Bell {
        fn declaration(&self) -> &'static str {
            "brass"
        }

        async fn call(&self, _at: &Namespace, call: BellCall) -> Result<BellAnswer, StoreError> {
            let mut rings = self.rings.lock().expect("no holder panics");
            Ok(match call {
                BellCall::Rings => BellAnswer::Rings(*rings),
                BellCall::Ring { .. } => {
                    *rings += 1;
                    let listener = self.listener.lock().expect("no holder panics");
                    listener.iter().for_each(|it| it.try_send(*rings).expect("there is room"));
                    BellAnswer::Rung
                }
                BellCall::Reset => unreachable!("it is not declared"),
            })
        }

        async fn hints(&self, _at: &Namespace) -> Result<HintStream<BellContract>, StoreError> {
            let (sender, receiver) = mpsc::channel(8);
            *self.listener.lock().expect("no holder panics") = Some(sender);
            Ok(receiver)
        }

        async fn examine(&self) -> Result<Vec<Finding>, StoreError> {
            Ok(Vec::new())
        }
    }

    #[tokio::test]
    async fn another_contract_runs_on_the_same_thread_behind_the_same_wrappers() {
        let service = Service::start("bell", async || Ok(Bell::default())).await;
        let service: Arc<dyn Backend<BellContract>> = Arc::new(service.expect("it starts"));
        let broken = Faults::scripted(service, [("ring", CallFault::Doubled)]);
        let bell = Count::around(Arc::new(broken), Arc::new(SystemClock), None);
        let web = Namespace::new("web").expect("it is a valid name");
        assert_eq!(bell.declaration(), "brass");
        let mut hints = bell.hints(&web).await.expect("it pushes");

        let ring = BellCall::Ring { fence: Epoch(1) };
        assert!(ring.writes() && ring.answer_when_empty().is_none());
        assert_eq!(bell.call(&web, ring).await, Ok(BellAnswer::Rung));
        assert_eq!(bell.call(&web, BellCall::Rings).await, Ok(BellAnswer::Rings(2)));
        assert_eq!((hints.recv().await, hints.recv().await), (Some(1), Some(2)));

        let undeclared = StoreError::Unsupported(Capability::Counters);
        assert_eq!(bell.call(&web, BellCall::Reset).await, Err(undeclared));
        let too_high = BellCall::Ring { fence: Epoch(Epoch::MAX.0 + 1) };
        assert!(matches!(bell.call(&web, too_high).await, Err(StoreError::Refused { .. })));
        assert_eq!(bell.call(&web, BellCall::Rings).await, Ok(BellAnswer::Rings(2)));
        let counted = bell.layer().counted();
        let counted: Vec<_> = counted.iter().map(|it| (it.kind, it.total())).collect();
        assert_eq!(counted, [("ring", 2), ("rings", 2), ("reset", 1)]);
    }
}
