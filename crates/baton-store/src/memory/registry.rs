//! The rules of the node registry.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use baton_core::ids::{BootId, NodeId};
use baton_core::protocol::{Member, NodeRecord, Outcome, Registration};
use baton_core::time::Moment;

/// What becomes of a node's record, given the one that is known; `free` says whose may be replaced.
pub fn registration(
    known: Option<&NodeRecord>,
    node: &NodeRecord,
    free: impl Fn(BootId) -> bool,
) -> Registration {
    match known {
        Some(known) if known.boot != node.boot && !free(known.boot) => {
            Registration::TakenBy { boot: known.boot, beat: known.beat }
        }
        _ => Registration::Registered,
    }
}

/// One record per node id.
#[derive(Clone, Debug, Default, Hash)]
pub struct Registry(BTreeMap<NodeId, (NodeRecord, Moment)>);

impl Registry {
    pub(super) fn register(
        &mut self,
        now: Moment,
        node: &NodeRecord,
        replaces: Option<BootId>,
        dead: &BTreeSet<BootId>,
    ) -> Registration {
        let free = |boot: BootId| Some(boot) == replaces || dead.contains(&boot);
        let known = self.0.get(&node.id).map(|(record, _)| record);
        let registration = registration(known, node, free);
        if registration == Registration::Registered {
            self.0.insert(node.id.clone(), (node.clone(), now));
        }
        registration
    }

    /// Is there a record of this very process?
    pub(super) fn has(&self, node: &NodeRecord) -> bool {
        self.boot_of(&node.id) == Some(node.boot)
    }

    pub(super) fn boot_of(&self, node: &NodeId) -> Option<BootId> {
        self.0.get(node).map(|(record, _)| record.boot)
    }

    pub(super) fn leave(&mut self, node: &NodeId, boot: BootId) -> Outcome {
        match self.0.get(node) {
            Some((known, _)) if known.boot == boot => {
                self.0.remove(node);
                Outcome::Applied
            }
            _ => Outcome::Conflict,
        }
    }

    /// Takes out at most `limit` records of nodes that were silent for `dead_for`. Returns how many
    /// it took out.
    pub(super) fn forget(&mut self, now: Moment, dead_for: Duration, limit: usize) -> usize {
        let is_silent = |beat_at: Moment| now.since(beat_at) >= dead_for;
        let silent = self.0.iter().filter(|(_, (_, beat_at))| is_silent(*beat_at));
        let silent: Vec<NodeId> = silent.map(|(node, _)| node.clone()).take(limit).collect();
        for node in &silent {
            self.0.remove(node);
        }
        silent.len()
    }

    pub(super) fn members(&self, now: Moment, with_age: bool) -> Vec<Member> {
        let member = |(record, beat_at): &(NodeRecord, Moment)| Member {
            record: record.clone(),
            silent_for: with_age.then(|| now.since(*beat_at)),
        };
        self.0.values().map(member).collect()
    }
}
