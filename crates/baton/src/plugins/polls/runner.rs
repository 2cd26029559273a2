//! A node's part: it looks for polls that were handed to it, claims them, runs them and reports.
//!
//! ```text
//!   look ──► table: handed to this process? ──► claim (compare-and-set) ──► handler, with its time
//!    ▲                                                                         │
//!    └────────────── report (compare-and-set), again until it is in ◄──────────┘
//! ```

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use baton_store::clock::{Clock, SystemClock};
use tokio::task::JoinSet;

use super::client::PollClient;
use super::poll::PollError;
use super::state::PollState;
use super::table::PollTable;
use super::table::{Assignment, AttemptEnd, PollEntry};
use crate::error::BuildError;
use crate::node::Node;
use crate::plugin::PluginError;
use crate::service::{Service, ServiceContext, ServiceHandle};

const SERVICE: &str = "poll-runner";

/// Attempts that are over and remembered, so that none is run again should the store's data go
/// back.
const REMEMBERED: usize = 256;

/// One attempt, as its handler sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PollRun {
    /// The poll's number.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// The place in its schedule, if it has one.
    pub slot: Option<u64>,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// What it was given.
    pub payload: String,
    /// How long it may take.
    pub timeout: Duration,
}

type HandlerFuture = Pin<Box<dyn Future<Output = Result<String, PluginError>> + Send>>;
type Handler = Arc<dyn Fn(PollRun) -> HandlerFuture + Send + Sync>;

/// What a node answers polls with.
#[must_use = "handlers are used once they are started on a node"]
#[derive(Clone)]
pub struct PollHandlers {
    handlers: BTreeMap<String, Handler>,
    concurrency: usize,
    look_every: Duration,
}

impl std::fmt::Debug for PollHandlers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PollHandlers")
            .field("names", &self.handlers.keys())
            .field("concurrency", &self.concurrency)
            .finish_non_exhaustive()
    }
}

impl Default for PollHandlers {
    fn default() -> Self {
        Self { handlers: BTreeMap::new(), concurrency: 4, look_every: Duration::from_secs(1) }
    }
}

impl PollHandlers {
    /// Answers polls of this name. The answer is kept on the table, cut to 256 characters.
    pub fn on<F, A>(mut self, name: &str, handler: F) -> Self
    where
        F: Fn(PollRun) -> A + Send + Sync + 'static,
        A: Future<Output = Result<String, PluginError>> + Send + 'static,
    {
        let boxed = move |run| -> HandlerFuture { Box::pin(handler(run)) };
        self.handlers.insert(name.to_owned(), Arc::new(boxed));
        self
    }

    /// How many it runs at once; 4 unless given.
    pub fn concurrency(mut self, places: usize) -> Self {
        self.concurrency = places.max(1);
        self
    }

    /// The time between two looks at the table; 1 s unless given.
    pub fn look_every(mut self, span: Duration) -> Self {
        self.look_every = span;
        self
    }

    /// Starts answering on a running node, until it leaves or the handle asks it to stop. As a
    /// service of [`NodeBuilder::service`](crate::NodeBuilder::service) it starts with the node.
    pub fn start(self, node: &Node) -> Result<ServiceHandle, BuildError> {
        node.add_service(self)
    }
}

/// Takes no more polls once it is to stop, waits for those that run, and reports them. What it
/// still runs when it is cancelled is tried elsewhere.
#[async_trait]
impl Service for PollHandlers {
    fn name(&self) -> &str {
        SERVICE
    }

    async fn run(&self, context: &ServiceContext) -> Result<(), PluginError> {
        let runner = Runner {
            names: self.handlers.keys().cloned().collect(),
            client: PollClient::new(&context.shared, context.store().clone()),
            context,
            handlers: self,
            me: Assignment { node: context.node().clone(), boot: context.boot() },
            running: BTreeSet::new(),
            reports: VecDeque::new(),
            over: VecDeque::new(),
            tasks: JoinSet::new(),
        };
        runner.run().await;
        Ok(())
    }
}

pub(super) type AttemptId = (u64, u32);

struct Runner<'a> {
    context: &'a ServiceContext,
    client: PollClient,
    handlers: &'a PollHandlers,
    names: BTreeSet<String>,
    me: Assignment,
    running: BTreeSet<AttemptId>,
    reports: VecDeque<(AttemptId, AttemptEnd)>,
    over: VecDeque<AttemptId>,
    tasks: JoinSet<(AttemptId, AttemptEnd)>,
}

impl Runner<'_> {
    async fn run(mut self) {
        loop {
            let stopping = self.context.is_stopping();
            if self.look(stopping).await && stopping && self.running.is_empty() {
                return;
            }
            tokio::select! {
                biased;
                Some(done) = self.tasks.join_next() => {
                    let (attempt, end) = done.expect("what can panic in it is a task of its own");
                    self.reports.push_back((attempt, end));
                }
                () = self.context.stopped(), if !stopping => {}
                () = SystemClock.sleep(self.handlers.look_every) => {}
            }
        }
    }

    /// Reports, registers and claims in one change of the table. Says whether it came through.
    async fn look(&mut self, stopping: bool) -> bool {
        let (me, names, places) = (&self.me, &self.names, self.handlers.concurrency);
        let reports: Vec<_> = self.reports.iter().cloned().collect();
        let known: BTreeSet<AttemptId> = self.running.iter().chain(&self.over).copied().collect();
        let free = places.saturating_sub(self.running.len() - reports.len());
        let changed = self.client.change(None, |table| {
            for ((id, attempt), end) in &reports {
                let ended = (me.boot, *attempt);
                // An attempt that was given up has nothing to report any more.
                let _ = table.attempt_ended(*id, ended, end.clone(), SystemClock.wall_ms());
            }
            if stopping {
                table.runners.retain(|_, runner| runner.boot != me.boot);
                return Ok(Vec::new());
            }
            table.register(me, names, places)?;
            claim(table, me, &known, free)
        });
        match changed.await {
            Ok(claimed) => {
                for (attempt, _) in self.reports.drain(..reports.len()) {
                    self.running.remove(&attempt);
                    self.over.push_back(attempt);
                }
                self.over.drain(..self.over.len().saturating_sub(REMEMBERED));
                claimed.into_iter().for_each(|entry| self.begin(entry));
                true
            }
            // The store is away, or too much is going on: the next look tries again.
            Err(_) => false,
        }
    }

    fn begin(&mut self, entry: PollEntry) {
        let attempt = (entry.id, entry.attempt);
        let timeout = Duration::from_millis(entry.timeout_ms);
        let run = PollRun {
            id: entry.id,
            name: entry.name,
            slot: entry.slot,
            attempt: entry.attempt,
            payload: entry.payload,
            timeout,
        };
        self.running.insert(attempt);
        let handler = self.handlers.handlers.get(&run.name).cloned();
        self.tasks.spawn(async move {
            let end = match handler {
                Some(handler) => answered(handler(run), timeout).await,
                None => AttemptEnd::Failed("there is no handler".to_owned()),
            };
            (attempt, end)
        });
    }
}

/// Claims what was handed to this process, as far as there is room, and finds what it claimed
/// without knowing it: the write's outcome was unknown.
pub(super) fn claim(
    table: &mut PollTable,
    me: &Assignment,
    known: &BTreeSet<AttemptId>,
    room: usize,
) -> Result<Vec<PollEntry>, PollError> {
    let is_mine = |entry: &&PollEntry| entry.assigned.as_ref() == Some(me);
    let mine: Vec<PollEntry> = table.active().filter(is_mine).cloned().collect();
    let mut claimed = Vec::new();
    for entry in mine {
        match entry.state {
            PollState::Running if !known.contains(&(entry.id, entry.attempt)) => {
                claimed.push(entry);
            }
            PollState::Dispatching if claimed.len() < room => {
                claimed.push(table.claim(entry.id, me.boot)?.clone());
            }
            _ => {}
        }
    }
    Ok(claimed)
}

/// Runs a handler as a task of its own, for as long as it may take.
async fn answered(answer: HandlerFuture, timeout: Duration) -> AttemptEnd {
    let mut task = JoinSet::new();
    task.spawn(answer);
    tokio::select! {
        biased;
        Some(done) = task.join_next() => match done {
            Ok(Ok(answer)) => AttemptEnd::Done(answer),
            Ok(Err(error)) => AttemptEnd::Failed(error.to_string()),
            Err(_) => AttemptEnd::Failed("the handler panicked".to_owned()),
        },
        () = SystemClock.sleep(timeout) => AttemptEnd::TimedOut,
    }
}
