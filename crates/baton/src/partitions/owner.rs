//! The node's own part: a service that starts and stops partitions as its holder decides.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_trait::async_trait;
use baton_core::Event;
use baton_core::partition::holder::{Action, Holder, Input};
use baton_core::partition::{Partition, PartitionReport, Token};
use baton_core::time::Moment;
use baton_store::clock::{Clock, SystemClock};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::documents::Documents;
use super::handler::{OwnedPartition, OwnershipWindow, PartitionHandler};
use super::setup::PartitionSetup;
use crate::plugin::PluginError;
use crate::service::{Service, ServiceContext};

/// The name of the service, which is the topic of hints that the task lists were changed.
pub(super) const TOPIC: &str = "partition-owner";

/// How long a report waits for partitions that are being stopped: most stop within that, and then
/// one beat says so instead of two.
const REPORTS_WITHIN: Duration = Duration::from_millis(5);

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
        self.stop_leftovers(&handler).await;
        let last_session = self.0.last_session.load(Ordering::Relaxed);
        let terms = shared.settings.lease_terms();
        let mut owner = Owner {
            setup: &self.0,
            context,
            handler,
            documents: self.0.documents(shared),
            holder: Holder::after_session(shared.boot, terms, last_session),
            window,
            owned: BTreeMap::new(),
            readings: JoinSet::new(),
            starts: JoinSet::new(),
            stops: JoinSet::new(),
            seen: Seen { clock_leapt: context.snapshot().clock_leapt, ..Seen::default() },
            report: None,
            stage: Stage::Running,
            ends_at: None,
        };
        match shared.settings.enabled {
            true => owner.run().await,
            false => owner.run_alone().await,
        }
        Ok(())
    }
}

impl PartitionOwner {
    /// This service failed and runs again: what its last run had started is stopped first.
    async fn stop_leftovers(&self, handler: &Arc<dyn PartitionHandler>) {
        let leftovers = std::mem::take(&mut *self.0.leftovers.lock().expect("no holder panics"));
        let mut stops = JoinSet::new();
        for StartedPartition { owned, started } in leftovers {
            let handler = handler.clone();
            stops.spawn(async move {
                let _ = started.await;
                handler.on_release(&owned).await;
            });
        }
        while stops.join_next().await.is_some() {}
    }

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
    clock_leapt: Duration,
}

/// How far the end of the node has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Running,
    /// The node leaves, and shows as draining: other nodes are given its partitions one by one,
    /// until this moment.
    GivingAway(Moment),
    /// Everything is told to stop.
    Stopping,
}

/// What the node is to say of its partitions.
struct Report {
    content: Arc<PartitionReport>,
    /// When it is handed to the node; `None` if it was.
    due: Option<Moment>,
}

/// A partition that the application was given, and the call that gave it.
pub(super) struct StartedPartition {
    pub(super) owned: OwnedPartition,
    /// Answered when `on_assigned` has returned.
    started: oneshot::Receiver<()>,
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
    starts: JoinSet<()>,
    pub(super) stops: JoinSet<(Partition, Token)>,
    seen: Seen,
    report: Option<Report>,
    stage: Stage,
    /// When the leader has had time to read the last report.
    ends_at: Option<Moment>,
}

impl Owner<'_> {
    async fn run(&mut self) {
        let mut snapshots = self.context.shared.snapshot.subscribe();
        snapshots.mark_changed();
        loop {
            let now = SystemClock.now();
            if self.has_ended(now) {
                return;
            }
            if matches!(self.stage, Stage::GivingAway(until) if now >= until || self.is_empty()) {
                self.stage = Stage::Stopping;
                self.feed(Input::Leave);
                continue;
            }
            self.hand_report_over(now).await;
            let wait = self.wakes_after(now);
            tokio::select! {
                biased;
                changed = snapshots.changed() => {
                    changed.expect("the node holds the sender");
                    snapshots.borrow_and_update();
                    self.look_at_node();
                }
                Some(stopped) = self.stops.join_next() => {
                    let (partition, token) = stopped.expect("a release is cancelled by none");
                    self.feed(Input::Stopped { partition, token });
                }
                Some(_) = self.starts.join_next() => {}
                Some(read) = self.readings.join_next() => {
                    self.feed(read.expect("a reading is cancelled by none"));
                }
                () = self.context.hinted() => self.setup.edited.notify_one(),
                () = self.context.stopped(), if self.stage == Stage::Running => {
                    // What it gives away has to be with its new owners before the grace is over.
                    let grace = self.context.shared.settings.stop_grace * 3 / 4;
                    let until = if self.has_heirs() { now + grace } else { now };
                    self.stage = Stage::GivingAway(until);
                }
                () = SystemClock.sleep(wait) => self.feed(Input::Tick),
            }
        }
    }

    fn wakes_after(&self, now: Moment) -> Duration {
        let leaves = match self.stage {
            Stage::GivingAway(until) => until.since(now),
            Stage::Running | Stage::Stopping => Duration::MAX,
        };
        let reports = self.report.as_ref().and_then(|report| report.due);
        let own = [reports, self.ends_at].into_iter().flatten().map(|at| at.since(now)).min();
        self.holder.wakes_after(now).min(leaves).min(own.unwrap_or(Duration::MAX))
    }

    /// Does nothing run?
    fn is_empty(&self) -> bool {
        self.holder.is_idle() && self.stops.is_empty()
    }

    /// Has everything stopped, and may the leader have read so? A record that is taken out before
    /// says nothing: the leader would wait until this process has died, or its window must have
    /// closed.
    fn has_ended(&mut self, now: Moment) -> bool {
        if self.stage != Stage::Stopping || !self.is_empty() {
            return false;
        }
        let written = self.context.snapshot().written_report.clone();
        let last = self.report.as_ref().map(|report| &report.content);
        if last.is_some() && last != written.as_ref() {
            return false;
        }
        let is_read_within = match self.has_heirs() {
            true => self.context.shared.settings.stop_grace / 8,
            false => Duration::ZERO,
        };
        now >= *self.ends_at.get_or_insert(now + is_read_within)
    }

    /// Are there other nodes that take partitions?
    fn has_heirs(&self) -> bool {
        let snapshot = self.context.snapshot();
        let members = snapshot.view.iter().flat_map(|view| &view.members);
        let mut others = members.filter(|it| it.boot != self.context.boot() && !it.draining);
        others.any(|it| it.assignment.is_some())
    }

    /// Hands the report to the node once it is due.
    async fn hand_report_over(&mut self, now: Moment) {
        let waits = !self.stops.is_empty();
        let is_due = |due: &mut Moment| now >= *due || !waits;
        let Some(report) = &mut self.report else { return };
        if report.due.take_if(is_due).is_some() {
            let input = baton_core::Input::ReportPartitions(Some(report.content.clone()));
            self.context.shared.report(input).await;
        }
    }

    /// What the node knows now: beats that were written, its line of history, the view.
    fn look_at_node(&mut self) {
        let snapshot = self.context.snapshot();
        if let Some(lineage) = snapshot.lineage {
            self.feed(Input::Lineage(lineage));
        }
        let leapt = snapshot.clock_leapt.saturating_sub(self.seen.clock_leapt);
        if !leapt.is_zero() {
            self.seen.clock_leapt = snapshot.clock_leapt;
            self.feed(Input::ClockLeapt { by: leapt });
        }
        if let Some(sent) = snapshot.written_at.filter(|it| Some(*it) != self.seen.written_at) {
            self.seen.written_at = Some(sent);
            self.feed(Input::Beat { sent });
        }
        let (id, boot) = (self.context.node(), self.context.boot());
        let member = snapshot.view.as_deref().and_then(|view| view.member(id));
        let member = member.filter(|member| member.boot == boot);
        self.feed(Input::View(member.and_then(|member| member.assignment)));
    }

    fn feed(&mut self, input: Input) {
        let (stops, others): (Vec<_>, Vec<_>) = self
            .holder
            .handle(SystemClock.now(), input)
            .into_iter()
            .partition(|action| matches!(action, Action::Stop { .. }));
        let lost = stops.len();
        // What is to stop is not owned from here on: a window that opens again is not for it.
        stops.into_iter().for_each(|action| self.carry_out(action));
        self.window.set(self.holder.window_until());
        let gained = others.iter().filter(|it| matches!(it, Action::Start { .. })).count();
        others.into_iter().for_each(|action| self.carry_out(action));
        self.setup.last_session.store(self.holder.session(), Ordering::Relaxed);
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

    fn carry_out(&mut self, action: Action) {
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
            Action::Report(content) => {
                let waiting = self.report.as_ref().and_then(|report| report.due);
                let due = waiting.unwrap_or_else(|| SystemClock.now() + REPORTS_WITHIN);
                self.report = Some(Report { content, due: Some(due) });
            }
        }
    }

    pub(super) fn start(&mut self, partition: Partition, token: Token) {
        let release = CancellationToken::new();
        let window = self.window.clone();
        let node = Arc::downgrade(&self.context.shared);
        let owned = OwnedPartition { partition: partition.clone(), token, release, window, node };
        let (handler, given) = (self.handler.clone(), owned.clone());
        let (done, started) = oneshot::channel();
        self.starts.spawn(async move {
            handler.on_assigned(given).await;
            // The partition may have been stopped, and its owner ended, meanwhile.
            let _ = done.send(());
        });
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
            // A call that panicked has done what it could.
            let _ = started.await;
            let mut call = JoinSet::new();
            call.spawn(async move { handler.on_release(&owned).await });
            call.join_next().await;
            (partition, token)
        });
    }
}

/// Nothing may act for a partition whose owner is gone, whatever it was told.
impl Drop for Owner<'_> {
    fn drop(&mut self) {
        self.window.set(Moment::default());
        self.stops.detach_all();
        self.starts.detach_all();
        let owned = std::mem::take(&mut self.owned);
        owned.values().for_each(|it| it.owned.release.cancel());
        let mut leftovers = self.setup.leftovers.lock().expect("no holder panics");
        leftovers.extend(owned.into_values());
    }
}
