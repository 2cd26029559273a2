//! Four processes that add, and a leader that consolidates meanwhile.

use std::process::Stdio;
use std::time::Duration;

use baton::plugins::counters::{Counters, CountersPlugin, PluginConfig};
use baton::{Namespace, Profile};
use baton_cli::attempts::Attempts;
use tokio::process::Command;

use super::adder::AdditionTimes;
use super::{a_second, at_least};
use crate::beats::Fleet;
use crate::error::BenchError;
use crate::fixture::{Fixture, StoreKind};
use crate::processes::this_program;
use crate::report::{Report, TextTable};
use crate::sandbox::Sandbox;

/// How many processes add.
pub const PROCESSES: u64 = 4;

/// Additions of all of them together that must be durable each second.
const ADDITIONS_A_SECOND: f64 = 20_000.0;

/// How often the leader consolidates.
const CONSOLIDATE_EVERY: Duration = Duration::from_secs(1);

/// How long it may take until everything is consolidated.
const PATIENCE: Duration = Duration::from_secs(60);

const LOOK_EVERY: Duration = Duration::from_millis(50);

const HEAD: [&str; 5] = ["HOW", "ADDITIONS", "TOOK ms", "ADDITIONS/S", "SUM"];

/// The counter that all processes add to, and the peers' row or key.
pub const COUNTER: &str = "visits";

/// Measures counters and their peer on one store.
pub async fn run(
    sandbox: &Sandbox,
    kind: StoreKind,
    additions: u64,
    bars: bool,
    report: &mut Report,
) -> Result<(), BenchError> {
    let fixture = Fixture::new(kind).await?;
    let url = fixture.url(&sandbox.room(&format!("counters-{kind}"))?);
    let namespace = Namespace::new("counters").expect("a plain name");
    let plugged = |node: baton::NodeBuilder, _| {
        let config = PluginConfig::default().tune(|it| it.every = CONSOLIDATE_EVERY);
        node.profile(Profile::Fast).plugin(CountersPlugin::new(config))
    };
    let fleet = Fleet::start(&url, &namespace, 2, plugged).await?;
    fleet.settle().await?;
    let title =
        format!("{PROCESSES} processes add on {kind}, each addition acknowledged before the next");
    let mut table = TextTable::new(title, &HEAD);
    let wanted = additions * PROCESSES;

    eprintln!("counters: {wanted} additions on {kind}");
    let took = all_add(kind, &url, &namespace, additions, false).await?;
    let counters = Counters::new(baton_drivers::open(&url).await?, namespace.clone());
    let mut sum = None;
    let mut attempts = Attempts::new(LOOK_EVERY, PATIENCE);
    while sum != i64::try_from(wanted).ok() && attempts.next().await {
        let found = counters.get_consolidated(COUNTER).await;
        sum = Some(found.map_err(|problem| BenchError::Fence(problem.to_string()))?);
    }
    let found = sum.unwrap_or_default().to_string();
    let exact = found == wanted.to_string();
    report.must(
        &format!("counters on {kind}: the consolidated sum"),
        exact,
        &found,
        wanted.to_string(),
    );
    let rate = a_second(wanted, took);
    at_least(
        report,
        bars,
        &format!("counters on {kind}: additions a second"),
        rate,
        ADDITIONS_A_SECOND,
    );
    table.row(row("counters", wanted, took, found));

    let took = all_add(kind, &url, &namespace, additions, true).await?;
    let peer = a_second(wanted, took);
    let how = if kind == StoreKind::Redis { "INCR of one key" } else { "UPDATE of one row" };
    table.row(row(how, wanted, took, "-".to_owned()));
    report.note(format!(
        "counters on {kind}: {:.2} times the additions a second of an {how}",
        rate / peer
    ));
    report.table(table);
    fleet.leave().await;
    Ok(())
}

fn row(how: &str, additions: u64, took: f64, sum: String) -> Vec<String> {
    let rate = format!("{:.0}", a_second(additions, took));
    vec![how.to_owned(), additions.to_string(), format!("{took:.0}"), rate, sum]
}

/// Lets all processes add, and says how many milliseconds passed from the first one's first
/// addition to the last one's last.
async fn all_add(
    kind: StoreKind,
    url: &str,
    namespace: &Namespace,
    additions: u64,
    directly: bool,
) -> Result<f64, BenchError> {
    let trouble = |problem| BenchError::File { path: "adder".into(), problem };
    let mut adders = Vec::new();
    for _ in 0..PROCESSES {
        let mut command = Command::new(this_program()?);
        command.args(["adder", kind.name(), namespace.as_str(), &additions.to_string()]);
        if directly {
            command.arg("--directly");
        }
        command.env("BATON_STORE", url).stdin(Stdio::null()).stdout(Stdio::piped());
        adders.push(command.kill_on_drop(true).spawn().map_err(trouble)?);
    }
    let (mut first, mut last) = (u64::MAX, 0);
    for adder in adders {
        let output = adder.wait_with_output().await.map_err(trouble)?;
        let Ok(times) = serde_json::from_slice::<AdditionTimes>(&output.stdout) else {
            return Err(BenchError::WorkerEnded { status: output.status });
        };
        (first, last) = (first.min(times.began_us), last.max(times.ended_us));
    }
    Ok(last.saturating_sub(first) as f64 / 1e3)
}
