//! What people see: one enum for the library's stream, logs, traces and audits.
//!
//! The names are stable. Where two names are in use for the same thing, [`Event::names`] has both.
//! What is the same of every event of a kind stands in `kind.rs`, the sentences in `sentence.rs`.

mod kind;
mod sentence;

use serde::{Deserialize, Serialize};

use crate::health::{Reason, Verdict};
use crate::ids::{BootId, Epoch, NodeId};
use crate::notice::LateNotice;
use crate::protocol::{ReleaseReason, ViewVersion};
use crate::refusal::TransferRefusal;

pub use kind::{Level, Topic};

/// Something worth telling. All spans are in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event")]
#[non_exhaustive]
pub enum Event {
    /// The namespace has another leader, or none.
    #[serde(rename = "leader:changed")]
    LeaderChanged {
        /// Who it was.
        previous: Option<NodeId>,
        /// Who it is.
        new: Option<NodeId>,
        /// In which epoch.
        epoch: Epoch,
    },
    /// A newer view of the cluster.
    #[serde(rename = "workers:updated")]
    WorkersUpdated {
        /// Which view.
        version: ViewVersion,
        /// How many live nodes it has.
        workers: usize,
    },
    /// This node's beat came through.
    #[serde(rename = "worker-heartbeat")]
    WorkerHeartbeat {
        /// How long the store took.
        latency_ms: u64,
    },
    /// This node won an election.
    #[serde(rename = "coordinator-elected")]
    CoordinatorElected {
        /// The term.
        epoch: Epoch,
        /// How long until the mandate must be confirmed.
        mandate_ms: u64,
        /// How many live nodes it knows of.
        active: usize,
    },
    /// This node's term begins its work. Also named `became_leader`.
    #[serde(rename = "coordinator-promoted")]
    CoordinatorPromoted {
        /// The term.
        epoch: Epoch,
    },
    /// This node's term is over. Also named `lost_leadership`.
    #[serde(rename = "coordinator-demoted")]
    CoordinatorDemoted {
        /// The term.
        epoch: Epoch,
        /// Why.
        reason: DemotionReason,
    },
    /// The leader confirmed its mandate.
    #[serde(rename = "coordinator-epoch-renewed")]
    CoordinatorEpochRenewed {
        /// The term.
        epoch: Epoch,
        /// How long until it must be confirmed again.
        mandate_ms: u64,
    },
    /// The cold start moved on.
    #[serde(rename = "cold-start-phase-changed")]
    ColdStartPhaseChanged {
        /// The new phase.
        phase: Phase,
        /// How long the phase before it lasted.
        waited_ms: u64,
    },
    /// The leader is gone.
    #[serde(rename = "leader_down")]
    LeaderDown {
        /// Who it was.
        former: NodeId,
        /// Is its death proved, or did its lease run out?
        proved: bool,
    },
    /// The regular check of who leads.
    #[serde(rename = "election_check")]
    ElectionCheck {
        /// Who, as far as this node knows.
        current: Option<NodeId>,
    },
    /// A beat took much longer than it should.
    #[serde(rename = "contention:detected")]
    ContentionDetected {
        /// How many times as long.
        ratio: f64,
        /// How long it took from when it was due.
        duration_ms: u64,
        /// How long it may take.
        expected_ms: u64,
    },
    /// The store failed so often that beats are held back.
    #[serde(rename = "circuitBreaker:open")]
    BreakerOpen {
        /// Failures in a row.
        failures: u32,
    },
    /// The next beat probes the store.
    #[serde(rename = "circuitBreaker:half-open")]
    BreakerHalfOpen,
    /// The store works again.
    #[serde(rename = "circuitBreaker:closed")]
    BreakerClosed,
    /// The leader cannot reach the store; its term goes on for a while.
    #[serde(rename = "store:unreachable")]
    StoreUnreachable {
        /// The term.
        epoch: Epoch,
        /// How long until work is told to stop.
        left_ms: u64,
    },
    /// The hard deadline passed, or the store says that another node holds the lease.
    #[serde(rename = "lease:lost")]
    LeaseLost {
        /// The term.
        epoch: Epoch,
        /// Why.
        reason: DemotionReason,
    },
    /// The term's work did not stop before the hard deadline. The process may have to be aborted;
    /// after a pause of the whole process the work may stop right after this.
    #[serde(rename = "term:overran")]
    TermOverran {
        /// The term.
        epoch: Epoch,
    },
    /// The store's data went back to an older copy; takeovers wait until any lost term is over.
    #[serde(rename = "store:went-back")]
    StoreWentBack {
        /// The highest epoch seen before.
        seen: Epoch,
        /// What the store says now.
        stored: Epoch,
    },
    /// Leadership changes too often.
    #[serde(rename = "leader:flapping")]
    LeaderFlapping {
        /// The number of changes.
        changes: u32,
        /// Time window in which leader changes are counted.
        window_ms: u64,
    },
    /// Another live process goes by this node's id; this one must not start.
    #[serde(rename = "node:id-taken")]
    NodeIdTaken {
        /// The other process.
        by: BootId,
    },
    /// A newer process took this node's id over; this one stops.
    #[serde(rename = "node:superseded")]
    NodeSuperseded {
        /// The newer process.
        by: BootId,
    },
    /// A node fell silent and is dropped from the view.
    #[serde(rename = "worker:timed-out")]
    WorkerTimedOut {
        /// Which.
        worker: NodeId,
    },
    /// A node is dead: whatever it owned is orphaned.
    #[serde(rename = "worker:dead")]
    WorkerDead {
        /// Which.
        worker: NodeId,
    },
    /// Leadership is being handed to a named node.
    #[serde(rename = "transfer:started")]
    TransferStarted {
        /// The term that ends.
        epoch: Epoch,
        /// To whom.
        to: NodeId,
    },
    /// A transfer was refused.
    #[serde(rename = "transfer:refused")]
    TransferRefused {
        /// To whom it was to be.
        to: NodeId,
        /// Why not.
        reason: TransferRefusal,
    },
    /// No node would prove this node dead: its crash would be noticed late.
    #[serde(rename = "lifeline:unwatched")]
    LifelineUnwatched(LateNotice),
    /// The store rejects this node's requests; a person must act.
    #[serde(rename = "store:rejected")]
    StoreRejected,
    /// A plugin started in this node's term.
    #[serde(rename = "plugin:promoted")]
    PluginPromoted {
        /// Which.
        plugin: String,
        /// The term.
        epoch: Epoch,
    },
    /// A plugin has stopped with this node's term.
    #[serde(rename = "plugin:demoted")]
    PluginDemoted {
        /// Which.
        plugin: String,
        /// The term.
        epoch: Epoch,
        /// Why the term ended.
        reason: DemotionReason,
    },
    /// The cluster does better or worse than before.
    #[serde(rename = "cluster:health-changed")]
    HealthChanged {
        /// How it does now.
        verdict: Verdict,
        /// Why, the worst first.
        reasons: Vec<Reason>,
    },
    /// A plugin returned an error, panicked, took too long, or did not start.
    #[serde(rename = "plugin:failed")]
    PluginFailed {
        /// Which.
        plugin: String,
        /// What it said.
        error: String,
        /// How long until it is started again; `None` if it has failed too often.
        restart_in_ms: Option<u64>,
    },
    /// A plugin removed expired records in one round.
    #[serde(rename = "plugin:swept")]
    PluginSwept {
        /// Which.
        plugin: String,
        /// What the records belonged to, such as a table.
        target: String,
        /// Number of records removed.
        records: u64,
    },
    /// A plugin did not stop when it was told to, and could not be cancelled either.
    #[serde(rename = "plugin:ignored-cancellation")]
    PluginIgnoredCancellation {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Phase {
    /// Watching who else starts.
    Observing,
    /// Standing for election.
    Election,
    /// Won, waiting before work begins.
    Preparing,
    /// Done.
    Ready,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_serialised_under_its_first_name() {
        let events = [
            Event::BreakerHalfOpen,
            Event::CoordinatorPromoted { epoch: Epoch(3) },
            Event::ElectionCheck { current: None },
            Event::LeaderDown { former: NodeId::new("a").expect("valid"), proved: true },
        ];
        for event in events {
            let json = serde_json::to_value(&event).expect("plain data");
            assert_eq!(json["event"], event.name());
            let back: Event = serde_json::from_value(json).expect("what was written");
            assert_eq!(back, event);
        }
    }

    #[test]
    fn events_have_sentences() {
        let node = |name| NodeId::new(name).expect("valid");
        let cases = [
            (
                Event::LeaderChanged {
                    previous: Some(node("a")),
                    new: Some(node("b")),
                    epoch: Epoch(4),
                },
                "b leads, epoch 4, after a",
            ),
            (
                Event::LeaderDown { former: node("a"), proved: true },
                "leader a is dead: its port refuses connections",
            ),
            (
                Event::CoordinatorDemoted {
                    epoch: Epoch(3),
                    reason: DemotionReason::HigherEpoch(Epoch(4)),
                },
                "this node no longer leads, epoch 3: epoch 4 has begun",
            ),
            (Event::BreakerHalfOpen, "the next beat probes the store"),
            (
                Event::WorkerTimedOut { worker: node("c") },
                "c is silent and was removed from the view",
            ),
            (
                Event::HealthChanged {
                    verdict: Verdict::Critical,
                    reasons: vec![Reason::NoNode, Reason::NoCandidate { registered: 1 }],
                },
                "the cluster is critical: no node is registered: start one; and 1 more",
            ),
        ];
        for (event, expected) in cases {
            assert_eq!(event.to_string(), expected);
        }
    }

    #[test]
    fn two_names_for_the_same_thing_are_aliases() {
        let promoted = Event::CoordinatorPromoted { epoch: Epoch(1) };
        assert_eq!(promoted.names(), ["coordinator-promoted", "became_leader"]);
        let reason = DemotionReason::WindowClosed;
        let demoted = Event::CoordinatorDemoted { epoch: Epoch(1), reason };
        assert_eq!(demoted.names(), ["coordinator-demoted", "lost_leadership"]);
    }
}
