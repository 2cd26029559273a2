//! The ticking job: one line for each slot of time, and none twice, as long as it runs alone.

use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use baton::clock::Moment;
use baton_store::clock::{Clock, SystemClock};
use serde::{Deserialize, Serialize};

use super::ClusterError;

/// How much of the log's end is read to find its last line.
const TAIL_BYTES: i64 = 4_096;

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TickKind {
    /// A job began.
    Began,
    /// A slot was done.
    Tick,
}

/// One line of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tick {
    /// When, by the boot-time clock, read just before it was written.
    pub at: Moment,
    /// In which epoch.
    pub epoch: u64,
    /// For which node.
    pub node: String,
    /// By which process.
    pub pid: u32,
    /// What the line says.
    pub kind: TickKind,
    /// Which slot; of a job that began, the last one done.
    pub slot: u64,
}

/// Ticks into the log until the process is ended. Goes on after the last slot that the log has, as
/// a job must that takes over from another.
pub async fn tick_along(
    log: &Path,
    every: Duration,
    epoch: u64,
    node: &str,
) -> Result<(), ClusterError> {
    let trouble = |problem| ClusterError::File { path: log.to_owned(), problem };
    let mut file = File::options().create(true).read(true).append(true).open(log);
    let file = file.as_mut().map_err(|problem| trouble(std::io::Error::from(problem.kind())))?;
    let every = u64::try_from(every.as_micros()).unwrap_or(u64::MAX).max(1);
    let mut slot = last_slot(file).map_err(trouble)?;
    let mut write = |kind, slot| -> std::io::Result<()> {
        let (at, node, pid) = (SystemClock.now(), node.to_owned(), std::process::id());
        let tick = Tick { at, epoch, node, pid, kind, slot };
        let mut line = serde_json::to_vec(&tick)?;
        line.push(b'\n');
        // One write for each line: two jobs, should there ever be two, do not mix theirs.
        file.write_all(&line)
    };
    write(TickKind::Began, slot).map_err(trouble)?;
    loop {
        let now = SystemClock.now();
        slot = (now.as_micros() / every).max(slot + 1);
        let due = Moment::from_micros(slot * every);
        SystemClock.sleep(due.since(now)).await;
        write(TickKind::Tick, slot).map_err(trouble)?;
    }
}

fn last_slot(file: &mut File) -> std::io::Result<u64> {
    let length = file.seek(SeekFrom::End(0))?;
    let back = TAIL_BYTES.min(i64::try_from(length).unwrap_or(TAIL_BYTES));
    file.seek(SeekFrom::End(-back))?;
    // The first of these lines may be cut, and the last torn by a kill: neither is a tick.
    let lines = BufReader::new(&*file).lines().collect::<Result<Vec<_>, _>>()?;
    let ticks = lines.iter().rev().filter_map(|line| serde_json::from_str::<Tick>(line).ok());
    Ok(ticks.map(|tick| tick.slot).next().unwrap_or(0))
}
