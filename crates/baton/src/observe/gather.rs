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

use super::family::{Book, FamilyKind, NodeMetrics};
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

/// What the core last knew, and the percentiles in it, taken once.
struct Seen {
    snapshot: Arc<Snapshot>,
    report: MetricsReport,
}

impl Seen {
    fn of(node: &Shared) -> Self {
        let snapshot = node.snapshot();
        Self { report: snapshot.metrics(), snapshot }
    }

    fn beat_age(&self, now: Moment) -> Duration {
        now.since(self.report.last_heartbeat_time.max(self.report.start_time))
    }
}

/// May this node be counted on? It takes part, the store knows it, and a beat came through within
/// `worker_timeout`, after which the others would count it as silent. If not, why.
pub(crate) fn is_ready(node: &Shared, now: Moment) -> Result<(), String> {
    let seen = Seen::of(node);
    if node.departed.borrow().is_some() {
        return Err("the node has left".to_owned());
    }
    if !node.settings.enabled {
        return Ok(());
    }
    if !seen.snapshot.is_registered {
        return Err("the store does not know this node yet".to_owned());
    }
    let (silent, limit) = (seen.beat_age(now), node.settings.worker_timeout);
    if silent > limit {
        let (silent, limit) = (silent.as_millis(), limit.as_millis());
        return Err(format!("no beat came through for {silent} ms, at most {limit} ms may pass"));
    }
    Ok(())
}

pub(crate) fn gather(node: &Shared) -> NodeMetrics {
    let now = SystemClock.now();
    let seen = Seen::of(node);
    let counted = node.counted.layer().counted();
    let mut book = Book::new(node.namespace.as_str(), node.id.as_str());
    leading(&mut book, node, &seen, now);
    beats(&mut book, node, &seen, &counted, now);
    store(&mut book, &counted);
    plugins(&mut book, &node.plugins.reports());
    swept(&mut book, &node.counts.swept());
    events(&mut book, node);
    settings(&mut book, &node.settings);
    book.close()
}

fn leading(book: &mut Book, node: &Shared, seen: &Seen, now: Moment) {
    let version = env!("CARGO_PKG_VERSION");
    let about = "Always 1; the label has the version of baton.";
    book.family(FamilyKind::Gauge, "baton_build_info", about).put("", &[("version", version)], 1.0);
    let hard = Moment::from_micros(node.leads_until.load(Ordering::Acquire));
    let leads = now < hard;
    let soft = node.term.borrow().as_ref().map(|term| term.window().soft);
    let left = |deadline: Option<Moment>| match deadline.filter(|_| leads) {
        Some(Moment::NEVER) => f64::INFINITY,
        Some(deadline) => deadline.since(now).as_secs_f64(),
        None => 0.0,
    };
    book.gauge("baton_leader", "1 while this node leads.", flag(leads));
    let about = "1 while the store knows this node and its beats come through.";
    book.gauge("baton_ready", about, flag(is_ready(node, now).is_ok()));
    book.gauge(
        "baton_epoch",
        "The highest epoch that this node knows of.",
        node.fence().known().0 as f64,
    );
    let about = "Time in which this node knew of no leader.";
    book.counter(
        "baton_leaderless_seconds_total",
        about,
        seen.snapshot.leaderless(now).as_secs_f64(),
    );
    let about = "Time until nothing of the term may act any more; 0 while this node does not lead.";
    book.gauge("baton_time_to_deadline_seconds", about, left(Some(hard)));
    let about = "Time until the term's work is told to stop; 0 while this node does not lead.";
    book.gauge("baton_time_to_soft_deadline_seconds", about, left(soft));
    let worked = if leads { node.counts.worked_for(now) } else { Duration::ZERO };
    let about = "How long the running term has worked; 0 while this node does not lead.";
    book.gauge("baton_term_seconds", about, worked.as_secs_f64());
    let overrun =
        if seen.snapshot.is_overrunning { node.counts.overrun_for(now) } else { Duration::ZERO };
    let about = "How long a term's work has been seen to go on past its deadline; 0 if none does.";
    book.gauge("baton_overrun_seconds", about, overrun.as_secs_f64());
    let report = &seen.report;
    let about = "Times this node tried to take the lease.";
    book.counter("baton_elections_total", about, report.election_count as f64);
    let about = "Changes of leader that this node saw.";
    book.counter("baton_leader_changes_total", about, report.leader_changes as f64);
    book.gauge(
        "baton_members",
        "Live nodes in the last view.",
        seen.snapshot.active_workers().count() as f64,
    );
}

/// The calls that carry a beat.
const BEATS: [&str; 3] = ["beat", "renew", "acquire"];

fn beats(book: &mut Book, node: &Shared, seen: &Seen, counted: &[Counted], now: Moment) {
    let report = &seen.report;
    let about = "Beats by outcome, including additional reads between two beats.";
    book.family(FamilyKind::Counter, "baton_beats_total", about);
    for outcome in Outcome::ALL {
        let carried = counted.iter().filter(|counted| BEATS.contains(&counted.kind));
        let count: u64 = carried.map(|counted| counted.ended(outcome)).sum();
        book.put("", &[("outcome", outcome.name())], count as f64);
    }
    let about = "How long the last beats took, from the request to the store's answer.";
    book.family(FamilyKind::Summary, "baton_beat_latency_seconds", about);
    let quantiles = [
        ("0.5", report.latency_p50_ms),
        ("0.95", report.latency_p95_ms),
        ("0.99", report.latency_p99_ms),
    ];
    for (quantile, ms) in quantiles {
        book.put("", &[("quantile", quantile)], ms / 1e3);
    }
    book.put("_sum", &[], report.latency_sum_ms / 1e3);
    book.put("_count", &[], report.heartbeat_count as f64);
    let has_left = node.departed.borrow().is_some();
    let age = if node.settings.enabled && !has_left { seen.beat_age(now) } else { Duration::ZERO };
    let about = "Time since a beat last came through, or since the start if none did.";
    book.gauge("baton_beat_age_seconds", about, age.as_secs_f64());
    let state = match seen.snapshot.breaker.state {
        BreakerState::Closed => 0.0,
        BreakerState::HalfOpen => 1.0,
        BreakerState::Open => 2.0,
    };
    let about = "The breaker in front of the store: 0 closed, 1 half-open, 2 open.";
    book.gauge("baton_breaker_state", about, state);
    let about = "Times the breaker opened.";
    book.counter("baton_breaker_trips_total", about, seen.snapshot.breaker.trips as f64);
}

fn store(book: &mut Book, counted: &[Counted]) {
    let about = "Requests to the store, by operation and outcome.";
    book.family(FamilyKind::Counter, "baton_store_operations_total", about);
    for Counted { kind, outcomes, .. } in counted {
        for (outcome, count) in Outcome::ALL.into_iter().zip(outcomes) {
            let labels = [("operation", *kind), ("outcome", outcome.name())];
            book.put("", &labels, *count as f64);
        }
    }
    let about = "How long requests to the store took, by operation.";
    book.family(FamilyKind::Histogram, "baton_store_operation_seconds", about);
    for counted in counted {
        let operation = ("operation", counted.kind);
        let mut within = 0;
        for (bound, count) in BOUNDS.iter().zip(counted.buckets) {
            within += count;
            let bound = bound.as_secs_f64().to_string();
            book.put("_bucket", &[operation, ("le", &bound)], within as f64);
        }
        // A call that ends just now may be in a bucket already and not yet in the total.
        let total = counted.total().max(within) as f64;
        book.put("_bucket", &[operation, ("le", "+Inf")], total);
        book.put("_sum", &[operation], counted.took.as_secs_f64());
        book.put("_count", &[operation], total);
    }
}

/// What the plugins and services of this node did; the next leader counts anew.
fn plugins(book: &mut Book, reports: &[PluginReport]) {
    let about = "Runs of a plugin's work, by how they ended.";
    book.family(FamilyKind::Counter, "baton_plugin_runs_total", about);
    for report in reports {
        let failed = report.failures.saturating_sub(report.failed_starts);
        for (outcome, count) in [("ok", report.runs.saturating_sub(failed)), ("failed", failed)] {
            book.put("", &labels(report, Some(("outcome", outcome))), count as f64);
        }
    }
    let about = "Times a plugin did not start with the term.";
    each(book, reports, "baton_plugin_failed_starts_total", about, |it| it.failed_starts as f64);
    let about = "How long the last runs took.";
    book.family(FamilyKind::Summary, "baton_plugin_run_seconds", about);
    for report in reports {
        for (quantile, ms) in [("0.5", report.p50_ms), ("0.99", report.p99_ms)] {
            book.put("", &labels(report, Some(("quantile", quantile))), ms / 1e3);
        }
        book.put("_count", &labels(report, None), report.runs as f64);
    }
    let about = "Scheduled runs of a plugin that were missed.";
    each(book, reports, "baton_plugin_missed_runs_total", about, |it| it.missed as f64);
    let about = "Times a plugin was started again after a failure.";
    each(book, reports, "baton_plugin_restarts_total", about, |it| it.restarts as f64);
    let about = "When the last run on this node began, in Unix time; 0 if there was none.";
    book.family(FamilyKind::Gauge, "baton_plugin_last_run_timestamp_seconds", about);
    for report in reports {
        let at_ms = report.last.as_ref().map_or(0, |last| last.at_ms);
        book.put("", &labels(report, None), at_ms as f64 / 1e3);
    }
}

fn labels<'a>(
    report: &'a PluginReport,
    further: Option<(&'static str, &'a str)>,
) -> Vec<(&'static str, &'a str)> {
    let kind = (report.kind == WorkKind::Service).then_some(("kind", "service"));
    [("plugin", report.name.as_str())].into_iter().chain(kind).chain(further).collect()
}

fn swept(book: &mut Book, swept: &BTreeMap<(String, String), u64>) {
    let about = "Expired records that a plugin removed, by what they belonged to.";
    book.family(FamilyKind::Counter, "baton_ttl_swept_total", about);
    for ((plugin, target), records) in swept {
        book.put("", &[("plugin", plugin), ("target", target)], *records as f64);
    }
}

fn each(
    book: &mut Book,
    reports: &[PluginReport],
    name: &'static str,
    help: &'static str,
    count: impl Fn(&PluginReport) -> f64,
) {
    book.family(FamilyKind::Counter, name, help);
    for report in reports {
        book.put("", &labels(report, None), count(report));
    }
}

fn events(book: &mut Book, node: &Shared) {
    let about = "Events that this node reported, by name.";
    book.family(FamilyKind::Counter, "baton_events_total", about);
    for (name, count) in node.counts.events() {
        book.put("", &[("event", name)], count as f64);
    }
    let about = "Log lines dropped by a slow subscriber of tracing, of all nodes of the process.";
    book.counter("baton_log_lines_dropped_total", about, node.events.logs.dropped() as f64);
}

fn settings(book: &mut Book, settings: &Settings) {
    let about = "The setting lease_timeout.";
    book.gauge("baton_lease_timeout_seconds", about, settings.lease_timeout.as_secs_f64());
    let about = "The setting heartbeat_interval.";
    let beat = settings.heartbeat_interval.as_secs_f64();
    book.gauge("baton_heartbeat_interval_seconds", about, beat);
}

fn flag(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}
