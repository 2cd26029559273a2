//! `baton doctor`: checks of the store, the machine, the network and the settings.
//!
//! ```text
//!   settings ─┐
//!   clock ────┤
//!   lifeline ─┼──► findings: ok, warn, fail, each with a remedy ──► table or JSON, exit code
//!   reach ────┤
//!   store ────┤
//!     file, declaration, server, beats, lease, cost; races with --stress
//!   ttl ── each [[ttl]] table of the file
//! ```
//!
//! Trials run in a namespace of the doctor's own, and take their node record out again.

mod clock;
mod cost;
mod file;
mod lifeline;
mod reach;
mod store;
mod stress;
mod trial;
mod ttl;

use serde::Serialize;

use crate::config::{Config, NodeFlags};
use crate::error::{CommandError, Exit};
use crate::open_store;
use crate::output::stdout;
use crate::output::style::Tone;

use baton_store::{Finding, FindingLevel};

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
    findings.extend(cost::estimate(&config));
    findings.extend(ttl::examine(&config).await);
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
