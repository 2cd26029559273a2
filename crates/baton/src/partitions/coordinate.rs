//! The leader's part: a plugin that carries out what the coordinator of its term decides.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_trait::async_trait;
use baton_core::ids::{BootId, Lineage};
use baton_core::partition::AssignmentVersion;
use baton_core::partition::coordinator::{Action, Coordinator, Input, TermOfMoves};
use baton_core::protocol::Failure;
use baton_store::clock::{Clock, SystemClock};
use baton_store::{StoreError, WriteOutcome};
use tokio::task::{JoinError, JoinSet};

use super::documents::{Documents, PartitionsError};
use super::setup::PartitionSetup;
use super::task_lists::TaskListError;
use crate::leadership::Leadership;
use crate::plugin::{Plugin, PluginError};

/// How often the task lists are read again. A hint says sooner that they were changed: one is lost
/// only if the connection fails on the way.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// The same in a process without a lifeline, which no hint can reach.
const UNHINTED_LOOK_EVERY: Duration = Duration::from_secs(5);

/// The pause after a look that failed.
const LOOKS_AFTER_FAILURE: Duration = Duration::from_secs(1);

/// The plugin's name.
const NAME: &str = "partitions";

/// Coordinates the partitions of the namespace while this node leads.
pub(crate) struct PartitionsPlugin(pub(crate) Arc<PartitionSetup>);

#[async_trait]
impl Plugin for PartitionsPlugin {
    fn name(&self) -> &str {
        NAME
    }

    async fn coordinator_work(&self, term: &Leadership) -> Result<(), PluginError> {
        let shared = &term.shared;
        let lineage = shared.snapshot().lineage.unwrap_or(Lineage(0));
        let lease = shared.settings.lease_terms();
        let moves = TermOfMoves { epoch: term.epoch(), lineage, lease };
        let mut rounds = Rounds {
            setup: &self.0,
            term,
            documents: self.0.documents(shared),
            coordinator: Coordinator::new(SystemClock.now(), moves, self.0.moves),
            lineage,
            look_every: match shared.profile.lifeline {
                Some(_) => LOOK_EVERY,
                None => UNHINTED_LOOK_EVERY,
            },
            requests: JoinSet::new(),
            look: JoinSet::new(),
            looks_again: false,
        };
        let Some(lists) = rounds.first_lists().await? else { return Ok(()) };
        self.0.begin_term(term.epoch())?;
        rounds.run(lists).await.map_err(PluginError::from)
    }
}

/// What carries out the decisions of one coordinator.
struct Rounds<'a> {
    setup: &'a PartitionSetup,
    term: &'a Leadership,
    documents: Documents,
    coordinator: Coordinator,
    /// The line of history that the coordinator began in. In another one it is over.
    lineage: Lineage,
    look_every: Duration,
    requests: JoinSet<Result<Option<Input>, PartitionsError>>,
    /// The look at the task lists that is under way: one at a time, so that none overtakes another.
    look: JoinSet<Result<Option<Input>, PartitionsError>>,
    /// Were the lists changed after that look began?
    looks_again: bool,
}

impl Rounds<'_> {
    async fn run(&mut self, lists: Input) -> Result<(), PartitionsError> {
        let mut readings = self.term.shared.readings.subscribe();
        readings.mark_unchanged();
        // From now on the readings of the records come.
        self.publish(Arc::default()).await;
        self.feed(lists).await;
        let mut look_at = SystemClock.now() + self.look_every;
        while !self.coordinator.is_over() {
            let now = SystemClock.now();
            let wait = self.coordinator.wakes_after(now).min(look_at.since(now));
            let input = tokio::select! {
                biased;
                _ = self.term.lost() => return Ok(()),
                Some(answer) = self.requests.join_next() => match answered(answer)? {
                    Some(input) => input,
                    None => continue,
                },
                Some(answer) = self.look.join_next() => {
                    if std::mem::take(&mut self.looks_again) {
                        self.look_at_lists(false);
                    }
                    match answered(answer)? {
                        Some(lists) => lists,
                        None => continue,
                    }
                }
                changed = readings.changed() => {
                    changed.expect("the node holds the sender");
                    let Some(reading) = readings.borrow_and_update().clone() else { continue };
                    for boot in &reading.dead {
                        self.feed(Input::Died(*boot)).await;
                    }
                    Input::Members { sent: reading.sent, members: reading.members.clone() }
                }
                () = self.setup.edited.notified() => {
                    self.look_at_lists(false);
                    continue;
                }
                () = SystemClock.sleep(wait) => Input::Tick,
            };
            if SystemClock.now() >= look_at {
                self.look_at_lists(false);
                look_at = SystemClock.now() + self.look_every;
            }
            self.feed(input).await;
        }
        // The store's data went back, or a later term has begun. Only in a new term may partitions
        // be given away: a write of this one may still be on its way.
        self.term.resign();
        Ok(())
    }

    /// Waits until the namespace has task lists: without any there is nothing to coordinate, and no
    /// reason to read anything else. `None` if the term ends before.
    async fn first_lists(&mut self) -> Result<Option<Input>, PartitionsError> {
        loop {
            self.look_at_lists(true);
            tokio::select! {
                biased;
                _ = self.term.lost() => return Ok(None),
                Some(answer) = self.look.join_next() => {
                    if let Some(lists) = answered(answer)? {
                        return Ok(Some(lists));
                    }
                }
            }
            tokio::select! {
                _ = self.term.lost() => return Ok(None),
                () = self.setup.edited.notified() => {}
                () = SystemClock.sleep(self.look_every) => {}
            }
        }
    }

    async fn feed(&mut self, input: Input) {
        if let Input::Lists(wanted) = &input {
            self.setup.known_lists.send_replace(Arc::new(wanted.lists.clone()));
        }
        // What was read from data that went back is not to be believed: that comes first.
        let other = self.term.shared.snapshot().lineage.filter(|it| *it != self.lineage);
        let input = other.map_or(input, Input::Lineage);
        let is_news = !matches!(input, Input::Tick);
        let actions = self.coordinator.handle(SystemClock.now(), input);
        if is_news {
            self.setup.unowned.store(self.coordinator.unowned(), Ordering::Relaxed);
        }
        for action in actions {
            self.carry_out(action).await;
        }
    }

    async fn carry_out(&mut self, action: Action) {
        match action {
            Action::Read { slots } => {
                let documents = self.documents.clone();
                self.requests.spawn(async move {
                    match documents.read(&slots).await {
                        Ok(found) => Ok(Some(Input::Read { found })),
                        Err(PartitionsError::Store(problem))
                            if problem.failure() != Failure::Rejected =>
                        {
                            Ok(Some(Input::Unread))
                        }
                        Err(problem) => Err(problem),
                    }
                });
            }
            Action::Write(writes) => {
                let (documents, fence) = (self.documents.clone(), self.term.epoch());
                self.requests.spawn(async move {
                    Ok(Some(Input::Written(documents.write(writes, fence).await?)))
                });
            }
            Action::Publish(versions) => self.publish(versions).await,
        }
    }

    /// The node's next view shows these versions, and tells the nodes whose own have moved.
    async fn publish(&self, versions: Arc<BTreeMap<BootId, AssignmentVersion>>) {
        let epoch = self.term.epoch();
        self.term.shared.report(baton_core::Input::Assigned { epoch, versions }).await;
    }

    /// Reads the task lists and what people want of them, and writes what this node's service
    /// declares into them. A node that declares none leaves them alone: another one may.
    fn look_at_lists(&mut self, declares: bool) {
        if !self.look.is_empty() {
            self.looks_again = true;
            return;
        }
        let documents = self.documents.clone();
        let lists = &self.setup.lists;
        let declared = (declares && !lists.is_empty()).then(|| lists.clone());
        let fence = self.term.epoch();
        self.look.spawn(async move {
            loop {
                let (version, mut lists) = match documents.read_lists().await {
                    Ok(found) => found,
                    Err(TaskListError::Store(problem))
                        if problem.failure() != Failure::Rejected =>
                    {
                        SystemClock.sleep(LOOKS_AFTER_FAILURE).await;
                        continue;
                    }
                    Err(problem) => return Err(problem.into()),
                };
                let declares = match &declared {
                    Some(declared) => lists.declare(declared).map_err(TaskListError::from)?,
                    None => false,
                };
                if version == 0 && !declares {
                    return Ok(None);
                }
                if !declares {
                    return Ok(Some(Input::Lists(lists.wanted())));
                }
                match documents.write_lists(version, &lists, Some(fence)).await {
                    Ok(WriteOutcome::Fenced) => return Ok(None),
                    Ok(WriteOutcome::Written(_) | WriteOutcome::Conflict(_))
                    | Err(StoreError::Unknown { .. }) => {}
                    Err(problem) => return Err(problem.into()),
                }
            }
        });
    }
}

fn answered(
    answer: Result<Result<Option<Input>, PartitionsError>, JoinError>,
) -> Result<Option<Input>, PartitionsError> {
    answer.unwrap_or_else(|problem| {
        let detail = format!("the store's driver panicked ({problem})");
        Err(StoreError::Unknown { detail }.into())
    })
}
