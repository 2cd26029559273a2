//! Kafka's sticky assignor in the version of kafka-python: a program of its own, for as long as it
//! is worth waiting.

use std::process::Stdio;
use std::time::Duration;

use baton_store::clock::{Clock, SystemClock};
use baton_testbed::from_pypi;
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{ChildStdout, Command};

use super::contender::{Measured, Step};
use super::fleet::{Fleet, Owners};
use crate::error::BenchError;

/// What it is called in tables.
pub const NAME: &str = "Kafka's sticky";

/// It is not tried with more partitions than this.
pub const PARTITIONS_MAX: u32 = 100_000;

/// How long all three steps may take together.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The version that the bench was written with.
const VERSION: &str = "3.0.12";

const SCRIPT: &str = include_str!("sticky.py");

/// What the program says of a step.
#[derive(Deserialize)]
struct Answer {
    seconds: f64,
    owners: Vec<u32>,
}

/// Measures the steps that it comes to the end of.
pub async fn measure(fleet: &Fleet) -> Result<Measured, BenchError> {
    let python = from_pypi("kafka-python", VERSION, "python")?;
    let sizes = [fleet.partitions() as usize, fleet.lists.len(), fleet.nodes.len()];
    let mut command = Command::new(&python);
    command.args(["-c", SCRIPT]).args(sizes.map(|size| size.to_string()));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
    let no_python = |problem| BenchError::File { path: python.clone(), problem };
    let mut process = command.spawn().map_err(no_python)?;
    let mut measured = Measured { name: NAME, ..Measured::default() };
    let Some(output) = process.stdout.take() else { return Ok(measured) };
    tokio::select! {
        read = read(BufReader::new(output).lines(), fleet, &mut measured) => {
            read.map_err(no_python)?;
        }
        () = SystemClock.sleep(PATIENCE) => eprintln!("{NAME}: killed after {PATIENCE:?}"),
    }
    Ok(measured)
}

async fn read(
    mut output: Lines<BufReader<ChildStdout>>,
    fleet: &Fleet,
    measured: &mut Measured,
) -> std::io::Result<()> {
    let unowned: Owners = vec![None; fleet.partitions() as usize];
    let Some((times, first)) = next(&mut output).await? else { return Ok(()) };
    measured.scratch = Some(Step::of(times, fleet, &unowned, &first));
    let (fewer, left) = fleet.with_one_less(&first);
    let Some((times, after)) = next(&mut output).await? else { return Ok(()) };
    measured.leave = Some(Step::of(times, &fewer, &left, &after));
    let more = fleet.with_one_more();
    let Some((times, after)) = next(&mut output).await? else { return Ok(()) };
    measured.join = Some(Step::of(times, &more, &first, &after));
    Ok(())
}

/// The next answer. `None` if there are no more, or it is none: what went wrong is on stderr.
async fn next(
    output: &mut Lines<BufReader<ChildStdout>>,
) -> std::io::Result<Option<(Vec<Duration>, Owners)>> {
    let Some(line) = output.next_line().await? else { return Ok(None) };
    let Answer { seconds, owners } = serde_json::from_str(&line)?;
    let owners = owners.into_iter().map(Some).collect();
    Ok(Some((vec![Duration::from_secs_f64(seconds)], owners)))
}
