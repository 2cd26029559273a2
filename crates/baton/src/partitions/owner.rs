//! The node's own part: a service that starts and stops partitions as its holder decides.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use baton_core::Event;
use baton_core::partition::holder::{Action, Holder, Input};
use baton_core::partition::{Partition, Token};
use baton_core::time::Moment;
use baton_store::clock::{Clock, SystemClock};
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use super::documents::Documents;
use super::handler::{OwnedPartition, OwnershipWindow, PartitionHandler};
use super::setup::PartitionSetup;
use crate::plugin::PluginError;
use crate::service::{Service, ServiceContext};

/// The name of the service, which is the topic of hints that the task lists were changed.
pub(super) const TOPIC: &str = "partition-owner";

/// Owns the partitions that this node is given.
pub(crate) struct PartitionOwner(pub(crate) Arc<PartitionSetup>);

#[async_trait]
impl Service for PartitionOwner {
    fn name(&self) -> &str {
        TOPIC
    }

    async fn run(&self, context: &ServiceContext) -> Result<(), PluginError> {
        let shared = &context.shared;
        let Some(handler) = self.0.handler.clone() else {
            self.only_hear_hints(context).await;
            return Ok(());
        };
        let window = Arc::new(OwnershipWindow::default());
        let mut owner = Owner {
            setup: &self.0,
            context,
            handler,
            documents: self.0.documents(shared),
            holder: Holder::new(shared.boot, shared.settings.lease_terms()),
            window,
            owned: BTreeMap::new(),
            readings: JoinSet::new(),
            stops: JoinSet::new(),
            seen: Seen::default(),
        };
        match shared.settings.enabled {
            true => owner.run().await,
            false => owner.run_alone().await,
        }
        Ok(())
    }
}

impl PartitionOwner {
    /// A node that owns no partitions may lead all the same.
    async fn only_hear_hints(&self, context: &ServiceContext) {
        loop {
            tokio::select! {
                () = context.hinted() => self.0.edited.notify_one(),
                () = context.stopped() => return,
            }
        }
    }
}

/// What of the snapshot the holder was told.
#[derive(Default)]
struct Seen {
    written_at: Option<Moment>,
}

/// A partition that the application was given, and the call that gave it.
pub(super) struct StartedPartition {
    pub(super) owned: OwnedPartition,
    started: JoinHandle<()>,
}

pub(super) struct Owner<'a> {
    pub(super) setup: &'a PartitionSetup,
    pub(super) context: &'a ServiceContext,
    handler: Arc<dyn PartitionHandler>,
    documents: Documents,
    holder: Holder,
    pub(super) window: Arc<OwnershipWindow>,
    /// What was started and not told to stop.
    pub(super) owned: BTreeMap<Partition, StartedPartition>,
    readings: JoinSet<Input>,
    pub(super) stops: JoinSet<(Partition, Token)>,
    seen: Seen,
}

impl Owner<'_> {
    async fn run(&mut self) {
        let mut snapshots = self.context.shared.snapshot.subscribe();
        snapshots.mark_changed();
        let mut is_leaving = false;
        loop {
            if is_leaving && self.holder.is_idle() && self.stops.is_empty() {
                return;
            }
            let wait = self.holder.wakes_after(SystemClock.now());
            tokio::select! {
                biased;
                changed = snapshots.changed() => {
                    changed.expect("the node holds the sender");
                    snapshots.borrow_and_update();
                    self.look_at_node().await;
                }
                Some(stopped) = self.stops.join_next() => {
                    let (partition, token) = stopped.expect("a release is cancelled by none");
                    self.feed(Input::Stopped { partition, token }).await;
                }
                Some(read) = self.readings.join_next() => {
                    self.feed(read.expect("a reading is cancelled by none")).await;
                }
                () = self.context.hinted() => self.setup.edited.notify_one(),
                () = self.context.stopped(), if !is_leaving => {
                    is_leaving = true;
                    self.feed(Input::Leave).await;
                }
                () = SystemClock.sleep(wait) => self.feed(Input::Tick).await,
            }
        }
    }

    /// What the node knows now: beats that were written, its line of history, the view.
    async fn look_at_node(&mut self) {
        let snapshot = self.context.snapshot();
        if let Some(lineage) = snapshot.lineage {
            self.feed(Input::Lineage(lineage)).await;
        }
        if let Some(sent) = snapshot.written_at.filter(|it| Some(*it) != self.seen.written_at) {
            self.seen.written_at = Some(sent);
            self.feed(Input::Beat { sent }).await;
        }
        let (id, boot) = (self.context.node(), self.context.boot());
        let member = snapshot.view.as_deref().and_then(|view| view.member(id));
        let member = member.filter(|member| member.boot == boot);
        self.feed(Input::View(member.and_then(|member| member.assignment))).await;
    }

    async fn feed(&mut self, input: Input) {
        let actions = self.holder.handle(SystemClock.now(), input);
        self.window.set(self.holder.window_until());
        let (mut gained, mut lost) = (0, 0);
        for action in actions {
            gained += usize::from(matches!(action, Action::Start { .. }));
            lost += usize::from(matches!(action, Action::Stop { .. }));
            self.carry_out(action).await;
        }
        self.announce(gained, lost);
    }

    /// Says what this node owns now, if that changed.
    pub(super) fn announce(&self, gained: usize, lost: usize) {
        if gained + lost > 0 {
            let owned = self.owned.values().map(|it| it.owned.clone()).collect::<Vec<_>>();
            let count = owned.len();
            self.setup.owned.send_replace(Arc::new(owned));
            let changed = Event::PartitionsChanged { gained, lost, owned: count };
            self.context.shared.events.send(changed);
        }
    }

    async fn carry_out(&mut self, action: Action) {
        match action {
            Action::Read { slot } => {
                let documents = self.documents.clone();
                self.readings.spawn(async move {
                    let read = documents.read(&[slot]).await;
                    match read.ok().and_then(|mut found| found.pop()) {
                        Some(found) => Input::Read { slot, found },
                        None => Input::Unread { slot },
                    }
                });
            }
            Action::Start { partition, token } => self.start(partition, token),
            Action::Stop { partition, token } => self.stop(partition, token),
            Action::Report(report) => {
                let input = baton_core::Input::ReportPartitions(Some(report));
                self.context.shared.report(input).await;
            }
        }
    }

    pub(super) fn start(&mut self, partition: Partition, token: Token) {
        let release = CancellationToken::new();
        let window = self.window.clone();
        let owned = OwnedPartition { partition: partition.clone(), token, release, window };
        let (handler, given) = (self.handler.clone(), owned.clone());
        let started = tokio::spawn(async move { handler.on_assigned(given).await });
        self.owned.insert(partition, StartedPartition { owned, started });
    }

    /// Lets the application stop the work. It has stopped when the application says so, and not
    /// before, however long that takes.
    pub(super) fn stop(&mut self, partition: Partition, token: Token) {
        let Some(StartedPartition { owned, started }) = self.owned.remove(&partition) else {
            return;
        };
        owned.release.cancel();
        let handler = self.handler.clone();
        self.stops.spawn(async move {
            // A call that panicked has begun what it could: it is stopped like the others.
            let _ = started.await;
            let released = tokio::spawn(async move { handler.on_release(&owned).await });
            let _ = released.await;
            (partition, token)
        });
    }
}
