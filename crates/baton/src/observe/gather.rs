//! From a running node to its figures, when they are requested.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use baton_core::settings::Settings;
use baton_core::time::Moment;
use baton_core::{BreakerState, MetricsReport, Snapshot};
use baton_store::clock::{Clock, SystemClock};
use baton_store::wrap::{BOUNDS, Counted, Outcome};

use super::family::{FamilyKind, MetricsBuilder, NodeMetrics};
use crate::node::Node;
use crate::plugin::{PluginReport, WorkKind};
use crate::shared::Shared;

impl Node {
    /// Everything that this node counts and measures, as it stands. `to_string()` gives the text
    /// that Prometheus reads; `docs/metrics.md` says what each name means.
    pub fn node_metrics(&self) -> NodeMetrics {
        gather(&self.shared)
    }
}

/// What the core last knew, and the percentiles in it: taken once for all figures.
pub(crate) struct CoreFigures {
    snapshot: Arc<Snapshot>,
    report: MetricsReport,
}

impl CoreFigures {
    pub(crate) fn of(node: &Shared) -> Self {
        let snapshot = node.snapshot();
        Self { report: snapshot.metrics(), snapshot }
    }

    fn beat_age(&self, now: Moment) -> Duration {
        now.since(self.report.last_heartbeat_time.max(self.report.start_time))
    }

    /// May this node be counted on? It takes part, the store knows it, and a beat came through
    /// within `worker_timeout`, after which the others would count it as silent. If not, why.
    pub(crate) fn check_ready(&self, node: &Shared, now: Moment) -> Result<(), String> {
        if node.departed.borrow().is_some() {
            return Err("the node has left".to_owned());
        }
        if !node.settings.enabled {
            return Ok(());
        }
        if !self.snapshot.is_registered {
            return Err("the store does not know this node yet".to_owned());
        }
        let (silent, limit) = (self.beat_age(now), node.settings.worker_timeout);
        if silent > limit {
            let (silent, limit) = (silent.as_millis(), limit.as_millis());
            return Err(format!(
                "no beat came through for {silent} ms, at most {limit} ms may pass"
            ));
        }
        Ok(())
    }
}

pub(crate) fn gather(node: &Shared) -> NodeMetrics {
    let now = SystemClock.now();
    let core = CoreFigures::of(node);
    let counted = node.counted.layer().counted();
    let mut builder = MetricsBuilder::new(node.namespace.as_str(), node.id.as_str());
    leading(&mut builder, node, &core, now);
    beats(&mut builder, node, &core, &counted, now);
    store(&mut builder, &counted);
    plugins(&mut builder, &node.plugins.reports());
    swept(&mut builder, &node.counts.swept());
    node.counts.schedules.gather(&node.jobs.declared().borrow(), &mut builder);
    partitions(&mut builder, node);
    events(&mut builder, node);
    settings(&mut builder, &node.settings);
    builder.build()
}

/// Only of a node that has to do with partitions.
fn partitions(builder: &mut MetricsBuilder, node: &Shared) {
    let Some(owned) = node.partitions.owned_count() else { return };
    builder.gauge("baton_partitions_owned", "Partitions that this node owns.", owned as f64);
    let about = "Partitions without an owner, as the leader knows it; 0 on other nodes.";
    let unowned = if node.is_leader() { node.partitions.unowned() } else { 0 };
    builder.gauge("baton_partitions_unowned", about, unowned as f64);
}

fn leading(builder: &mut MetricsBuilder, node: &Shared, core: &CoreFigures, now: Moment) {
    let version = env!("CARGO_PKG_VERSION");
    let about = "Always 1; the label has the version of baton.";
    builder.family(FamilyKind::Gauge, "baton_build_info", about).put(
        "",
        &[("version", version)],
        1.0,
    );
    let hard = Moment::from_micros(node.leads_until.load(Ordering::Acquire));
    let leads = now < hard;
    let soft = node.term.borrow().as_ref().map(|term| term.window().soft);
    let left = |deadline: Option<Moment>| match deadline.filter(|_| leads) {
        Some(Moment::NEVER) => f64::INFINITY,
        Some(deadline) => deadline.since(now).as_secs_f64(),
        None => 0.0,
    };
    builder.gauge("baton_leader", "1 while this node leads.", flag(leads));
    let about = "1 while the store knows this node and its beats come through.";
    builder.gauge("baton_ready", about, flag(core.check_ready(node, now).is_ok()));
    builder.gauge(
        "baton_epoch",
        "The highest epoch that this node knows of.",
        node.fence().known().0 as f64,
    );
    let about = "Time in which this node knew of no leader.";
    builder.counter(
        "baton_leaderless_seconds_total",
        about,
        core.snapshot.leaderless(now).as_secs_f64(),
    );
    let about = "Time until nothing of the term may act any more; 0 while this node does not lead.";
    builder.gauge("baton_time_to_deadline_seconds", about, left(Some(hard)));
    let about = "Time until the term's work is told to stop; 0 while this node does not lead.";
    builder.gauge("baton_time_to_soft_deadline_seconds", about, left(soft));
    let worked = if leads { node.counts.worked_for(now) } else { Duration::ZERO };
    let about = "How long the running term has worked; 0 while this node does not lead.";
    builder.gauge("baton_term_seconds", about, worked.as_secs_f64());
    let overrun =
        if core.snapshot.is_overrunning { node.counts.overrun_for(now) } else { Duration::ZERO };
    let about = "How long a term's work has been seen to go on past its deadline; 0 if none does.";
    builder.gauge("baton_overrun_seconds", about, overrun.as_secs_f64());
    let report = &core.report;
    let about = "Times this node tried to take the lease.";
    builder.counter("baton_elections_total", about, report.election_count as f64);
    let about = "Changes of leader that this node saw.";
    builder.counter("baton_leader_changes_total", about, report.leader_changes as f64);
    builder.gauge(
        "baton_members",
        "Live nodes in the last view.",
        core.snapshot.active_workers().count() as f64,
    );
}

/// The calls that carry a beat.
const BEATS: [&str; 3] = ["beat", "renew", "acquire"];

fn beats(
    builder: &mut MetricsBuilder,
    node: &Shared,
    core: &CoreFigures,
    counted: &[Counted],
    now: Moment,
) {
    let report = &core.report;
    let about = "Beats by outcome, including additional reads between two beats.";
    builder.family(FamilyKind::Counter, "baton_beats_total", about);
    for outcome in Outcome::ALL {
        let carried = counted.iter().filter(|counted| BEATS.contains(&counted.kind));
        let count: u64 = carried.map(|counted| counted.ended(outcome)).sum();
        builder.put("", &[("outcome", outcome.name())], count as f64);
    }
    let about = "How long the last beats took, from the request to the store's answer.";
    builder.family(FamilyKind::Summary, "baton_beat_latency_seconds", about);
    let quantiles = [
        ("0.5", report.latency_p50_ms),
        ("0.95", report.latency_p95_ms),
        ("0.99", report.latency_p99_ms),
    ];
    for (quantile, ms) in quantiles {
        builder.put("", &[("quantile", quantile)], ms / 1e3);
    }
    builder.put("_sum", &[], report.latency_sum_ms / 1e3);
    builder.put("_count", &[], report.heartbeat_count as f64);
    let has_left = node.departed.borrow().is_some();
    let age = if node.settings.enabled && !has_left { core.beat_age(now) } else { Duration::ZERO };
    let about = "Time since a beat last came through, or since the start if none did.";
    builder.gauge("baton_beat_age_seconds", about, age.as_secs_f64());
    let state = match core.snapshot.breaker.state {
        BreakerState::Closed => 0.0,
        BreakerState::HalfOpen => 1.0,
        BreakerState::Open => 2.0,
    };
    let about = "The breaker in front of the store: 0 closed, 1 half-open, 2 open.";
    builder.gauge("baton_breaker_state", about, state);
    let about = "Times the breaker opened.";
    builder.counter("baton_breaker_trips_total", about, core.snapshot.breaker.trips as f64);
}

fn store(builder: &mut MetricsBuilder, counted: &[Counted]) {
    let about = "Requests to the store, by operation and outcome.";
    builder.family(FamilyKind::Counter, "baton_store_operations_total", about);
    for Counted { kind, outcomes, .. } in counted {
        for (outcome, count) in Outcome::ALL.into_iter().zip(outcomes) {
            let labels = [("operation", *kind), ("outcome", outcome.name())];
            builder.put("", &labels, *count as f64);
        }
    }
    let about = "How long requests to the store took, by operation.";
    builder.family(FamilyKind::Histogram, "baton_store_operation_seconds", about);
    for counted in counted {
        let operation = ("operation", counted.kind);
        let mut within = 0;
        for (bound, count) in BOUNDS.iter().zip(counted.buckets) {
            within += count;
            let bound = bound.as_secs_f64().to_string();
            builder.put("_bucket", &[operation, ("le", &bound)], within as f64);
        }
        // A call that ends just now may be in a bucket already and not yet in the total.
        let total = counted.total().max(within) as f64;
        builder.put("_bucket", &[operation, ("le", "+Inf")], total);
        builder.put("_sum", &[operation], counted.took.as_secs_f64());
        builder.put("_count", &[operation], total);
    }
}

/// What the plugins and services of this node did; the next leader counts anew.
fn plugins(builder: &mut MetricsBuilder, reports: &[PluginReport]) {
    let about = "Runs of a plugin's work, by how they ended.";
    builder.family(FamilyKind::Counter, "baton_plugin_runs_total", about);
    for report in reports {
        let failed = report.failures.saturating_sub(report.failed_starts);
        for (outcome, count) in [("ok", report.runs.saturating_sub(failed)), ("failed", failed)] {
            builder.put("", &labels(report, Some(("outcome", outcome))), count as f64);
        }
    }
    let about = "Times a plugin did not start with the term.";
    each(builder, reports, "baton_plugin_failed_starts_total", about, |it| it.failed_starts as f64);
    let about = "How long the last runs took.";
    builder.family(FamilyKind::Summary, "baton_plugin_run_seconds", about);
    for report in reports {
        for (quantile, ms) in [("0.5", report.p50_ms), ("0.99", report.p99_ms)] {
            builder.put("", &labels(report, Some(("quantile", quantile))), ms / 1e3);
        }
        builder.put("_count", &labels(report, None), report.runs as f64);
    }
    let about = "Scheduled runs of a plugin that were missed.";
    each(builder, reports, "baton_plugin_missed_runs_total", about, |it| it.missed as f64);
    let about = "Times a plugin was started again after a failure.";
    each(builder, reports, "baton_plugin_restarts_total", about, |it| it.restarts as f64);
    let about = "When the last run on this node began, in Unix time; 0 if there was none.";
    builder.family(FamilyKind::Gauge, "baton_plugin_last_run_timestamp_seconds", about);
    for report in reports {
        let at_ms = report.last.as_ref().map_or(0, |last| last.at_ms);
        builder.put("", &labels(report, None), at_ms as f64 / 1e3);
    }
}

fn labels<'a>(
    report: &'a PluginReport,
    further: Option<(&'static str, &'a str)>,
) -> Vec<(&'static str, &'a str)> {
    let kind = (report.kind == WorkKind::Service).then_some(("kind", "service"));
    [("plugin", report.name.as_str())].into_iter().chain(kind).chain(further).collect()
}

fn swept(builder: &mut MetricsBuilder, swept: &BTreeMap<(String, String), u64>) {
    let about = "Expired records that a plugin removed, by what they belonged to.";
    builder.family(FamilyKind::Counter, "baton_ttl_swept_total", about);
    for ((plugin, target), records) in swept {
        builder.put("", &[("plugin", plugin), ("target", target)], *records as f64);
    }
}

fn each(
    builder: &mut MetricsBuilder,
    reports: &[PluginReport],
    name: &'static str,
    help: &'static str,
    count: impl Fn(&PluginReport) -> f64,
) {
    builder.family(FamilyKind::Counter, name, help);
    for report in reports {
        builder.put("", &labels(report, None), count(report));
    }
}

fn events(builder: &mut MetricsBuilder, node: &Shared) {
    let about = "Events that this node reported, by name.";
    builder.family(FamilyKind::Counter, "baton_events_total", about);
    for (name, count) in node.counts.events() {
        builder.put("", &[("event", name)], count as f64);
    }
    let about = "Log lines dropped by a slow subscriber of tracing, of all nodes of the process.";
    builder.counter("baton_log_lines_dropped_total", about, node.events.logs.dropped() as f64);
}

fn settings(builder: &mut MetricsBuilder, settings: &Settings) {
    let about = "The setting lease_timeout.";
    builder.gauge("baton_lease_timeout_seconds", about, settings.lease_timeout.as_secs_f64());
    let about = "The setting heartbeat_interval.";
    let beat = settings.heartbeat_interval.as_secs_f64();
    builder.gauge("baton_heartbeat_interval_seconds", about, beat);
}

fn flag(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}
