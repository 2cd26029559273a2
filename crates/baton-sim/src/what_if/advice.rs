//! What stands out in a report, a line each.

use baton_core::settings::show_span;
use baton_store::ExpiryClock;

use super::{Cause, CauseReport, Report};
use crate::figures::show_ms;

/// A cause that makes up more than this of the leaderless time is worth a line.
const LARGE_SHARE: f64 = 0.5;

/// A failure that is felt less often than once in this many times does not stand out.
const FEW: usize = 20;

/// Looks for numbers that stand out, the dearest first.
pub fn advise(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    if report.nodes == 1 {
        lines.push(
            "one node: no other node can take over, so each failure lasts until it is back"
                .to_owned(),
        );
        return lines;
    }
    lines.extend(largest_share(report));
    lines.extend(crash(report));
    lines.extend(deploy(report));
    lines.extend(brief_outage(report));
    lines.extend(silence(report));
    lines.extend(observer(report));
    lines.extend(flapping(report));
    lines
}

fn of(report: &Report, cause: Cause) -> Option<&CauseReport> {
    report.causes.iter().find(|row| row.cause == cause)
}

fn largest_share(report: &Report) -> Option<String> {
    let seconds = |row: &CauseReport| row.leaderless_seconds_a_day;
    let largest = report.causes.iter().max_by(|a, b| seconds(a).total_cmp(&seconds(b)))?;
    let share = seconds(largest) / report.leaderless_seconds_a_day;
    (share > LARGE_SHARE).then(|| {
        let label = largest.cause.label();
        format!("{:.0} % of the leaderless time is one cause: {label}", 100.0 * share)
    })
}

fn crash(report: &Report) -> Option<String> {
    let p50 = of(report, Cause::Crash)?.failover.p50_ms;
    let lease = report.config.settings.lease_timeout;
    let dear = !report.config.environment.lifeline && p50 > lease.as_secs_f64() * 500.0;
    dear.then(|| {
        let (p50, lease) = (show_ms(p50), show_span(lease));
        format!("no lifeline: a crash costs the lease ({lease}), {p50}; with it, milliseconds")
    })
}

fn deploy(report: &Report) -> Option<String> {
    let row = of(report, Cause::Deploy)?;
    let stop_ms = report.config.settings.stop_grace.as_secs_f64() * 1e3;
    let slow = !report.config.environment.push && row.failover.p50_ms > stop_ms;
    slow.then(|| {
        let p50 = show_ms(row.failover.p50_ms);
        format!("without push a handover waits for the next beat: {p50}")
    })
}

fn brief_outage(report: &Report) -> Option<String> {
    let row = of(report, Cause::BriefOutage)?;
    let length = report.config.environment.brief_outage_length;
    (row.felt * FEW > row.tried).then(|| {
        let (felt, tried, length) = (row.felt, row.tried, show_span(length));
        format!("{felt} of {tried} store outages of {length} cost a term: lengthen lease_timeout")
    })
}

fn silence(report: &Report) -> Option<String> {
    let dearest = |cause: Cause| of(report, cause).map_or(0.0, |row| row.failover.p50_ms);
    let p50 = dearest(Cause::Pause).max(dearest(Cause::Cut));
    (p50 > 10_000.0).then(|| {
        let lease = show_span(report.config.settings.lease_timeout);
        format!("a leader that falls silent costs its lease ({lease}): {}", show_ms(p50))
    })
}

fn observer(report: &Report) -> Option<String> {
    let environment = &report.config.environment;
    (environment.store_clock == ExpiryClock::Observer)
        .then(|| "store_clock observer: others see a lease run out up to a beat late".to_owned())
}

fn flapping(report: &Report) -> Option<String> {
    let settings = &report.config.settings;
    (report.lived.flap_warnings > 0).then(|| {
        let (n, window) = (settings.flap_threshold, show_span(settings.flap_window));
        format!("ordinary days set off the flap warning ({n} in {window}): raise flap_threshold")
    })
}
