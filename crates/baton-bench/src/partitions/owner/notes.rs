//! What an owner of a bench notes besides its work: its calls, and its writes. It has a file of its
//! own for that, beside the log.

use std::path::{Path, PathBuf};

use baton::clock::Moment;
use baton::partitions::{Partition, Token};
use baton_cli::cluster::{ClusterError, LogTail};
use serde::{Deserialize, Serialize};

use super::calls::CallTotals;
use crate::error::BenchError;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "did")]
pub enum Note {
    /// A write for a partition was acknowledged.
    Wrote(AcknowledgedWrite),
    /// A write came too late: a later owner had written.
    Refused {
        /// For which.
        partition: Partition,
        /// Under which token.
        token: Token,
    },
    /// The calls of the store so far.
    Calls {
        /// When they were counted.
        at: Moment,
        /// How many.
        totals: CallTotals,
    },
}

/// A write that was acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcknowledgedWrite {
    /// For which partition.
    pub partition: Partition,
    /// Under which token.
    pub token: Token,
    /// The number of this write among all of the partition.
    pub count: u64,
}

/// Where the owner with this log writes its notes.
pub fn beside(log: &Path) -> PathBuf {
    log.with_extension("notes")
}

/// The notes of the owner with this log.
pub fn read(log: &Path) -> Result<Vec<Note>, BenchError> {
    let path = beside(log);
    let lines = LogTail::new(&path).new_lines()?.into_iter().enumerate();
    let parsed = lines.map(|(at, line)| {
        let unreadable =
            |problem| ClusterError::Log { path: path.clone(), line: at + 1, problem }.into();
        serde_json::from_slice(&line).map_err(unreadable)
    });
    parsed.collect()
}
