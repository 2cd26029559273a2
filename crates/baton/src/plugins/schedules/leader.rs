//! The leader's part: a plugin that carries out what the scheduler of its term decides.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use baton_core::ids::Epoch;
use baton_core::protocol::Failure;
use baton_core::schedule::scheduler::{Action, Input};
use baton_core::schedule::{AttemptEnd, AttemptId, Scheduler};
use baton_store::clock::{Clock, SystemClock};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::attempt::{Attempt, run_attempt};
use super::job::ScheduledRun;
use super::jobs::Jobs;
use super::pages::{Pages, PagesError};
use crate::leadership::Leadership;
use crate::plugin::{Plugin, PluginError};
use crate::service::with_call_budget;

/// How many pages are written at once. Each write keeps the beats of an embedded store waiting, and
/// what serves those of another.
const WRITES_MAX: usize = 1;

/// The plugin's name.
const NAME: &str = "schedules";

/// Runs the schedules of a node while it leads.
pub(crate) struct SchedulesPlugin {
    jobs: Arc<Jobs>,
    /// The term that it worked in last, and how many schedulers that term has had.
    schedulers: Mutex<(Epoch, u32)>,
}

impl SchedulesPlugin {
    pub(crate) fn new(jobs: Arc<Jobs>) -> Self {
        Self { jobs, schedulers: Mutex::default() }
    }

    /// Which scheduler of its term the next one is.
    fn next_number(&self, epoch: Epoch) -> u32 {
        let mut last = self.schedulers.lock().expect("no holder panics");
        let number = if last.0 == epoch { last.1 + 1 } else { 0 };
        *last = (epoch, number);
        number
    }
}

#[async_trait]
impl Plugin for SchedulesPlugin {
    fn name(&self) -> &str {
        NAME
    }

    async fn coordinator_work(&self, term: &Leadership) -> Result<(), PluginError> {
        let shared = &term.shared;
        let own = self.jobs.store.clone();
        let store = own.unwrap_or_else(|| with_call_budget(&shared.records));
        let pages = Pages {
            store,
            namespace: shared.namespace.clone(),
            timeout: shared.settings.request_timeout,
        };
        let (node, boot) = (shared.id.clone(), shared.boot);
        let number = self.next_number(term.epoch());
        let mut turns = Turns {
            jobs: &self.jobs,
            term,
            pages,
            scheduler: Scheduler::new(node, boot, term.epoch(), Arc::default()).restarted(number),
            requests: JoinSet::new(),
            writes: Arc::new(Semaphore::new(WRITES_MAX)),
            attempts: JoinSet::new(),
            running: BTreeMap::new(),
        };
        let done = turns.run().await;
        // After a failure: what runs must have stopped before another scheduler begins.
        turns.running.values().for_each(CancellationToken::cancel);
        while turns.attempts.join_next().await.is_some() {}
        done.map_err(PluginError::from)
    }
}

/// What carries out the decisions of one scheduler.
struct Turns<'a> {
    jobs: &'a Arc<Jobs>,
    term: &'a Leadership,
    pages: Pages,
    scheduler: Scheduler,
    requests: JoinSet<Result<Input, PagesError>>,
    writes: Arc<Semaphore>,
    attempts: JoinSet<(AttemptId, Option<AttemptEnd>)>,
    /// What stops each attempt for a newer slot.
    running: BTreeMap<AttemptId, CancellationToken>,
}

impl Turns<'_> {
    async fn run(&mut self) -> Result<(), PagesError> {
        let mut declared = self.jobs.declared();
        let mut is_stopping = false;
        let first = declared.borrow_and_update().clone();
        self.feed(Input::Declare(first));
        loop {
            if self.scheduler.is_over() || is_stopping {
                let is_done = self.requests.is_empty() && !self.scheduler.has_unrecorded();
                if self.attempts.is_empty() && (is_done || self.scheduler.is_over()) {
                    return Ok(());
                }
            }
            let wait = self.scheduler.wakes_after(SystemClock.now(), SystemClock.wall_ms());
            let input = tokio::select! {
                biased;
                _ = self.term.lost(), if !is_stopping => {
                    is_stopping = true;
                    Input::Stop
                }
                Some(ended) = self.attempts.join_next() => match self.ended(ended) {
                    Some(input) => input,
                    None => continue,
                },
                Some(answer) = self.requests.join_next() => answered(answer)?,
                changed = declared.changed(), if !is_stopping => {
                    changed.expect("the plugin holds the sender");
                    Input::Declare(declared.borrow_and_update().clone())
                }
                () = self.jobs.edited.notified(), if !is_stopping => Input::Edited,
                () = SystemClock.sleep(wait) => Input::Tick,
            };
            self.feed(input);
        }
    }

    fn feed(&mut self, input: Input) {
        let actions = self.scheduler.handle(SystemClock.now(), SystemClock.wall_ms(), input);
        for action in actions {
            self.carry_out(action);
        }
    }

    fn carry_out(&mut self, action: Action) {
        match action {
            Action::Read { page } => {
                let pages = self.pages.clone();
                self.requests.spawn(async move {
                    match pages.read(page).await {
                        Ok(found) => Ok(Input::Read { page, found }),
                        Err(PagesError::Store(problem))
                            if problem.failure() != Failure::Rejected =>
                        {
                            Ok(Input::Unread { page })
                        }
                        Err(problem) => Err(problem),
                    }
                });
            }
            Action::Write { page, version, content } => {
                let (pages, fence) = (self.pages.clone(), Some(self.term.epoch()));
                let writes = self.writes.clone();
                self.requests.spawn(async move {
                    let _permit = writes.acquire().await.expect("it is never closed");
                    let outcome = pages.write((page, version), &content, fence).await?;
                    Ok(Input::Written { page, outcome })
                });
            }
            Action::Start { attempt, .. } => self.start(attempt),
            Action::Stop(attempt) => {
                self.running.get(&attempt).into_iter().for_each(CancellationToken::cancel);
            }
            Action::Tell(event) => self.term.shared.events.send(event),
        }
    }

    fn start(&mut self, id: AttemptId) {
        let (term, settings) = (self.term.clone(), &self.term.shared.settings);
        let replaced = CancellationToken::new();
        let work = self.jobs.work(&id.schedule);
        let declared = self.jobs.declared().borrow().clone();
        let (Some(schedule), Some(work)) = (declared.get(&id.schedule), work) else {
            // Its job was removed a moment ago: it is abandoned with the next turn.
            let end = Some(AttemptEnd::Stopped);
            self.attempts.spawn(async move { (id, end) });
            return;
        };
        let timeout = Duration::from_millis(schedule.definition.timeout_ms);
        let (sender, alive) = mpsc::channel(1);
        let run = ScheduledRun {
            id: id.clone(),
            zone: schedule.recurrence.zone(),
            term,
            token: CancellationToken::new(),
            _alive: sender,
        };
        let attempt = Attempt {
            work,
            run,
            alive,
            replaced: replaced.clone(),
            timeout: (!timeout.is_zero()).then_some(timeout),
            grace: settings.stop_grace,
        };
        self.running.insert(id.clone(), replaced);
        self.attempts.spawn(async move { (id, run_attempt(attempt).await) });
    }

    /// What the scheduler is told of an attempt that has ended; nothing if it was cut off.
    fn ended(
        &mut self,
        ended: Result<(AttemptId, Option<AttemptEnd>), tokio::task::JoinError>,
    ) -> Option<Input> {
        let (attempt, end) = ended.expect("an attempt's task ends by itself");
        self.running.remove(&attempt);
        Some(Input::Ended { attempt, end: end? })
    }
}

fn answered(
    answer: Result<Result<Input, PagesError>, tokio::task::JoinError>,
) -> Result<Input, PagesError> {
    answer.unwrap_or_else(|problem| {
        let detail = format!("the store's driver panicked ({problem})");
        Err(baton_store::StoreError::Unknown { detail }.into())
    })
}
