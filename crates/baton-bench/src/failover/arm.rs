//! The arms: what is done to the leader, and how soon another job must run.

use std::time::Duration;

use baton_cli::cluster::Body;
use clap::ValueEnum;
use tokio::sync::Mutex;

use super::strike::{self, Trial};
use crate::error::BenchError;
use crate::fixture::StoreKind;
use crate::processes::this_program;
use crate::report::Bar;
use crate::sandbox::Stage;

/// Nodes of each cluster.
pub const NODES: usize = 3;

/// How often a job writes.
pub const TICK_EVERY: Duration = Duration::from_millis(20);

/// The default lease and one beat, in milliseconds.
const LEASE_AND_BEAT_MS: f64 = 20_000.0;

/// How the leader is made to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Arm {
    /// kill -9
    Kill,
    /// Resigns by itself, in a process with the library in it
    Resign,
    /// Asked to resign from outside, over the store and its lifeline
    Asked,
    /// SIGTERM, as in a deploy
    Term,
    /// kill -9, without lifelines
    KillNoLifeline,
    /// SIGSTOP past the lease, then SIGCONT
    Pause,
}

impl Arm {
    pub const ALL: [Self; 6] =
        [Self::Kill, Self::Resign, Self::Asked, Self::Term, Self::KillNoLifeline, Self::Pause];

    /// Its name in the table.
    pub fn title(self) -> &'static str {
        match self {
            Self::Kill => "kill -9",
            Self::Resign => "resign",
            Self::Asked => "asked",
            Self::Term => "SIGTERM",
            Self::KillNoLifeline => "no lifeline",
            Self::Pause => "pause",
        }
    }

    /// Its name in folders.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Resign => "resign",
            Self::Asked => "asked",
            Self::Term => "term",
            Self::KillNoLifeline => "kill-no-lifeline",
            Self::Pause => "pause",
        }
    }

    /// How soon another job must run, in milliseconds.
    pub fn bars(self, store: StoreKind) -> Vec<Bar> {
        match (self, store) {
            (Self::Kill, StoreKind::Sqlite) => vec![Bar::median(30.0), Bar::max(500.0)],
            (Self::Kill, _) => vec![Bar::median(50.0), Bar::max(1_000.0)],
            (Self::Resign, StoreKind::S3) => vec![Bar::median(30.0)],
            (Self::Resign, _) => vec![Bar::median(10.0)],
            (Self::KillNoLifeline, _) => vec![Bar::max(LEASE_AND_BEAT_MS)],
            (Self::Asked | Self::Term | Self::Pause, _) => Vec::new(),
        }
    }

    /// Do milliseconds count? Otherwise most of the time is spent waiting for a lease to end.
    pub fn is_quick(self) -> bool {
        matches!(self, Self::Kill | Self::Resign | Self::Asked | Self::Term)
    }

    /// The number of clusters that try it on each store, at most `most`. Where milliseconds count,
    /// fewer: neighbours that only wait still tick and beat, and make the list of processes longer
    /// for a guard. A handover, after which no process has to be started again, does with a fifth
    /// of them. Stores that wait side by side have half of them each.
    pub fn clusters(self, most: u32, stores: usize) -> u32 {
        match (self, stores) {
            (Self::Resign | Self::Asked, _) => most.div_ceil(5),
            (Self::Kill | Self::Term, _) => most.saturating_mul(2).div_ceil(3),
            (Self::KillNoLifeline | Self::Pause, 0 | 1) => most,
            (Self::KillNoLifeline | Self::Pause, _) => most.div_ceil(2),
        }
    }

    /// What its processes run.
    pub fn body(self) -> Result<Body, BenchError> {
        Ok(match self {
            Self::Resign => Body::Library(this_program()?),
            Self::KillNoLifeline => Body::run(&["--no-lifeline"]),
            Self::Kill | Self::Asked | Self::Term | Self::Pause => Body::run(&[]),
        })
    }

    /// Does it to the leader, and waits until another node's job runs.
    pub async fn strike(
        self,
        stage: &mut Stage,
        exclusive: &Mutex<()>,
    ) -> Result<Trial, BenchError> {
        match self {
            Self::Kill => strike::kill(stage, Some(exclusive)).await,
            Self::Resign => strike::resign(stage, exclusive).await,
            Self::Asked => strike::ask(stage, exclusive).await,
            Self::Term => strike::terminate(stage, exclusive).await,
            // Seconds, most of them idle: a neighbour's millisecond does not show.
            Self::KillNoLifeline => strike::kill(stage, None).await,
            Self::Pause => strike::pause(stage).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_clusters_try_what_must_not_be_disturbed() {
        assert_eq!(Arm::Kill.clusters(10, 1), 7);
        assert_eq!(Arm::Resign.clusters(10, 1), 2);
        assert_eq!(Arm::Pause.clusters(10, 1), 10);
        assert_eq!(Arm::Pause.clusters(10, 6), 5);
        assert_eq!(Arm::Pause.clusters(1, 6), 1);
    }

    #[test]
    fn no_store_has_longer_than_a_lease_and_a_beat() {
        for store in StoreKind::ALL {
            assert_eq!(Arm::KillNoLifeline.bars(store), [Bar::max(20_000.0)]);
            let bars = Arm::Kill.bars(store);
            assert!(bars.iter().all(|bar| bar.most <= 1_000.0), "{store}");
        }
    }
}
