//! `baton doctor`: checks of the store, the machine, the network and the settings.
//!
//! ```text
//!   settings ─┐
//!   clock ────┤
//!   lifeline ─┤
//!   reach ────┼──► findings: ok, warn, fail, each with a remedy ──► table or JSON, exit code
//!   store ────┤    file, declaration, server, beats, pace, lease
//!   cost ─────┤    requests to a store that is paid by the request
//!   ttl ──────┤    each [[ttl]] table of the file
//!   stress ───┘    races, with --stress
//! ```
//!
//! Trials run in a namespace of the doctor's own, and take their node record out again.

mod clock;
mod file;
mod lifeline;
mod reach;
mod store;
mod stress;
mod trial;

use baton_drivers::s3::{Requests, requests_per_hour};
use baton_store::{Finding, FindingLevel};
use serde::Serialize;

use crate::config::{Config, NodeFlags, TtlTable};
use crate::error::{CommandError, Exit};
use crate::output::stdout;
use crate::output::style::Tone;
use crate::{open_store, serve_plugins};

/// Costs are estimated for clusters of these sizes.
const NODES: [u64; 3] = [3, 10, 50];

/// Hours in a month of thirty days.
const HOURS: u64 = 720;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    node: NodeFlags,
    /// Also let eight clients compete for one record, to detect a store whose conditional writes
    /// are not atomic.
    #[arg(long)]
    stress: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    store: String,
    worst: FindingLevel,
    findings: Vec<Finding>,
}

pub async fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    let config = open_store::load(&arguments.node.0)?;
    let mut findings = vec![settings(&config)];
    findings.extend(clock::examine().await);
    findings.extend(lifeline::examine(&config).await);
    findings.extend(reach::examine(&config).await);
    findings.extend(store::examine(&config).await);
    findings.extend(cost(&config));
    findings.extend(ttl(&config).await);
    if arguments.stress {
        findings.extend(stress::examine(&config.store).await);
    }
    let worst = findings.iter().map(|finding| finding.verdict).max().unwrap_or(FindingLevel::Ok);
    let report = Report { store: config.store.to_string(), worst, findings };
    stdout::json_or_text(arguments.json, &report, || render(&report));
    Ok(match worst {
        FindingLevel::Ok => Exit::DONE,
        FindingLevel::Warn => Exit::WARNED,
        FindingLevel::Fail => Exit::FAILED,
    })
}

fn settings(config: &Config) -> Finding {
    match &config.contradiction {
        None => {
            let lease = config.settings.lease_timeout;
            let beat = config.settings.heartbeat_interval;
            let show = baton_core::settings::show_span;
            let detail = format!("lease {}, beat {}, no contradiction", show(lease), show(beat));
            Finding::ok("settings", detail)
        }
        Some(problem) => Finding::fail(
            "settings",
            problem.to_string(),
            "change or omit one of them; baton settings shows where each comes from",
        ),
    }
}

/// What a store that is paid by the request costs, by the settings at hand.
fn cost(config: &Config) -> Vec<Finding> {
    if !config.store.to_string().starts_with("s3://") {
        return Vec::new();
    }
    let line = |nodes| {
        let hourly = requests_per_hour(nodes, config.settings.heartbeat_interval);
        Finding::ok("cost", requests(nodes, hourly))
    };
    NODES.map(line).into()
}

fn requests(nodes: u64, Requests { put, get, list }: Requests) -> String {
    let hourly = put + get + list;
    let monthly = (hourly * HOURS) as f64 / 1e6;
    format!("{nodes} nodes: {hourly} requests an hour, {monthly:.1} million a month")
}

/// What `baton serve` removes: is what the `[[ttl]]` tables name there, can it be swept, and would
/// the plugins start with these settings? Looks at each in turn, and changes nothing.
async fn ttl(config: &Config) -> Vec<Finding> {
    let mut findings = Vec::with_capacity(config.ttl.len() + 1);
    if let Err(problem) = serve_plugins::own_records(config) {
        let remedy = "baton serve refuses to start with it: change or omit it";
        findings.push(Finding::fail("own-records", problem.to_string(), remedy));
    }
    for (at, table) in config.ttl.iter().enumerate() {
        findings.push(match sweepable(at + 1, table, config).await {
            Ok(name) => Finding::ok("ttl", format!("{name} can be swept")),
            Err(problem) => {
                let remedy = "no records of this table are removed until this is fixed";
                Finding::fail("ttl", problem, remedy)
            }
        });
    }
    findings
}

async fn sweepable(number: usize, table: &TtlTable, config: &Config) -> Result<String, String> {
    let sweep = serve_plugins::swept(table, config).map_err(|problem| problem.to_string())?;
    let plugin = serve_plugins::ttl(number, table, sweep.clone());
    plugin.map_err(|problem| problem.to_string())?;
    let looked = sweep.examine().await;
    looked.map_err(|problem| format!("{}: {problem}", table.place))?;
    Ok(sweep.name().to_owned())
}

/// The longest name of a check, so that what was found stands in a column.
const WIDTH: usize = 11;

fn render(report: &Report) -> String {
    let mut lines = vec![format!("{}\n", report.store)];
    for Finding { check, verdict, detail, remedy } in &report.findings {
        let tone = match verdict {
            FindingLevel::Ok => Tone::Good,
            FindingLevel::Warn => Tone::Warn,
            FindingLevel::Fail => Tone::Bad,
        };
        lines.push(format!("{}  {check:<WIDTH$} {detail}", tone.paint(verdict.word())));
        if let Some(remedy) = remedy {
            lines.push(format!("      {:<WIDTH$} → {remedy}", ""));
        }
    }
    let count = |verdict| report.findings.iter().filter(|f| f.verdict == verdict).count();
    lines.push(format!(
        "\n{} ok, {} warnings, {} failed\n",
        count(FindingLevel::Ok),
        count(FindingLevel::Warn),
        count(FindingLevel::Fail)
    ));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_estimate_names_the_hour_and_the_month_within_eighty_columns() {
        let line = requests(50, requests_per_hour(50, Duration::from_secs(5)));
        assert_eq!(line, "50 nodes: 59328 requests an hour, 42.7 million a month");
        assert!(
            requests(3, requests_per_hour(3, Duration::from_secs(5))).starts_with("3 nodes: 5184")
        );
    }
}
