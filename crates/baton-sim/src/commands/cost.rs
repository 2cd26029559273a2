//! What baton costs a store, as a table.

use std::time::Duration;

use crate::cost::{self, Row};
use crate::figures::{show_count, show_long, show_ms};
use serde::Serialize;

use super::CommandError;
use super::print::{print_json, print_line};

const HEAD: &str = " nodes simulated       beats    requests  per beat        \
    beat   renew  members  view  other     took";

#[derive(clap::Args)]
pub struct CostArguments {
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Simulate only one hour each of 10, 100 and 1,000 nodes.
    #[arg(long)]
    quick: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    rows: &'a [Row],
    most_per_beat: f64,
    problem: Option<&'a str>,
}

/// Measures, prints and judges.
pub fn run(arguments: &CostArguments) -> Result<(), CommandError> {
    let clusters: &[_] = if arguments.quick { &cost::QUICK } else { &cost::FULL };
    let mut rows = Vec::new();
    for (nodes, length) in clusters {
        eprintln!("{} nodes for {} …", show_count(*nodes as u64), show_long(*length));
        rows.push(cost::measure(*nodes, *length));
    }
    let problem = cost::judge(&rows);
    let (rows, most_per_beat) = (rows.as_slice(), cost::MOST_PER_BEAT);
    let report = Report { rows, most_per_beat, problem: problem.as_deref() };
    if arguments.json {
        print_json(&report);
    } else {
        print_report(&report);
    }
    if problem.is_none() { Ok(()) } else { Err(CommandError::Broken) }
}

fn print_report(report: &Report<'_>) {
    print_line!(
        "store requests while nothing fails, by default settings; \
         a beat is one of one node\n"
    );
    print_line!("{HEAD}");
    for row in report.rows {
        print_row(row);
    }
    match report.problem {
        Some(problem) => print_line!("\n{problem}"),
        None => print_line!(
            "\nat most {} at 1,000 nodes, and no more per node in larger clusters: holds",
            report.most_per_beat
        ),
    }
}

fn print_row(row: &Row) {
    let kind = |name: &str| row.kinds.get(name).copied().unwrap_or(0);
    let [beat, renew, members, view] = ["beat", "renew", "members", "publish-view"].map(kind);
    print_line!(
        "{:>6} {:>9} {:>11} {:>11} {:>9.4} {:>11} {:>7} {:>8} {:>5} {:>6} {:>8}",
        show_count(row.nodes as u64),
        show_long(Duration::from_secs_f64(row.simulated_seconds)),
        show_count(row.beats.round() as u64),
        show_count(row.requests),
        row.per_beat,
        show_count(beat),
        show_count(renew),
        show_count(members),
        show_count(view),
        show_count(row.requests - beat - renew - members - view),
        show_ms(row.seconds * 1e3),
    );
}
