//! A schedule with the work that it runs.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use baton_core::schedule::{
    AttemptId, Daylight, Definition, InvalidSchedule, Misfire, OnCrash, Overlap, RunId, Schedule,
};
use baton_core::settings::show_span;
use baton_core::time::whole_ms;
use jiff::tz::TimeZone;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::zones;
use crate::leadership::Leadership;
use crate::plugin::PluginError;

/// The work of a schedule. A closure is one; see [`cron`].
#[async_trait]
pub trait ScheduledWork: Send + Sync + 'static {
    /// One attempt of one run. `Ok` means that the work is done, also after it was told to stop. It
    /// is told to stop by [`ScheduledRun::stopped`], and cancelled at
    /// its next `.await` some time later.
    async fn run(&self, run: ScheduledRun) -> Result<(), PluginError>;
}

#[async_trait]
impl<F, Work> ScheduledWork for F
where
    F: Fn(ScheduledRun) -> Work + Send + Sync + 'static,
    Work: Future<Output = Result<(), PluginError>> + Send + 'static,
{
    async fn run(&self, run: ScheduledRun) -> Result<(), PluginError> {
        self(run).await
    }
}

/// The error of work that was kept from going on, though it did not fail: for instance by the loss
/// of a process that it needs. What becomes of the run is the choice of [`OnCrash`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run was cut off")]
pub struct CutOff;

/// One attempt of a run, as its work sees it. As long as a clone of it exists the attempt has not
/// ended, and the term is not proved to have stopped.
#[derive(Clone)]
pub struct ScheduledRun {
    pub(super) id: AttemptId,
    pub(super) zone: TimeZone,
    pub(super) term: Leadership,
    pub(super) token: CancellationToken,
    /// The attempt has ended when no clone of the run has one any more.
    pub(super) _alive: mpsc::Sender<Infallible>,
}

impl ScheduledRun {
    /// The name of the schedule.
    pub fn schedule(&self) -> &str {
        &self.id.schedule
    }

    /// Names the run among those of the schedule. All attempts of a run have the same: an
    /// idempotency key.
    pub fn id(&self) -> RunId {
        self.id.run
    }

    /// The time of the slot in the zone of the schedule, such as `2026-11-20T02:00:00+01:00`; for a
    /// run that a person asked for, the time of that.
    pub fn slot(&self) -> String {
        baton_core::schedule::slot::instant_rfc3339(self.id.run.at_ms, &self.zone)
    }

    /// Which attempt of the run this is, from 1. A later one means that an earlier one failed or
    /// was cut off, perhaps in the middle.
    pub fn attempt(&self) -> u32 {
        self.id.attempt
    }

    /// The term that the run belongs to: for its epoch, and for fenced writes.
    pub fn term(&self) -> &Leadership {
        &self.term
    }

    /// Waits until the run is to stop: the term ends, its time is over, or a newer slot replaces
    /// it. Cancel safe.
    pub async fn stopped(&self) {
        self.token.cancelled().await;
    }

    /// A token that is cancelled when the run is to stop.
    #[must_use]
    pub fn token(&self) -> CancellationToken {
        self.token.child_token()
    }
}

impl std::fmt::Debug for ScheduledRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScheduledRun").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A schedule and its work, for [`NodeBuilder::schedule`]. It runs on the leader, once for each
/// slot, in UTC unless it has another zone.
///
/// [`NodeBuilder::schedule`]: crate::NodeBuilder::schedule
#[derive(Clone)]
#[must_use = "a schedule is due once a node has it"]
pub struct ScheduledJob {
    pub(super) definition: Definition,
    pub(super) work: Arc<dyn ScheduledWork>,
}

/// A schedule by a cron expression of 5 fields, of 6 with seconds, `@daily` and its like, or
/// `@every 5m`.
///
/// ```
/// use baton::{Node, cron};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let report = cron("report", "0 2 * * *", |run| async move {
///     println!("the report of {}, attempt {}", run.slot(), run.attempt());
///     Ok(())
/// });
/// let store = baton::open("sqlite://app.db").await?;
/// let node = Node::builder(store).schedule(report.tz("Europe/Berlin")).build()?;
/// # node.leave().await;
/// # Ok(())
/// # }
/// ```
pub fn cron<F, Work>(
    name: impl Into<String>,
    expression: impl Into<String>,
    work: F,
) -> ScheduledJob
where
    F: Fn(ScheduledRun) -> Work + Send + Sync + 'static,
    Work: Future<Output = Result<(), PluginError>> + Send + 'static,
{
    ScheduledJob::new(Definition::new(name, expression), work)
}

impl ScheduledJob {
    /// Work for a definition.
    pub fn new(definition: Definition, work: impl ScheduledWork) -> Self {
        Self { definition, work: Arc::new(work) }
    }

    /// The time zone in which the expression is read, by its IANA name.
    pub fn tz(mut self, zone: impl Into<String>) -> Self {
        self.definition.tz = zone.into();
        self
    }

    /// What a change of the clock does, instead of what fits the expression.
    pub fn daylight(mut self, daylight: Daylight) -> Self {
        self.definition.daylight = Some(daylight);
        self
    }

    /// What becomes of slots that were missed; one run makes up for all unless given.
    pub fn misfire(mut self, misfire: Misfire) -> Self {
        self.definition.misfire = misfire;
        self
    }

    /// How late a slot may start without counting as missed; a minute unless given.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.definition.grace_ms = whole_ms(grace);
        self
    }

    /// What happens when a slot is due during a run; it is skipped unless given.
    pub fn overlap(mut self, overlap: Overlap) -> Self {
        self.definition.overlap = overlap;
        self
    }

    /// What becomes of a run that was cut off; it runs again unless given.
    pub fn on_crash(mut self, on_crash: OnCrash) -> Self {
        self.definition.on_crash = on_crash;
        self
    }

    /// Slots start up to this much later, by an amount that the name determines.
    pub fn jitter(mut self, jitter: Duration) -> Self {
        self.definition.jitter_ms = whole_ms(jitter);
        self
    }

    /// How long one attempt may take; 5 minutes unless given, and zero for no limit.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.definition.timeout_ms = whole_ms(timeout);
        self
    }

    /// How many times a run that failed is tried again; never unless given.
    pub fn retries(mut self, retries: u32) -> Self {
        self.definition.retries = retries;
        self
    }

    pub(super) fn resolve(self) -> Result<(Schedule, Arc<dyn ScheduledWork>), InvalidSchedule> {
        Ok((zones::resolve(self.definition)?, self.work))
    }
}

impl std::fmt::Debug for ScheduledJob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Definition { name, cron, timeout_ms, .. } = &self.definition;
        let timeout = show_span(Duration::from_millis(*timeout_ms)).to_string();
        f.debug_struct("ScheduledJob")
            .field("name", name)
            .field("cron", cron)
            .field("timeout", &timeout)
            .finish_non_exhaustive()
    }
}
