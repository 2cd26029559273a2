//! What an event looks like in the logs: its level, its target, its words and its fields.

use baton_core::health::Verdict;
use baton_core::ids::{BootId, Namespace, NodeId};
use baton_core::{DemotionReason, Event, LifelineReport};
use serde::Serialize;
use serde_json::Value;
use tracing::Level;

use crate::event::Stamped;

/// The part of baton that an event is about: the target of its line.
#[derive(Clone, Copy)]
enum Topic {
    Election,
    Plugin,
    Store,
    Member,
    Lifeline,
    Beat,
}

/// What is worth a field of its own; the others are in none.
#[derive(Default)]
struct Fields<'a> {
    epoch: Option<u64>,
    leader: Option<&'a str>,
    previous: Option<&'a str>,
    member: Option<&'a str>,
    plugin: Option<&'a str>,
    reason: Option<String>,
    error: Option<&'a str>,
    failures: Option<u64>,
    left_ms: Option<u64>,
    restart_in_ms: Option<u64>,
    latency_ms: Option<u64>,
    records: Option<u64>,
    removed_from: Option<&'a str>,
}

/// How loud an event is.
pub(super) fn level(event: &Event) -> Level {
    match event {
        Event::TermOverran { .. }
        | Event::StoreWentBack { .. }
        | Event::StoreRejected
        | Event::NodeIdTaken { .. }
        | Event::NodeSuperseded { .. }
        | Event::PluginFailed { restart_in_ms: None, .. }
        | Event::PluginIgnoredCancellation { .. }
        | Event::HealthChanged { verdict: Verdict::Critical, .. } => Level::ERROR,
        Event::CoordinatorDemoted { reason: DemotionReason::Released(_), .. } => Level::INFO,
        Event::CoordinatorDemoted { .. }
        | Event::LeaderDown { .. }
        | Event::LeaseLost { .. }
        | Event::LeaderFlapping { .. }
        | Event::LifelineUnwatched(_)
        | Event::TransferRefused { .. }
        | Event::ContentionDetected { .. }
        | Event::BreakerOpen { .. }
        | Event::StoreUnreachable { .. }
        | Event::WorkerTimedOut { .. }
        | Event::WorkerDead { .. }
        | Event::PluginFailed { .. }
        | Event::HealthChanged { verdict: Verdict::Degraded, .. } => Level::WARN,
        Event::LeaderChanged { .. }
        | Event::CoordinatorElected { .. }
        | Event::CoordinatorPromoted { .. }
        | Event::TransferStarted { .. }
        | Event::BreakerHalfOpen
        | Event::BreakerClosed
        | Event::PluginSwept { .. }
        | Event::HealthChanged { .. } => Level::INFO,
        Event::WorkersUpdated { .. }
        | Event::WorkerHeartbeat { .. }
        | Event::CoordinatorEpochRenewed { .. }
        | Event::ColdStartPhaseChanged { .. }
        | Event::ElectionCheck { .. }
        | Event::PluginPromoted { .. }
        | Event::PluginDemoted { .. } => Level::DEBUG,
        _ => Level::INFO,
    }
}

fn words(event: &Event) -> (Topic, &'static str) {
    match event {
        Event::LeaderChanged { new: Some(_), .. } => (Topic::Election, "the leader changed"),
        Event::LeaderChanged { new: None, .. } => (Topic::Election, "no node leads"),
        Event::CoordinatorElected { .. } => (Topic::Election, "this node is elected"),
        Event::CoordinatorPromoted { .. } => (Topic::Election, "this node leads"),
        Event::CoordinatorDemoted { .. } => (Topic::Election, "this node leads no more"),
        Event::CoordinatorEpochRenewed { .. } => (Topic::Election, "the mandate is confirmed"),
        Event::ColdStartPhaseChanged { .. } => (Topic::Election, "the cold start moved on"),
        Event::LeaderDown { proved: true, .. } => (Topic::Election, "the leader is dead"),
        Event::LeaderDown { .. } => (Topic::Election, "the leader's lease ran out"),
        Event::ElectionCheck { .. } => (Topic::Election, "the regular check of who leads"),
        Event::LeaderFlapping { .. } => (Topic::Election, "the leader changes too often"),
        Event::TransferStarted { .. } => (Topic::Election, "leadership is handed over"),
        Event::TransferRefused { .. } => (Topic::Election, "a transfer is refused"),
        Event::LeaseLost { .. } => (Topic::Election, "the lease is lost"),
        Event::TermOverran { .. } => (Topic::Election, "work went on past its deadline"),
        Event::ContentionDetected { .. } => (Topic::Store, "a beat was slow"),
        Event::BreakerOpen { .. } => (Topic::Store, "the store fails: beats are held back"),
        Event::BreakerHalfOpen => (Topic::Store, "the next beat probes the store"),
        Event::BreakerClosed => (Topic::Store, "the store works again"),
        Event::StoreUnreachable { .. } => (Topic::Store, "the store cannot be reached"),
        Event::StoreWentBack { .. } => (Topic::Store, "the store's data went back"),
        Event::StoreRejected => (Topic::Store, "the store refuses: run baton doctor"),
        Event::NodeIdTaken { .. } => (Topic::Member, "another live process has this node's id"),
        Event::NodeSuperseded { .. } => (Topic::Member, "a newer process took this node's id over"),
        Event::WorkersUpdated { .. } => (Topic::Member, "the members changed"),
        Event::WorkerTimedOut { .. } => (Topic::Member, "a node fell silent"),
        Event::WorkerDead { .. } => (Topic::Member, "a node is dead"),
        Event::HealthChanged { .. } => (Topic::Member, "the cluster's health changed"),
        Event::WorkerHeartbeat { .. } => (Topic::Beat, "a beat came through"),
        Event::PluginPromoted { .. } => (Topic::Plugin, "a plugin started"),
        Event::PluginDemoted { .. } => (Topic::Plugin, "a plugin stopped"),
        Event::PluginFailed { restart_in_ms: Some(_), .. } => (Topic::Plugin, "a plugin failed"),
        Event::PluginFailed { .. } => (Topic::Plugin, "a plugin failed and is not started again"),
        Event::PluginIgnoredCancellation { .. } => (Topic::Plugin, "a plugin does not stop"),
        Event::PluginSwept { .. } => (Topic::Plugin, "a plugin removed expired records"),
        Event::LifelineUnwatched(_) => {
            (Topic::Lifeline, "a crash of this node would be noticed late")
        }
        other => (Topic::Member, other.name()),
    }
}

fn fields(event: &Event) -> Fields<'_> {
    let mut fields = Fields { plugin: event.plugin(), ..Fields::default() };
    match event {
        Event::LeaderChanged { previous, new, epoch } => {
            fields.epoch = Some(epoch.0);
            fields.leader = new.as_ref().map(NodeId::as_str);
            fields.previous = previous.as_ref().map(NodeId::as_str);
        }
        Event::CoordinatorElected { epoch, .. }
        | Event::CoordinatorPromoted { epoch }
        | Event::CoordinatorEpochRenewed { epoch, .. }
        | Event::TermOverran { epoch }
        | Event::PluginPromoted { epoch, .. } => fields.epoch = Some(epoch.0),
        Event::CoordinatorDemoted { epoch, reason }
        | Event::LeaseLost { epoch, reason }
        | Event::PluginDemoted { epoch, reason, .. } => {
            fields.epoch = Some(epoch.0);
            fields.reason = Some(bare(reason));
        }
        Event::LeaderDown { former, .. } => fields.previous = Some(former.as_str()),
        Event::ElectionCheck { current } => fields.leader = current.as_ref().map(NodeId::as_str),
        Event::TransferStarted { epoch, to } => {
            fields.epoch = Some(epoch.0);
            fields.member = Some(to.as_str());
        }
        Event::TransferRefused { to, reason } => {
            fields.member = Some(to.as_str());
            fields.reason = Some(bare(reason));
        }
        Event::ColdStartPhaseChanged { phase, .. } => fields.reason = Some(bare(phase)),
        Event::BreakerOpen { failures } => fields.failures = Some(u64::from(*failures)),
        Event::StoreUnreachable { epoch, left_ms } => {
            fields.epoch = Some(epoch.0);
            fields.left_ms = Some(*left_ms);
        }
        Event::StoreWentBack { stored, .. } => fields.epoch = Some(stored.0),
        Event::ContentionDetected { duration_ms, .. } => fields.latency_ms = Some(*duration_ms),
        Event::WorkerHeartbeat { latency_ms } => fields.latency_ms = Some(*latency_ms),
        Event::WorkerTimedOut { worker } | Event::WorkerDead { worker } => {
            fields.member = Some(worker.as_str());
        }
        Event::HealthChanged { verdict, reasons } => {
            let worst = reasons.first().map(|reason| format!(": {reason}")).unwrap_or_default();
            fields.reason = Some(format!("{}{worst}", verdict.word()));
        }
        Event::PluginFailed { error, restart_in_ms, .. } => {
            (fields.error, fields.restart_in_ms) = (Some(error.as_str()), *restart_in_ms);
        }
        Event::LifelineUnwatched(notice) => fields.reason = Some(notice.to_string()),
        Event::PluginSwept { target, records, .. } => {
            (fields.removed_from, fields.records) = (Some(target.as_str()), Some(*records));
        }
        Event::WorkersUpdated { .. }
        | Event::LeaderFlapping { .. }
        | Event::BreakerHalfOpen
        | Event::BreakerClosed
        | Event::StoreRejected
        | Event::NodeIdTaken { .. }
        | Event::NodeSuperseded { .. }
        | Event::PluginIgnoredCancellation { .. }
        | _ => {}
    }
    fields
}

/// A name as events have it: `window-closed`, or `{"released":"shutdown"}`.
fn bare(name: &impl Serialize) -> String {
    match serde_json::to_value(name) {
        Ok(Value::String(text)) => text,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
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
    let (topic, words) = words(event);
    let fields = fields(event);
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
                reason = fields.reason,
                error = fields.error,
                failures = fields.failures,
                left_ms = fields.left_ms,
                restart_in_ms = fields.restart_in_ms,
                latency_ms = fields.latency_ms,
                records = fields.records,
                removed_from = fields.removed_from,
                "{words}"
            )
        };
    }
    match topic {
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
