//! What an event looks like in the logs: its level, its target, its sentence and its fields.

use baton_core::ids::{BootId, Namespace, NodeId};
use baton_core::{Event, LifelineReport, Topic};
use serde::Deserialize;
use serde_json::Value;
use tracing::Level;

use crate::event::Stamped;
use crate::observe::bare;

/// What is worth a field of its own, by the names that it has in events; the others are in none.
#[derive(Default, Deserialize)]
struct Fields {
    #[serde(alias = "stored")]
    epoch: Option<u64>,
    #[serde(alias = "new", alias = "current")]
    leader: Option<String>,
    #[serde(alias = "former")]
    previous: Option<String>,
    #[serde(alias = "worker", alias = "to")]
    member: Option<String>,
    plugin: Option<String>,
    #[serde(alias = "phase", alias = "verdict", alias = "because")]
    reason: Option<Value>,
    error: Option<String>,
    failures: Option<u64>,
    left_ms: Option<u64>,
    restart_in_ms: Option<u64>,
    #[serde(alias = "duration_ms")]
    latency_ms: Option<u64>,
    records: Option<u64>,
    #[serde(alias = "target")]
    removed_from: Option<String>,
}

pub(super) fn level(event: &Event) -> Level {
    match event.level() {
        baton_core::Level::Error => Level::ERROR,
        baton_core::Level::Warn => Level::WARN,
        baton_core::Level::Info => Level::INFO,
        baton_core::Level::Debug => Level::DEBUG,
    }
}

/// One line for each level: level and target are a line's identity, and known when it is compiled.
macro_rules! at_level {
    ($level:expr, $target:literal, $($fields:tt)*) => {
        match $level {
            Level::ERROR => tracing::event!(target: $target, Level::ERROR, $($fields)*),
            Level::WARN => tracing::event!(target: $target, Level::WARN, $($fields)*),
            Level::INFO => tracing::event!(target: $target, Level::INFO, $($fields)*),
            _ => tracing::event!(target: $target, Level::DEBUG, $($fields)*),
        }
    };
}

pub(super) fn write(stamped: &Stamped) {
    let event = &stamped.event;
    let fields = serde_json::to_value(event).and_then(Fields::deserialize).unwrap_or_default();
    macro_rules! about {
        ($target:literal) => {
            at_level!(
                level(event),
                $target,
                namespace = %stamped.namespace,
                node = %stamped.node,
                event = event.name(),
                epoch = fields.epoch,
                leader = fields.leader,
                previous = fields.previous,
                member = fields.member,
                plugin = fields.plugin,
                reason = fields.reason.map(bare),
                error = fields.error,
                failures = fields.failures,
                left_ms = fields.left_ms,
                restart_in_ms = fields.restart_in_ms,
                latency_ms = fields.latency_ms,
                records = fields.records,
                removed_from = fields.removed_from,
                "{event}"
            )
        };
    }
    match event.topic() {
        Topic::Election => about!("baton::election"),
        Topic::Plugin => about!("baton::plugin"),
        Topic::Store => about!("baton::store"),
        Topic::Member => about!("baton::member"),
        Topic::Lifeline => about!("baton::lifeline"),
        Topic::Beat => about!("baton::beat"),
    }
}

/// How loud a change of a lifeline is, and its words.
pub(super) fn lifeline(report: LifelineReport) -> (Level, &'static str) {
    match report {
        LifelineReport::Alive => (Level::DEBUG, "the leader's lifeline is connected"),
        LifelineReport::Refused => (Level::INFO, "the leader's lifeline refuses connections"),
        LifelineReport::OtherBoot(_) => {
            (Level::INFO, "another process answers at the leader's lifeline")
        }
        LifelineReport::Closed => (Level::WARN, "the leader's lifeline cannot be dialled"),
        LifelineReport::TimedOut => (Level::WARN, "the leader's lifeline does not answer"),
        LifelineReport::Broken => (Level::WARN, "the connection to the leader's lifeline broke"),
    }
}

pub(super) fn write_lifeline(
    namespace: &Namespace,
    node: &NodeId,
    boot: BootId,
    report: LifelineReport,
) {
    let (level, words) = lifeline(report);
    at_level!(level, "baton::lifeline", %namespace, %node, leader_boot = %boot, "{words}");
}
