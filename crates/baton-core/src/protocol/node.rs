//! The registry: one record per node, refreshed by every beat.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::ids::{BootId, Epoch, NodeId};
use crate::partition::PartitionReport;

/// What does not change while a process runs. Shared, because every beat carries it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NodeProfile {
    /// Higher leads first under the `priority` policy.
    pub priority: i32,
    /// Free-form labels, such as a zone.
    pub labels: BTreeMap<String, String>,
    /// Where the node's lifeline listens, if it has one.
    pub lifeline: Option<Arc<str>>,
    /// The version of the service, for people.
    pub version: String,
}

/// What a node says of itself with every beat.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NodeRecord {
    /// The node.
    pub id: NodeId,
    /// The process.
    pub boot: BootId,
    /// Counts this process's beats. A record whose count stands still is silent.
    pub beat: u64,
    /// May it lead?
    pub eligible: bool,
    /// Is it on its way out?
    pub draining: bool,
    /// How many jobs it has.
    pub load: u32,
    /// The highest epoch it ever saw.
    pub seen: Epoch,
    /// What it says of its partitions; `None` for a node that takes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partitions: Option<Arc<PartitionReport>>,
    /// What stays the same.
    pub profile: Arc<NodeProfile>,
}

/// A node record as the registry shows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Member {
    /// What the node said.
    pub record: NodeRecord,
    /// How long ago, by the store's clock; `None` if the store has none to trust.
    pub silent_for: Option<Duration>,
}

/// Whether a beat's node record was written.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Registration {
    /// It was.
    Registered,
    /// It was not: another process goes by this node id.
    TakenBy {
        /// That process.
        boot: BootId,
        /// Its beat count, so that one that stands still can be told from one that works.
        beat: u64,
    },
}
