//! Services: work that runs on every node while the node runs, whichever of them leads.
//!
//! ```text
//!   node starts ──► run ──── returns Ok ──────────────────► ended, not started again
//!                    ▲ │ error, panic
//!                    │ └──► pause, as for a plugin ──► run again; too often: gave up
//!   node leaves ──► token cancelled ──► `stop_grace` later cancelled at its next `.await`
//!                                          └──► all ended ──► the node's record is removed
//! ```
//!
//! A service is supervised as a plugin is, on the node's own thread, and appears where plugins
//! appear. The lease is released without waiting for the services; the record of the node is not
//! removed before they have ended.

mod context;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use baton_core::Input;
use baton_store::clock::{Clock, SystemClock};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

use crate::drive::Message;
use crate::plugin::{Caller, PluginError, Purpose, Registered, RestartPolicy, Restarts};
use crate::shared::Shared;
use crate::term::Lifetime;

pub use context::ServiceContext;

pub(crate) use context::with_call_budget;

/// Work that runs on every node. [`service`] makes one from a closure.
///
/// Name and policy are asked for once, when the service is registered.
#[async_trait]
pub trait Service: Send + Sync + 'static {
    /// Its name in events, reports and logs, which no other service or plugin of the node has: 1 to
    /// 100 letters, digits, `-`, `_` and `.`. It is also the topic of its hints.
    fn name(&self) -> &str;

    /// How often and how fast it is started again after a failure. One that fails more often stays
    /// ended until its node is restarted.
    fn restart_policy(&self) -> RestartPolicy {
        RestartPolicy::default()
    }

    /// The work, from the start of the node until [`ServiceContext::stopped`] returns. A service
    /// that returns `Ok` has ended and is not started again.
    async fn run(&self, context: &ServiceContext) -> Result<(), PluginError>;
}

/// A service from a closure, which is called again after each failure.
///
/// ```
/// use baton::{Node, service};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let greeter = service("greeter", |context| async move {
///     println!("{} is up", context.node());
///     context.stopped().await;
///     Ok(())
/// });
/// let node = Node::builder(baton::open("sqlite://app.db").await?).service(greeter).build()?;
/// # node.leave().await;
/// # Ok(())
/// # }
/// ```
pub fn service<F, Work>(name: impl Into<String>, run: F) -> impl Service
where
    F: Fn(ServiceContext) -> Work + Send + Sync + 'static,
    Work: Future<Output = Result<(), PluginError>> + Send + 'static,
{
    Closure { name: name.into(), run }
}

struct Closure<F> {
    name: String,
    run: F,
}

#[async_trait]
impl<F, Work> Service for Closure<F>
where
    F: Fn(ServiceContext) -> Work + Send + Sync + 'static,
    Work: Future<Output = Result<(), PluginError>> + Send + 'static,
{
    fn name(&self) -> &str {
        &self.name
    }

    async fn run(&self, context: &ServiceContext) -> Result<(), PluginError> {
        (self.run)(context.clone()).await
    }
}

/// What is kept of a service. The [`Service`] itself is not, since it may hold its
/// [`ServiceContext`], which holds this and the node.
pub(crate) struct RegisteredService {
    pub(crate) registered: Registered,
    /// Ends when this service is to stop.
    pub(crate) life: Lifetime,
    /// Raised by a hint of its topic, and lowered when the service sees it.
    pub(crate) hinted: Notify,
    progress: watch::Sender<Progress>,
}

/// A service that does not run yet.
pub(crate) type NewService = (Arc<RegisteredService>, Arc<dyn Service>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// The node's thread has not seen it yet.
    New,
    /// It is supervised.
    Running,
    /// Nothing of it runs.
    Ended,
}

impl RegisteredService {
    pub(crate) fn new(registered: Registered) -> Self {
        let (life, hinted) = (Lifetime::default(), Notify::new());
        Self { registered, life, hinted, progress: watch::channel(Progress::New).0 }
    }

    pub(crate) fn is_running(&self) -> bool {
        *self.progress.borrow() == Progress::Running
    }
}

/// Starts every service that is added, and returns when the services were told to stop and all have
/// ended.
pub(crate) async fn supervise(shared: Arc<Shared>) -> Message {
    let plugins = &shared.plugins;
    let mut added = plugins.services_added();
    let mut running = JoinSet::new();
    while !plugins.services_life.has_ended() {
        added.mark_unchanged();
        for new in plugins.take_new_services() {
            new.0.progress.send_replace(Progress::Running);
            running.spawn(keep_running(shared.clone(), new));
        }
        tokio::select! {
            biased;
            _ = plugins.services_life.ended() => {}
            changed = added.changed() => changed.expect("the set has a sender"),
            Some(_) = running.join_next() => {}
        }
    }
    while running.join_next().await.is_some() {}
    Message::Input { task: shared.task_id, input: Input::ServicesRun(false) }
}

/// Marks a service as ended when it is dropped.
struct EndsService(Arc<RegisteredService>);

impl Drop for EndsService {
    fn drop(&mut self) {
        self.0.progress.send_replace(Progress::Ended);
    }
}

/// Runs a service, again and again after failures, until it ends, is to stop, or gives up.
async fn keep_running(shared: Arc<Shared>, (registered, service): NewService) {
    let ends_service = EndsService(registered);
    let RegisteredService { registered, life, .. } = &*ends_service.0;
    let (mut restarts, mut gave_up) = (Restarts::new(registered.restart), false);
    let runtime = shared.plugins.runtime();
    let caller = Caller { shared: &shared, registered, life, runtime, epoch: None };
    while !gave_up && !life.has_ended() {
        registered.stats.working(SystemClock.wall_ms());
        let (work, context) = (service.clone(), ServiceContext::new(&shared, &ends_service.0));
        let call = async move { work.run(&context).await };
        let (run, outcome) = caller.call(Purpose::Work, None, call).await;
        match outcome {
            Ok(()) => {
                registered.stats.worked(run);
                break;
            }
            Err(_) if life.has_ended() => break,
            Err(failure) => {
                // It ran well for a while: the next pause is a short one again.
                if run.took() > registered.restart.backoff_max {
                    restarts.worked();
                }
                let pause = caller.pause_after(run, &failure, Purpose::Work, &mut restarts);
                gave_up = pause.await.is_err();
            }
        }
    }
    if !gave_up {
        registered.stats.stopped();
    }
    // Not on this thread, which is the node's: it runs no code of the service.
    caller.runtime.spawn(async move { drop(service) });
}

/// A service that was added to a running node, and can be stopped before the node leaves. It goes
/// on when this is dropped.
pub struct ServiceHandle {
    pub(crate) service: Arc<RegisteredService>,
    pub(crate) shared: Arc<Shared>,
}

impl ServiceHandle {
    /// Tells the service to stop, cancels it after `grace`, and waits until it has ended. Its name
    /// is free then.
    pub async fn stop(self, grace: Duration) {
        self.service.life.end(SystemClock.now() + grace);
        let mut progress = self.service.progress.subscribe();
        tokio::select! {
            biased;
            ended = progress.wait_for(|it| *it == Progress::Ended) => {
                drop(ended.expect("the sender lives as long as the service it is asked of"));
            }
            _ = self.shared.left() => {}
        }
        self.shared.plugins.remove_service(&self.service);
    }
}

impl std::fmt::Debug for ServiceHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = &self.service.registered.name;
        f.debug_struct("ServiceHandle").field("service", name).finish_non_exhaustive()
    }
}
