//! The figures: each cause on its own, weighed by how often it strikes, and days as lived.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::cause::MONTH_DAYS;
use super::gaps::{Gap, leaderless};
use super::{Cause, Config, RunOptions, advice, run, scripts};
use crate::clock::TrueTime;
use crate::figures::Percentiles;
use crate::invariants::Violation;
use crate::outcome::Stats;
use crate::world::Script;

const HOUR: Duration = Duration::from_secs(3_600);
const DAY_SECONDS: f64 = 86_400.0;

/// What one cause costs.
#[derive(Clone, Debug, Serialize)]
pub struct CauseReport {
    pub cause: Cause,
    /// How often a month it strikes, as the environment has it.
    pub a_month: f64,
    pub tried: usize,
    /// Strikes after which there was no leader for a while.
    pub felt: usize,
    /// The times without a leader; a strike that was not felt counts as none.
    pub failover: Percentiles,
    /// New terms per strike.
    pub terms_per_strike: f64,
    /// Time without a leader per strike, on average.
    pub leaderless_seconds_per_strike: f64,
    pub leaderless_seconds_a_day: f64,
}

/// What the store is asked while nothing fails.
#[derive(Clone, Debug, Serialize)]
pub struct StoreOperations {
    pub by_kind: BTreeMap<&'static str, f64>,
    pub total: f64,
    pub per_node: f64,
}

/// Days with every cause as often as the environment has it.
#[derive(Clone, Debug, Serialize)]
pub struct SimulatedDays {
    pub days: u32,
    /// Terms after the first.
    pub leader_changes: usize,
    pub flap_warnings: u64,
    /// Time without a leader.
    pub leaderless_seconds: f64,
}

/// All of it.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub nodes: usize,
    pub config: Config,
    pub causes: Vec<CauseReport>,
    /// Time without a leader that is to be expected.
    pub leaderless_seconds_a_day: f64,
    pub availability_percent: f64,
    /// What the store is asked in an hour in which nothing fails.
    pub store_operations_an_hour: StoreOperations,
    pub leader_changes_a_day: f64,
    pub lived: SimulatedDays,
    pub advice: Vec<String>,
}

/// Runs everything and sums it up.
pub fn report(config: &Config, options: &RunOptions) -> Result<Report, Violation> {
    let mut causes = Vec::new();
    for cause in Cause::ALL {
        causes.push(try_cause(config, options, cause)?);
    }
    let quiet = Script { length: HOUR, ..Script::default() };
    let operations = operations(&run(config, options, &quiet)?, options.nodes);
    let days = run(config, options, &scripts::days(config, options))?;
    let seconds: f64 = causes.iter().map(|cause| cause.leaderless_seconds_a_day).sum();
    let changes = causes.iter().map(|cause| cause.terms_per_strike * cause.a_month).sum::<f64>();
    let mut report = Report {
        nodes: options.nodes,
        config: config.clone(),
        causes,
        leaderless_seconds_a_day: seconds,
        availability_percent: 100.0 * (1.0 - seconds / DAY_SECONDS).max(0.0),
        store_operations_an_hour: operations,
        leader_changes_a_day: changes / MONTH_DAYS,
        lived: SimulatedDays {
            days: options.days,
            leader_changes: days.terms.len().saturating_sub(1),
            flap_warnings: days.flap_warnings,
            leaderless_seconds: total(&leaderless(&days)).as_secs_f64(),
        },
        advice: Vec::new(),
    };
    report.advice = advice::advise(&report);
    Ok(report)
}

fn try_cause(
    config: &Config,
    options: &RunOptions,
    cause: Cause,
) -> Result<CauseReport, Violation> {
    let series = scripts::series(config, options, cause);
    let stats = run(config, options, &series.script)?;
    let begin = |at: &Duration| TrueTime::default() + *at;
    let first = series.strikes.first().map(begin).unwrap_or_default();
    let gaps: Vec<Gap> = leaderless(&stats).into_iter().filter(|gap| gap.from >= first).collect();
    let terms = stats.terms.iter().filter(|span| span.from >= first).count();
    let mut spans: Vec<Duration> = gaps.iter().map(Gap::span).collect();
    let mut felt = 0;
    for (number, strike) in series.strikes.iter().enumerate() {
        let next = series.strikes.get(number + 1).map(begin);
        let within =
            |gap: &&Gap| gap.from >= begin(strike) && next.is_none_or(|next| gap.from < next);
        match gaps.iter().find(within) {
            Some(_) => felt += 1,
            None => spans.push(Duration::ZERO),
        }
    }
    let tried = series.strikes.len();
    let per_strike = total(&gaps).as_secs_f64() / tried as f64;
    let a_day = cause.a_day(&config.environment);
    Ok(CauseReport {
        cause,
        a_month: a_day * MONTH_DAYS,
        tried,
        felt,
        failover: Percentiles::of(&spans),
        terms_per_strike: terms as f64 / tried as f64,
        leaderless_seconds_per_strike: per_strike,
        leaderless_seconds_a_day: per_strike * a_day,
    })
}

fn total(gaps: &[Gap]) -> Duration {
    gaps.iter().map(Gap::span).sum()
}

fn operations(stats: &Stats, nodes: usize) -> StoreOperations {
    let hours = stats.simulated.as_secs_f64() / HOUR.as_secs_f64();
    let by_kind: BTreeMap<_, _> =
        stats.requests.iter().map(|(kind, count)| (*kind, *count as f64 / hours)).collect();
    let total = by_kind.values().sum();
    StoreOperations { by_kind, total, per_node: total / nodes as f64 }
}
