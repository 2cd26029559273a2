//! A campaign: many seeds, one report. A fault that never happened fails it, and so does a canary
//! that lives.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::campaign::{Summary, canary_dies, run_seeds};
use crate::figures::{Percentiles, show_count, show_long, show_ms};
use crate::invariants::Violation;
use crate::outcome::GapCause;
use crate::plan::{Fault, Overrides};
use crate::stopwatch::Stopwatch;
use serde::Serialize;

use super::print::{name_of, print_json, print_line};
use super::{CommandError, cores, reproduction};

/// Fewer seeds than this need not meet every fault.
pub const SEEDS_FOR_COVERAGE: u64 = 100;

#[derive(Serialize)]
struct Report<'a> {
    seeds: u64,
    seconds: f64,
    simulated_seconds: f64,
    events: u64,
    terms: u64,
    violations: &'a BTreeMap<u64, Violation>,
    faults: BTreeMap<&'static str, u64>,
    situations: BTreeMap<&'static str, u64>,
    never_happened: Vec<&'static str>,
    canary_caught: bool,
    requests: &'a BTreeMap<&'static str, u64>,
    failover: BTreeMap<GapCause, Percentiles>,
}

/// Runs seeds and reports.
pub fn run(first: u64, seeds: u64, jobs: usize, json: bool) -> Result<(), CommandError> {
    let watch = Stopwatch::default();
    let summary = run_seeds(first, seeds, jobs, &has_failed);
    report(&summary, first, watch.elapsed(), json)
}

/// Runs fresh seeds until the time is up or promises are broken.
pub fn soak(first: u64, minutes: u64) -> Result<(), CommandError> {
    let watch = Stopwatch::default();
    let limit = Duration::from_secs(60 * minutes);
    let enough = |summary: &Summary| {
        if summary.seeds.is_multiple_of(5_000) {
            let (seeds, broken) = (summary.seeds, summary.violations.len());
            eprintln!("{seeds} seeds, {broken} violations, {:.0?}", watch.elapsed());
        }
        watch.elapsed() >= limit || has_failed(summary)
    };
    let summary = run_seeds(first, u64::MAX - first, cores(), &enough);
    report(&summary, first, watch.elapsed(), false)
}

/// More broken promises than these say nothing new.
fn has_failed(summary: &Summary) -> bool {
    summary.violations.len() >= 20
}

/// Prints a summary of seeds from `first` on and judges it.
fn report(summary: &Summary, first: u64, took: Duration, json: bool) -> Result<(), CommandError> {
    let canary_caught = (first..first + 20).any(canary_dies);
    let missing = match summary.seeds {
        seeds if seeds < SEEDS_FOR_COVERAGE => Vec::new(),
        _ => summary.coverage.missing(),
    };
    let report = Report {
        seeds: summary.seeds,
        seconds: took.as_secs_f64(),
        simulated_seconds: summary.simulated.as_secs_f64(),
        events: summary.events,
        terms: summary.terms,
        violations: &summary.violations,
        faults: summary.coverage.faults().map(|(fault, n)| (fault.name(), n)).collect(),
        situations: summary.coverage.situations().collect(),
        never_happened: missing.iter().map(|fault: &Fault| fault.name()).collect(),
        canary_caught,
        requests: &summary.requests,
        failover: summary.gaps.iter().map(|(cause, it)| (*cause, Percentiles::of(it))).collect(),
    };
    if json {
        print_json(&report);
    } else {
        print_report(&report);
    }
    let sound = report.violations.is_empty() && missing.is_empty() && canary_caught;
    if sound { Ok(()) } else { Err(CommandError::Broken) }
}

fn print_report(report: &Report<'_>) {
    print_line!(
        "{} seeds, {} simulated in {}: {} events, {} terms",
        show_count(report.seeds),
        show_long(Duration::from_secs_f64(report.simulated_seconds)),
        show_ms(report.seconds * 1e3),
        show_count(report.events),
        show_count(report.terms),
    );
    print_line!("\nfaults");
    print_counts(&report.faults);
    print_line!("\nsituations");
    print_counts(&report.situations);
    print_line!("\nstore requests");
    print_counts(report.requests);
    print_line!("\ntime without a leader, by cause, all faults on");
    print_line!("  {:<16} {:>8} {:>10} {:>10} {:>10}", "cause", "times", "p50", "p99", "max");
    for (cause, percentiles) in &report.failover {
        print_line!(
            "  {:<16} {:>8} {:>10} {:>10} {:>10}",
            name_of(cause),
            show_count(percentiles.count as u64),
            show_ms(percentiles.p50_ms),
            show_ms(percentiles.p99_ms),
            show_ms(percentiles.max_ms),
        );
    }
    print_verdict(report);
}

/// Prints counts by name, three in a line.
pub fn print_counts(counts: &BTreeMap<&'static str, u64>) {
    let rows: Vec<(&&str, &u64)> = counts.iter().collect();
    for row in rows.chunks(3) {
        let cells: Vec<String> =
            row.iter().map(|(name, n)| format!("{name:<18}{:>7}", show_count(**n))).collect();
        print_line!("  {}", cells.join("  ").trim_end());
    }
}

fn print_verdict(report: &Report<'_>) {
    print_line!();
    for name in &report.never_happened {
        print_line!("fault {name} never happened: this campaign proves too little");
    }
    if !report.canary_caught {
        print_line!("the canary was not caught: the checkers do not work");
    }
    for (seed, violation) in report.violations {
        print_line!("seed {seed} breaks {violation}");
        print_line!("  {}", reproduction(*seed, &Overrides::default()));
    }
    print_line!("{} violations", report.violations.len());
}
