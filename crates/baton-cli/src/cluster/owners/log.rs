//! What an owner of partitions notes: one line for each thing it does, in a file of its own.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;

use baton::clock::Moment;
use baton::partitions::{Partition, Token};
use serde::{Deserialize, Serialize};

use crate::cluster::ClusterError;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "did")]
pub enum OwnerLine {
    /// Work began.
    Start {
        /// Since when this process owns the partition.
        at: Moment,
        /// Which.
        partition: Partition,
        /// What its writes carry.
        token: Token,
    },
    /// Work ended.
    Stop {
        /// When.
        at: Moment,
        /// Which.
        partition: Partition,
        /// What its writes carried.
        token: Token,
        /// When it was last seen to be owned.
        owned_at: Moment,
    },
    /// At least one partition is owned.
    Alive {
        /// At this moment.
        at: Moment,
    },
}

/// A file of lines. A line is in it once it was written, whatever becomes of the process.
pub struct OwnerLog(Mutex<File>);

impl OwnerLog {
    /// Creates the file.
    pub fn create(path: &Path) -> Result<Self, ClusterError> {
        let file = File::options().create_new(true).append(true).open(path);
        let trouble = |problem| ClusterError::File { path: path.to_owned(), problem };
        file.map(|file| Self(Mutex::new(file))).map_err(trouble)
    }

    /// Adds a line. Without its lines the process is worth nothing: it ends if one is lost.
    pub fn note(&self, line: &impl Serialize) {
        let mut text = serde_json::to_vec(line).expect("plain data has a JSON form");
        text.push(b'\n');
        let written = self.0.lock().expect("no holder panics").write_all(&text);
        written.expect("there is room for the log");
    }
}
