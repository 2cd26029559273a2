//! What the plugins and services of a node did, as figures. They are of this node alone: the next
//! leader counts anew.

use std::collections::BTreeMap;

use super::family::{Book, FamilyKind};
use crate::plugin::{PluginReport, WorkKind};

pub(super) fn plugins(book: &mut Book, reports: &[PluginReport]) {
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
    let about = "Turns of a plugin that passed without a run.";
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

/// A service says that it is one.
fn labels<'a>(
    report: &'a PluginReport,
    further: Option<(&'static str, &'a str)>,
) -> Vec<(&'static str, &'a str)> {
    let kind = (report.kind == WorkKind::Service).then_some(("kind", "service"));
    [("plugin", report.name.as_str())].into_iter().chain(kind).chain(further).collect()
}

/// What the plugins that remove expired records removed.
pub(super) fn swept(book: &mut Book, swept: &BTreeMap<(String, String), u64>) {
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
