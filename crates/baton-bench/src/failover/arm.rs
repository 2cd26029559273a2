//! The arms: what is done to the coordinator, and how soon another job must run.

use std::time::Duration;

use clap::ValueEnum;
use tokio::sync::Mutex;

use super::strike::{self, Trial};
use crate::error::BenchError;
use crate::report::Bar;
use crate::site::Stage;

/// Nodes of each cluster.
pub const NODES: usize = 3;

/// How often a job writes.
pub const TICK_EVERY: Duration = Duration::from_millis(20);

/// The default lease and one beat.
const LEASE_AND_BEAT_MS: f64 = 20_000.0;

/// What is done to the coordinator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Arm {
    /// kill -9
    Kill,
    /// Asked to resign, over the store and its lifeline
    Resign,
    /// SIGTERM, as in a deploy
    Term,
    /// kill -9, without lifelines
    KillNoLifeline,
    /// SIGSTOP past the lease, then SIGCONT
    Pause,
}

impl Arm {
    pub const ALL: [Self; 5] =
        [Self::Kill, Self::Resign, Self::Term, Self::KillNoLifeline, Self::Pause];

    /// In the table.
    pub fn title(self) -> &'static str {
        match self {
            Self::Kill => "kill -9",
            Self::Resign => "resign",
            Self::Term => "SIGTERM",
            Self::KillNoLifeline => "kill, no lifeline",
            Self::Pause => "pause to takeover",
        }
    }

    /// In the names of folders.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Resign => "resign",
            Self::Term => "term",
            Self::KillNoLifeline => "kill-no-lifeline",
            Self::Pause => "pause",
        }
    }

    /// How soon another job must run, in milliseconds.
    pub fn bars(self) -> Vec<Bar> {
        match self {
            Self::Kill => vec![Bar::median(30.0), Bar::max(500.0)],
            Self::Resign => vec![Bar::median(10.0)],
            Self::KillNoLifeline => vec![Bar::max(LEASE_AND_BEAT_MS)],
            Self::Term | Self::Pause => Vec::new(),
        }
    }

    /// How many of so many clusters try it. Where milliseconds count, half of them: neighbours that
    /// only wait still tick and beat, and make the list of processes longer for a guard.
    pub fn clusters(self, most: u32) -> u32 {
        match self {
            Self::Kill | Self::Resign | Self::Term => most.div_ceil(2),
            Self::KillNoLifeline | Self::Pause => most,
        }
    }

    /// More flags of `baton run`.
    pub fn flags(self) -> &'static [&'static str] {
        match self {
            Self::KillNoLifeline => &["--no-lifeline"],
            _ => &[],
        }
    }

    /// Does it to the coordinator, and waits until another node's job runs.
    pub async fn strike(self, stage: &mut Stage, floor: &Mutex<()>) -> Result<Trial, BenchError> {
        match self {
            Self::Kill => strike::kill(stage, Some(floor)).await,
            Self::Resign => strike::resign(stage, floor).await,
            Self::Term => strike::terminate(stage, floor).await,
            // Seconds, most of them idle: a neighbour's millisecond does not show.
            Self::KillNoLifeline => strike::kill(stage, None).await,
            Self::Pause => strike::pause(stage).await,
        }
    }
}
