//! What became of one store's cluster, by the jobs' log and by the store's own history.

use std::time::Duration;

use baton_cli::attempts::Attempts;
use baton_cli::cluster::{Cluster, Overlap, Ticks};
use baton_core::protocol::TermRecord;

use super::counts::FaultCounts;
use super::fault_kind::FaultKind;
use crate::chaos::checks::{disorder, unknown_terms};
use crate::error::BenchError;
use crate::log_findings::LogFindings;

/// A limit above the number of terms.
pub const TERMS_MAX: usize = 100_000;

/// How long a store may take to be asked again after all that was done to it.
pub const PATIENCE: Duration = Duration::from_secs(30);
pub const ASK_EVERY: Duration = Duration::from_millis(500);

/// How many findings of a kind are shown in full.
const TOLD_MAX: usize = 3;

/// What was done to a cluster, and what was found afterwards.
pub struct Outcome {
    /// What was done.
    pub counts: FaultCounts,
    /// Kinds of faults that never came.
    pub missing: Vec<FaultKind>,
    /// What the log says.
    pub log: LogFindings,
    /// Terms in the history whose epochs do not rise.
    pub disorder: usize,
    /// Terms of the log that the history has not.
    pub unknown_terms: usize,
    /// The longest time without a line.
    pub gap: Duration,
    /// How long after the last fault everything was as it should be.
    pub settled_in: Duration,
    /// What is wrong, in full.
    pub details: Vec<String>,
}

impl Outcome {
    /// Looks at everything. `lost`: terms that a server's data had before it was replaced.
    pub async fn of(
        cluster: &Cluster,
        counts: FaultCounts,
        kinds: &[FaultKind],
        (settled_in, lost): (Duration, &[TermRecord]),
    ) -> Result<Self, BenchError> {
        let ticks = cluster.ticks()?;
        let history = history(cluster).await?;
        let missing = counts.missing(kinds);
        Ok(Self {
            missing,
            counts,
            log: LogFindings::of(&ticks),
            disorder: disorder(&history),
            unknown_terms: unknown_terms(&within(&ticks, &history), &[&history, lost].concat()),
            gap: ticks.longest_gap(),
            settled_in,
            details: details(&ticks),
        })
    }

    /// How often another term took over.
    pub fn failovers(&self) -> usize {
        self.log.terms.saturating_sub(1)
    }
}

/// A connection may be one of those that broke, so that it is asked more than once.
async fn history(cluster: &Cluster) -> Result<Vec<TermRecord>, BenchError> {
    let mut attempts = Attempts::new(ASK_EVERY, PATIENCE);
    loop {
        let asked = cluster.store.history(&cluster.plan.namespace, TERMS_MAX).await;
        if asked.is_ok() || !attempts.next().await {
            return Ok(asked?);
        }
    }
}

/// The lines of terms that the history goes back to: some stores forget the oldest.
fn within(ticks: &Ticks, history: &[TermRecord]) -> Ticks {
    let oldest = history.iter().map(|term| term.epoch.0).min().unwrap_or_default();
    ticks.since_epoch(oldest)
}

fn details(ticks: &Ticks) -> Vec<String> {
    let mut found: Vec<String> = ticks.overlaps().iter().take(TOLD_MAX).map(overlap).collect();
    let doubles = ticks.doubles();
    if !doubles.is_empty() {
        let first: Vec<String> = doubles.iter().take(TOLD_MAX).map(ToString::to_string).collect();
        found.push(format!("{} slots twice: {} …", doubles.len(), first.join(", ")));
    }
    let shared = ticks.shared_epochs().into_iter().take(TOLD_MAX);
    found.extend(shared.map(|epoch| format!("two processes wrote in epoch {epoch}")));
    found
}

fn overlap(Overlap { newer, stale }: &Overlap) -> String {
    let late = stale.at.since(newer.at);
    format!(
        "{} wrote in epoch {} at {}, {:.1} ms after {} began epoch {}",
        stale.node,
        stale.epoch,
        stale.at.as_micros(),
        late.as_secs_f64() * 1e3,
        newer.node,
        newer.epoch
    )
}
