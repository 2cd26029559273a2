//! What one seed stands for: every parameter of a run, drawn once and printed on request.

mod draw;
mod fault;
mod overrides;

use std::collections::BTreeSet;
use std::time::Duration;

use baton_core::settings::{Settings, span};
use baton_store::ExpiryClock;
use serde::Serialize;

pub use fault::Fault;
pub use overrides::{Overrides, UnknownFault};

/// What may be lost when the store fails over, and whether the store can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailoverLoss {
    /// Nothing is ever lost.
    None,
    /// The last writes may be lost, and the lineage tells.
    #[serde(rename = "told")]
    Detectable,
    /// The last writes may be lost, and nothing tells: only S2's floor is promised.
    #[serde(rename = "untold")]
    Silent,
}

/// How long messages take.
#[derive(Clone, Debug, Serialize)]
pub struct Latency {
    /// The fastest, one way.
    #[serde(serialize_with = "span::serialize")]
    pub least: Duration,
    /// The slowest of three in four, one way.
    #[serde(serialize_with = "span::serialize")]
    pub usual: Duration,
    /// The slowest of the ordinary ones, one way.
    #[serde(serialize_with = "span::serialize")]
    pub most: Duration,
    /// The slowest of the extraordinary ones, one way.
    #[serde(serialize_with = "span::serialize")]
    pub tail: Duration,
}

/// One run.
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    /// Where it all comes from.
    #[serde(skip)]
    pub seed: u64,
    /// The settings of every node.
    pub settings: Settings,
    /// How many nodes.
    pub nodes: usize,
    /// The nodes that may not lead.
    pub ineligible: BTreeSet<usize>,
    /// Do nodes have lifelines?
    pub lifeline: bool,
    /// Whose clock judges expiry.
    pub expiry: ExpiryClock,
    /// What a failover of the store may lose.
    pub loss: FailoverLoss,
    /// Does the store know how long ago a node beat?
    pub member_age: bool,
    /// Does the store push hints?
    pub push: bool,
    /// How long messages take.
    pub latency: Latency,
    /// One message in this many meets a fault of its own.
    pub message_fault_one_in: u64,
    /// The mean time between two scheduled faults.
    #[serde(serialize_with = "span::serialize")]
    pub fault_every: Duration,
    /// The most by which a clock's rate is off, in parts per million of true time.
    pub drift_ppm: i64,
    /// The faults of this run.
    pub faults: BTreeSet<Fault>,
    /// How long faults go on.
    #[serde(serialize_with = "span::serialize")]
    pub stormy: Duration,
}

impl Plan {
    /// Does this run include the fault?
    pub fn has(&self, fault: Fault) -> bool {
        self.faults.contains(&fault)
    }

    /// Is one trusted leader promised (S1)? Not with clocks beyond ρ, nor when a failover may
    /// lose a grant without a trace.
    pub fn promises_one(&self) -> bool {
        !self.beyond_drift() && self.loss != FailoverLoss::Silent
    }

    /// Are epochs promised never to repeat at all? Only what no node saw can repeat, and only when
    /// a failover loses it without a trace.
    pub fn promises_unique_epochs(&self) -> bool {
        self.loss != FailoverLoss::Silent
    }

    /// Do clocks run beyond what is promised?
    pub fn beyond_drift(&self) -> bool {
        self.has(Fault::DriftBeyond) || self.has(Fault::StoreClockStep)
    }

    /// The time within which a leader must be there once it is calm (L1): lease and beat. An
    /// observer sees a renewal up to a beat late, and a lossy store makes it wait out a lease.
    pub fn recovery_bound(&self) -> Duration {
        let s = &self.settings;
        let lease = s.lease_timeout.mul_f64(1.0 + 2.0 * s.clock_drift_max) + s.safety_margin;
        let beat = s.heartbeat_interval + s.heartbeat_jitter;
        let beats = if self.expiry == ExpiryClock::Observer { 2 * beat } else { beat };
        let lost = if self.loss == FailoverLoss::None { Duration::ZERO } else { lease };
        let round_trips = 4 * 2 * self.latency.usual + Duration::from_millis(10);
        lease + lost + beats + round_trips
    }
}
