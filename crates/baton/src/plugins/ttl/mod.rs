//! Removes what has expired: the user's rows, keys and objects, and baton's own old records.
//!
//! ```text
//!   every 10 s ──► round: a batch of each sweep in turn, until each comes back short
//!                    before each batch: may the term still start something?
//!                    between batches:   a pause, so that others get at the server
//!                  own records: nodes that fell silent long ago, terms beyond the last thousand
//! ```
//!
//! Nothing is removed twice and nothing by two leaders: each batch is one step of its store
//! and carries the term's epoch.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use baton_core::Event;
use baton_store::clock::{Clock, SystemClock};
use baton_store::sweep::Sweep;
use baton_store::{Prune, PruneOutcome, StoreError};

use crate::leadership::Leadership;
use crate::plugin::{Plugin, PluginError, RestartPolicy};

/// Baton's own records as a target, in events and metrics.
const OWN_RECORDS: &str = "baton's own records";

/// A node that was silent for less may only be slow, or on its way back from a restart.
const FORGET_LEAST: Duration = Duration::from_secs(60);

/// Which of baton's own records go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnRecords {
    /// How long a node must be silent before its record is removed. A node that comes back writes a
    /// new one.
    pub forget_dead_after: Duration,
    /// The number of the last terms that are kept. No store keeps more than 1,000.
    pub keep_terms: usize,
}

impl Default for OwnRecords {
    fn default() -> Self {
        Self { forget_dead_after: Duration::from_secs(24 * 60 * 60), keep_terms: 1_000 }
    }
}

/// How much was removed since the plugin was made, by this process.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    targets: Vec<(String, Arc<AtomicU64>)>,
    own_records: Arc<AtomicU64>,
}

impl Counts {
    /// Each sweep by its name, in the order they were given.
    pub fn swept(&self) -> Vec<(String, u64)> {
        let read = |(name, count): &(String, Arc<AtomicU64>)| {
            (name.clone(), count.load(Ordering::Relaxed))
        };
        self.targets.iter().map(read).collect()
    }

    /// All sweeps together.
    pub fn total(&self) -> u64 {
        self.targets.iter().map(|(_, count)| count.load(Ordering::Relaxed)).sum()
    }

    /// Baton's own records.
    pub fn own_records(&self) -> u64 {
        self.own_records.load(Ordering::Relaxed)
    }
}

/// Removes what has expired, while this node leads.
///
/// ```no_run
/// use baton::plugins::ttl::{OwnRecords, Ttl};
/// use baton::sweep::{self, Strategy, Table};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let url = "postgres://app@db/app";
/// let sessions = Table::new("sessions").key(["id"]).expires("expires_at");
/// let ttl = Ttl::new()
///     .sweep(sweep::open(url, sessions, Strategy::Delete)?)
///     .own_records(OwnRecords::default());
/// let counts = ttl.counts();
/// let node = baton::Node::builder(baton::open(url).await?).plugin(ttl).build()?;
/// println!("{} rows so far", counts.total());
/// # Ok(())
/// # }
/// ```
///
/// A sweep that fails does not stop the others and never costs leadership: the round ends with an
/// error that names it, and the next round tries again.
pub struct Ttl {
    name: String,
    sweeps: Vec<Arc<dyn Sweep>>,
    own: Option<OwnRecords>,
    /// Those of the sweeps in the same order.
    counts: Counts,
    every: Duration,
    batch: u32,
    pause: Duration,
}

impl std::fmt::Debug for Ttl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ttl")
            .field("name", &self.name)
            .field("every", &self.every)
            .field("batch", &self.batch)
            .finish_non_exhaustive()
    }
}

impl Default for Ttl {
    fn default() -> Self {
        Self::new()
    }
}

impl Ttl {
    /// Sweeps nothing yet. A round begins every 10 s, a batch has at most 2,000 records, and 10 ms
    /// pass between two batches.
    pub fn new() -> Self {
        Self {
            name: "ttl".to_owned(),
            sweeps: Vec::new(),
            own: None,
            counts: Counts::default(),
            every: Duration::from_secs(10),
            batch: 2_000,
            pause: Duration::from_millis(10),
        }
    }

    /// Its name in events and logs, for a node that has several.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Sweeps this too.
    #[must_use]
    pub fn sweep(mut self, sweep: impl Sweep) -> Self {
        self.counts.targets.push((sweep.name().to_owned(), Arc::default()));
        self.sweeps.push(Arc::new(sweep));
        self
    }

    /// The time between two rounds. A record is removed at most this long after it expired, unless
    /// there is a backlog.
    #[must_use]
    pub fn every(self, every: Duration) -> Self {
        Self { every, ..self }
    }

    /// The most records of one batch, and so of one transaction.
    #[must_use]
    pub fn batch(self, batch: u32) -> Self {
        Self { batch, ..self }
    }

    /// The time between two batches.
    #[must_use]
    pub fn pause(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    /// Removes baton's own old records too.
    #[must_use]
    pub fn own_records(self, own: OwnRecords) -> Self {
        Self { own: Some(own), ..self }
    }

    /// How much was removed: keep it, and read it whenever you like.
    pub fn counts(&self) -> Counts {
        self.counts.clone()
    }

    /// What it removes by name, and how much of it is gone so far.
    fn counted(&self) -> impl Iterator<Item = (&str, &Arc<AtomicU64>)> {
        let targets = self.counts.targets.iter().map(|(name, swept)| (name.as_str(), swept));
        targets.chain(self.own.map(|_| (OWN_RECORDS, &self.counts.own_records)))
    }

    /// Can it work as it is set?
    pub fn check(&self) -> Result<(), InvalidTtl> {
        if self.batch == 0 {
            return Err(InvalidTtl::Batch);
        }
        if self.every.is_zero() {
            return Err(InvalidTtl::Every);
        }
        match self.own.map(|own| own.forget_dead_after) {
            Some(span) if span < FORGET_LEAST => {
                Err(InvalidTtl::ForgetDeadAfter(span, FORGET_LEAST))
            }
            _ => Ok(()),
        }
    }
}

/// Why a [`Ttl`] cannot work as it is set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidTtl {
    /// Nothing would ever go.
    #[error("batch is 0; give at least 1 record")]
    Batch,
    /// It would never rest.
    #[error("every is 0 ms; give at least 1 ms between two rounds")]
    Every,
    /// Nodes that are only slow would be forgotten.
    #[error("forget_dead_after is {0:?}; give at least {1:?}, or a slow node would be forgotten")]
    ForgetDeadAfter(Duration, Duration),
}

/// What failed in one round of the clean-up. What is not named went well.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .failures.join("; "))]
#[non_exhaustive]
pub struct SweepRoundError {
    /// Each failure, with the target that it is about.
    pub failures: Vec<String>,
}

impl Ttl {
    /// One round, and an event for each target of which something was removed in it.
    async fn round(&self, term: &Leadership) -> Result<(), PluginError> {
        let so_far = || -> Vec<u64> {
            self.counted().map(|(_, records)| records.load(Ordering::Relaxed)).collect()
        };
        let before = so_far();
        let done = self.sweep_all(term).await;
        for ((target, _), (before, after)) in self.counted().zip(before.into_iter().zip(so_far())) {
            let (plugin, target, records) = (self.name.clone(), target.to_owned(), after - before);
            if records > 0 {
                term.shared.events.send(Event::PluginSwept { plugin, target, records });
            }
        }
        done
    }

    /// A backlog of one target does not keep the others waiting: they take turns.
    async fn sweep_all(&self, term: &Leadership) -> Result<(), PluginError> {
        let mut failures = Vec::new();
        let mut waiting: VecDeque<_> = self.sweeps.iter().zip(&self.counts.targets).collect();
        let mut is_first = true;
        while let Some((sweep, target)) = waiting.pop_front() {
            if !is_first && !self.paused(term).await {
                break;
            }
            is_first = false;
            if !term.may_start_work() {
                break;
            }
            match sweep.batch(term.epoch(), self.batch).await {
                Ok(swept) => {
                    target.1.fetch_add(u64::from(swept.records), Ordering::Relaxed);
                    if swept.more {
                        waiting.push_back((sweep, target));
                    }
                }
                Err(error) => failures.push(error.to_string()),
            }
        }
        if let Err(error) = self.prune(term).await {
            failures.push(error.to_string());
        }
        match failures.is_empty() {
            true => Ok(()),
            false => Err(SweepRoundError { failures }.into()),
        }
    }

    /// Removes what is old, a batch at a time.
    async fn prune(&self, term: &Leadership) -> Result<(), StoreError> {
        let Some(own) = self.own else { return Ok(()) };
        while term.may_start_work() {
            let prune = Prune {
                dead_for: own.forget_dead_after,
                keep_terms: own.keep_terms,
                limit: self.batch,
            };
            let PruneOutcome::Pruned { records } = term.prune(prune).await? else {
                return Ok(());
            };
            self.counts.own_records.fetch_add(u64::from(records), Ordering::Relaxed);
            if records < self.batch || !self.paused(term).await {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Waits between two batches; false if the term ended meanwhile.
    async fn paused(&self, term: &Leadership) -> bool {
        tokio::select! {
            biased;
            _ = term.lost() => false,
            () = SystemClock.sleep(self.pause) => true,
        }
    }
}

#[async_trait]
impl Plugin for Ttl {
    fn name(&self) -> &str {
        &self.name
    }

    fn work_interval(&self) -> Duration {
        self.every
    }

    /// It is tried again for ever: rows that stay too long are no reason for another leader.
    fn restart_policy(&self) -> RestartPolicy {
        RestartPolicy {
            limit: u32::MAX,
            within: Duration::from_secs(300),
            backoff_min: Duration::from_secs(1),
            backoff_max: Duration::from_secs(60),
        }
    }

    async fn on_become_coordinator(&self, term: &Leadership) -> Result<(), PluginError> {
        self.check()?;
        for (target, records) in self.counted() {
            term.shared.counts.sweeps(&self.name, target, records);
        }
        Ok(())
    }

    async fn coordinator_work(&self, term: &Leadership) -> Result<(), PluginError> {
        self.round(term).await
    }
}
