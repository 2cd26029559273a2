//! What benches do with a cluster of owners besides what every user of one does: numbered nodes,
//! counted calls, noted writes.

use std::collections::BTreeMap;
use std::time::Duration;

use baton::NodeId;
use baton_cli::attempts::Attempts;
use baton_cli::cluster::owners::{OwnerCluster, OwnerProcess, ProcessId};
use baton_cli::cluster::{ClusterError, Signal};
use baton_store::clock::{Clock, SystemClock};

use super::check::Writes;
use super::owner::CallTotals;
use super::owner::notes::{self, Note};
use crate::error::BenchError;

/// How often notes are read.
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// How long processes may take to count their calls.
const ANSWERS_WITHIN: Duration = Duration::from_secs(30);

/// The name of a node.
pub fn node_name(number: u32) -> NodeId {
    NodeId::new(&format!("node-{number:03}")).expect("a plain name")
}

/// Starts this many nodes, numbered from `first`.
pub fn start_all(cluster: &mut OwnerCluster, first: u32, count: u32) -> Result<(), ClusterError> {
    (first..first + count).try_for_each(|number| cluster.start(&node_name(number)))
}

/// The calls of all processes so far, each by its place in the history.
pub async fn calls(
    cluster: &mut OwnerCluster,
) -> Result<BTreeMap<ProcessId, CallTotals>, BenchError> {
    let asked_at = SystemClock.now();
    for process in &mut cluster.processes {
        process.signal(Signal::USR2)?;
    }
    let counted = |it: &OwnerProcess| -> Result<Option<(ProcessId, CallTotals)>, BenchError> {
        let notes = notes::read(cluster.history.log(it.id))?;
        Ok(notes.into_iter().rev().find_map(|note| match note {
            Note::Calls { at, totals } if at >= asked_at => Some((it.id, totals)),
            _ => None,
        }))
    };
    let mut attempts = Attempts::new(LOOK_EVERY, ANSWERS_WITHIN);
    while attempts.next().await {
        let all: Result<Option<BTreeMap<_, _>>, _> =
            cluster.processes.iter().map(counted).collect();
        if let Some(all) = all? {
            return Ok(all);
        }
    }
    let wrong = "not all processes counted their calls".to_owned();
    Err(ClusterError::Unbalanced { wrong, within: ANSWERS_WITHIN }.into())
}

/// The writes that all processes noted.
pub fn writes(cluster: &OwnerCluster) -> Result<Writes, BenchError> {
    let mut writes = Writes::default();
    for log in cluster.history.logs() {
        for note in notes::read(log)? {
            match note {
                Note::Wrote(write) => writes.acknowledged.push(write),
                Note::Refused { .. } => writes.refused += 1,
                Note::Calls { .. } => {}
            }
        }
    }
    Ok(writes)
}
