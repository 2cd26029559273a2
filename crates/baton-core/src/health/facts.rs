//! What a look at the store showed, and the limits it is judged by.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::ids::{BootId, Lineage, NodeId};
use crate::protocol::{LeaseSnapshot, Member, TermRecord, View};
use crate::settings::Settings;
use crate::time::Moment;

/// What one look showed.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// When it was, in Unix milliseconds. Compared with the term history's stamps alone.
    pub at_ms: u64,
    /// The lease; `None` if there never was one.
    pub lease: Option<LeaseSnapshot>,
    /// For how long this very version of the lease has been watched. Zero after a single look.
    pub lease_unchanged_for: Duration,
    /// Which line of history the store's data belongs to.
    pub lineage: Lineage,
    /// The published view.
    pub view: Option<Arc<View>>,
    /// Every registered node.
    pub members: Vec<Member>,
    /// The last terms, the newest first.
    pub terms: Vec<TermRecord>,
    /// How long the slowest answer took.
    pub store_took: Duration,
    /// What the leader last wrote of its plugins.
    pub plugins: Vec<PluginNote>,
}

/// What is known of a plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PluginNote {
    /// Which.
    pub name: String,
    /// How often it has failed.
    pub failures: u64,
    /// What it does now, in a word.
    pub doing: String,
}

impl PluginNote {
    /// Does it fail now? One that failed once and works again does not.
    pub fn is_failing(&self) -> bool {
        matches!(self.doing.as_str(), "failing" | "gave-up")
    }
}

/// From where on something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time between two beats of a node.
    pub heartbeat_interval: Duration,
    /// How much later one may come.
    pub heartbeat_jitter: Duration,
    /// How long the store keeps the lease for a silent holder.
    pub lease_timeout: Duration,
    /// How long one request may take.
    pub request_timeout: Duration,
    /// Silence after which a node is dropped from the view.
    pub worker_timeout: Duration,
    /// Silence after which a node is dead.
    pub dead_node_timeout: Duration,
    /// The smallest number of changes of leader within `flap_window` that is too many.
    pub flap_threshold: u32,
    /// See `flap_threshold`.
    pub flap_window: Duration,
    /// The number of live eligible nodes that is enough: with fewer, no node could take over.
    pub candidates_min: usize,
}

impl Limits {
    /// The number of beats that may be missed before a node is late.
    pub(super) const BEATS_MISSED_MAX: u32 = 3;

    /// The limits that follow from a node's settings.
    pub fn of(settings: &Settings) -> Self {
        Self {
            heartbeat_interval: settings.heartbeat_interval,
            heartbeat_jitter: settings.heartbeat_jitter,
            lease_timeout: settings.lease_timeout,
            request_timeout: settings.request_timeout,
            worker_timeout: settings.worker_timeout,
            dead_node_timeout: settings.dead_node_timeout,
            flap_threshold: settings.flap_threshold,
            flap_window: settings.flap_window,
            candidates_min: 2,
        }
    }

    /// Two beats, as far apart as they come.
    pub fn two_beats(&self) -> Duration {
        2 * (self.heartbeat_interval + self.heartbeat_jitter)
    }

    /// How long an election may take: until a silent holder's lease is over, and a beat.
    pub(super) fn election_max(&self) -> Duration {
        self.lease_timeout + self.heartbeat_interval
    }
}

/// Tells silence by beats that stand still, where the store has no clock to tell it by.
#[derive(Clone, Debug, Default)]
pub struct Silences(BTreeMap<NodeId, (BootId, u64, Moment)>);

impl Silences {
    /// Fills in for how long each node has been silent, as far as it was watched.
    pub fn fill_in(&mut self, now: Moment, members: &mut [Member]) {
        let before = std::mem::take(&mut self.0);
        for member in members {
            let record = &member.record;
            let known = before.get(&record.id);
            let same = known.filter(|(boot, beat, _)| (*boot, *beat) == (record.boot, record.beat));
            let since = same.map_or(now, |(_, _, since)| *since);
            self.0.insert(record.id.clone(), (record.boot, record.beat, since));
            if same.is_some() {
                member.silent_for.get_or_insert(now.since(since));
            }
        }
    }
}
