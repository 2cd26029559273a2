//! What people see: one enum for the library's stream, logs, traces and audits.
//!
//! The names are stable. Where two names are in use for the same thing, [`Event::names`] has both.
//! Levels and topics stand in `kind.rs`, the sentences in `sentence.rs`; `samples.jsonl` has one
//! event of each name at least, for tests.

mod kind;
mod sentence;

use serde::{Deserialize, Serialize};

use crate::health::{Reason, Verdict};
use crate::ids::{BootId, Epoch, NodeId};
use crate::notice::LateNotice;
use crate::protocol::{ReleaseReason, ViewVersion};
use crate::refusal::TransferRefusal;
use crate::schedule::{MissReason, RunOutcome};

pub use kind::{Level, Topic};

macro_rules! events {
    ($($(#[doc = $doc:literal])* $name:literal $(or $alias:literal)?: $topic:ident, $level:ident
        => $variant:ident $({ $($fields:tt)* })? $(($inner:ty))?,)*) => {
        /// Something worth telling. All spans are in milliseconds.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "event")]
        #[non_exhaustive]
        pub enum Event {$(
            $(#[doc = $doc])*
            #[serde(rename = $name)]
            $variant $({ $($fields)* })? $(($inner))?,
        )*}

        impl Event {
            /// What it is about, how much it usually matters, and its names.
            fn kind(&self) -> (Topic, Level, &'static [&'static str]) {
                match self {$(
                    Self::$variant { .. } => (Topic::$topic, Level::$level, &[$name $(, $alias)?]),
                )*}
            }
        }
    };
}

// The names of an event, the one it is serialised under first; its topic and level; its fields.
events! {
    /// The namespace has another leader, or none.
    "leader:changed": Election, Info => LeaderChanged {
        /// Who it was.
        previous: Option<NodeId>,
        /// Who it is.
        new: Option<NodeId>,
        /// In which epoch.
        epoch: Epoch,
    },
    /// A newer view of the cluster.
    "workers:updated": Member, Debug => WorkersUpdated {
        /// Which view.
        version: ViewVersion,
        /// How many live nodes it has.
        workers: usize,
    },
    /// This node's beat came through.
    "worker-heartbeat": Beat, Debug => WorkerHeartbeat {
        /// How long the store took.
        latency_ms: u64,
    },
    /// This node won an election.
    "coordinator-elected": Election, Info => CoordinatorElected {
        /// The term.
        epoch: Epoch,
        /// How long until the mandate must be confirmed.
        mandate_ms: u64,
        /// How many live nodes it knows of.
        active: usize,
    },
    /// This node's term begins its work. Also named `became_leader`.
    "coordinator-promoted" or "became_leader": Election, Info => CoordinatorPromoted {
        /// The term.
        epoch: Epoch,
    },
    /// This node's term is over. Also named `lost_leadership`.
    "coordinator-demoted" or "lost_leadership": Election, Warn => CoordinatorDemoted {
        /// The term.
        epoch: Epoch,
        /// Why.
        reason: DemotionReason,
    },
    /// The leader confirmed its mandate.
    "coordinator-epoch-renewed": Election, Debug => CoordinatorEpochRenewed {
        /// The term.
        epoch: Epoch,
        /// How long until it must be confirmed again.
        mandate_ms: u64,
    },
    /// The cold start moved on.
    "cold-start-phase-changed": Election, Debug => ColdStartPhaseChanged {
        /// The new phase.
        phase: Phase,
        /// How long the phase before it lasted.
        waited_ms: u64,
    },
    /// The leader is gone.
    "leader_down": Election, Warn => LeaderDown {
        /// Who it was.
        former: NodeId,
        /// Is its death proved, or did its lease run out?
        proved: bool,
    },
    /// The regular check of who leads.
    "election_check": Election, Debug => ElectionCheck {
        /// Who, as far as this node knows.
        current: Option<NodeId>,
    },
    /// A beat took much longer than it should.
    "contention:detected": Store, Warn => ContentionDetected {
        /// How many times as long.
        ratio: f64,
        /// How long it took from when it was due.
        duration_ms: u64,
        /// How long it may take.
        expected_ms: u64,
    },
    /// The store failed so often that beats are held back.
    "circuitBreaker:open": Store, Warn => BreakerOpen {
        /// Failures in a row.
        failures: u32,
    },
    /// The next beat probes the store.
    "circuitBreaker:half-open": Store, Warn => BreakerHalfOpen,
    /// The store works again.
    "circuitBreaker:closed": Store, Info => BreakerClosed,
    /// The leader cannot reach the store; its term goes on for a while.
    "store:unreachable": Store, Warn => StoreUnreachable {
        /// The term.
        epoch: Epoch,
        /// How long until work is told to stop.
        left_ms: u64,
    },
    /// The hard deadline passed, or the store says that another node holds the lease.
    "lease:lost": Election, Warn => LeaseLost {
        /// The term.
        epoch: Epoch,
        /// Why.
        reason: DemotionReason,
    },
    /// The term's work did not stop before the hard deadline. The process may have to be aborted;
    /// after a pause of the whole process the work may stop right after this.
    "term:overran": Election, Error => TermOverran {
        /// The term.
        epoch: Epoch,
    },
    /// The store's data went back to an older copy; takeovers wait until any lost term is over.
    "store:went-back": Store, Error => StoreWentBack {
        /// The highest epoch seen before.
        seen: Epoch,
        /// What the store says now.
        stored: Epoch,
    },
    /// Leadership changes too often.
    "leader:flapping": Election, Warn => LeaderFlapping {
        /// The number of changes.
        changes: u32,
        /// Time window in which leader changes are counted.
        window_ms: u64,
    },
    /// Another live process goes by this node's id; this one must not start.
    "node:id-taken": Member, Error => NodeIdTaken {
        /// The other process.
        by: BootId,
    },
    /// A newer process took this node's id over; this one stops.
    "node:superseded": Member, Error => NodeSuperseded {
        /// The newer process.
        by: BootId,
    },
    /// A node fell silent and is dropped from the view.
    "worker:timed-out": Member, Warn => WorkerTimedOut {
        /// Which.
        worker: NodeId,
    },
    /// A node is dead: whatever it owned is orphaned.
    "worker:dead": Member, Warn => WorkerDead {
        /// Which.
        worker: NodeId,
    },
    /// Leadership is being handed to a named node.
    "transfer:started": Election, Info => TransferStarted {
        /// The term that ends.
        epoch: Epoch,
        /// To whom.
        to: NodeId,
    },
    /// A transfer was refused.
    "transfer:refused": Election, Warn => TransferRefused {
        /// To whom it was to be.
        to: NodeId,
        /// Why not.
        reason: TransferRefusal,
    },
    /// No node would prove this node dead: its crash would be noticed late.
    "lifeline:unwatched": Lifeline, Warn => LifelineUnwatched(LateNotice),
    /// The store rejects this node's requests; a person must act.
    "store:rejected": Store, Error => StoreRejected,
    /// A plugin started in this node's term.
    "plugin:promoted": Plugin, Debug => PluginPromoted {
        /// Which.
        plugin: String,
        /// The term.
        epoch: Epoch,
    },
    /// A plugin has stopped with this node's term.
    "plugin:demoted": Plugin, Debug => PluginDemoted {
        /// Which.
        plugin: String,
        /// The term.
        epoch: Epoch,
        /// Why the term ended.
        reason: DemotionReason,
    },
    /// The cluster does better or worse than before.
    "cluster:health-changed": Member, Info => HealthChanged {
        /// How it does now.
        verdict: Verdict,
        /// Why, the worst first.
        reasons: Vec<Reason>,
    },
    /// A plugin returned an error, panicked, took too long, or did not start.
    "plugin:failed": Plugin, Warn => PluginFailed {
        /// Which.
        plugin: String,
        /// What it said.
        error: String,
        /// How long until it is started again; `None` if it has failed too often.
        restart_in_ms: Option<u64>,
    },
    /// A plugin removed expired records in one round.
    "plugin:swept": Plugin, Info => PluginSwept {
        /// Which.
        plugin: String,
        /// What the records belonged to, such as a table.
        target: String,
        /// Number of records removed.
        records: u64,
    },
    /// A run of a schedule was claimed, and starts.
    "schedule:started": Schedule, Info => ScheduleStarted {
        /// Which schedule.
        schedule: String,
        /// The time of its slot, or when it was asked for, in Unix milliseconds.
        slot_ms: u64,
        /// Which attempt, from 1.
        attempt: u32,
        /// How long after its slot.
        late_ms: u64,
    },
    /// A run of a schedule has ended, or one of its attempts.
    "schedule:ended": Schedule, Info => ScheduleEnded {
        /// Which schedule.
        schedule: String,
        /// The time of its slot, or when it was asked for, in Unix milliseconds.
        slot_ms: u64,
        /// Which attempt, from 1.
        attempt: u32,
        /// How long the attempt took.
        took_ms: u64,
        /// How it ended.
        outcome: RunOutcome,
        /// When it is tried again, in Unix milliseconds; `None` if it is not.
        retry_at_ms: Option<u64>,
    },
    /// Slots of a schedule were not run.
    "schedule:missed": Schedule, Warn => ScheduleMissed {
        /// Which schedule.
        schedule: String,
        /// How many slots, up to 10,000.
        count: u32,
        /// The oldest, in Unix milliseconds.
        first_ms: u64,
        /// The newest, in Unix milliseconds.
        last_ms: u64,
        /// Why.
        reason: MissReason,
    },
    /// This node was given partitions, or gave some up.
    "partitions:changed": Partition, Info => PartitionsChanged {
        /// How many it was given.
        gained: usize,
        /// How many it is to stop, or has to.
        lost: usize,
        /// How many it owns now.
        owned: usize,
    },
    /// The task of a partition panicked. The node still owns the partition, and runs it again.
    "partition:failed": Partition, Warn => PartitionFailed {
        /// Which, as `domain/list#number`.
        partition: String,
        /// What the panic said.
        error: String,
        /// How long until it runs again.
        restart_in_ms: u64,
    },
    /// A plugin did not stop when it was told to, and could not be cancelled either.
    "plugin:ignored-cancellation": Plugin, Error => PluginIgnoredCancellation {
        /// Which.
        plugin: String,
    },
}

/// Why a leader stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DemotionReason {
    /// It gave the lease up of its own will.
    Released(ReleaseReason),
    /// No renewal came through in time.
    WindowClosed,
    /// A higher epoch exists.
    HigherEpoch(Epoch),
    /// The store no longer shows this process as the holder.
    LeaseGone,
    /// A newer process took the node's id over.
    Superseded,
}

/// How far a node's cold start has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Phase {
    /// Watching who else starts.
    #[default]
    Observing,
    /// Standing for election.
    Election,
    /// Won, waiting before work begins.
    Preparing,
    /// Done.
    Ready,
}

#[cfg(test)]
mod tests;
