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
    #[serde(alias = "phase")]
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

impl Fields {
    fn of(event: &Event) -> serde_json::Result<Self> {
        let mut fields = serde_json::to_value(event).and_then(Self::deserialize)?;
        fields.reason = match event {
            Event::HealthChanged { verdict, reasons } => {
                let worst = reasons.first().map(|reason| format!(": {reason}"));
                Some(format!("{}{}", verdict.word(), worst.unwrap_or_default()).into())
            }
            Event::LifelineUnwatched(notice) => Some(notice.to_string().into()),
            _ => fields.reason,
        };
        Ok(fields)
    }
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
    let fields = Fields::of(event).unwrap_or_default();
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
        Topic::Schedule => about!("baton::schedule"),
        Topic::Partition => about!("baton::partition"),
        Topic::Store => about!("baton::store"),
        Topic::Lifeline => about!("baton::lifeline"),
        Topic::Beat => about!("baton::beat"),
        // Members, and what has no target of its own.
        _ => about!("baton::member"),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// At least one event of each name.
    const EVENTS: &str = include_str!("../../../../baton-core/src/event/samples.jsonl");

    fn event(line: &str) -> Event {
        serde_json::from_str(line).expect(line)
    }

    #[test]
    fn the_fields_of_every_event_are_read() {
        for line in EVENTS.lines() {
            let fields = Fields::of(&event(line));
            assert!(fields.is_ok(), "{line}: {:?}", fields.err());
        }
    }

    #[test]
    fn a_reason_that_events_have_in_parts_is_one_text() {
        let cases = [
            (
                r#"{"event":"cluster:health-changed","verdict":"critical","reasons":
                    [{"reason":"no-node"},{"reason":"no-candidate","registered":1}]}"#,
                "critical: no node is registered: start one",
            ),
            (r#"{"event":"cluster:health-changed","verdict":"healthy","reasons":[]}"#, "healthy"),
            (
                r#"{"event":"lifeline:unwatched","after_ms":15000,"because":"it has none",
                    "remedy":"give it one"}"#,
                "a crash of this node will be noticed after 15s here, because it has none; \
                 give it one",
            ),
            (r#"{"event":"lease:lost","epoch":4,"reason":"window-closed"}"#, "window-closed"),
            (r#"{"event":"cold-start-phase-changed","phase":"ready","waited_ms":500}"#, "ready"),
        ];
        for (line, expected) in cases {
            let fields = Fields::of(&event(line)).expect(line);
            assert_eq!(fields.reason.map(bare).as_deref(), Some(expected));
        }
    }
}
