//! The cluster view: what the leader publishes, so that a follower's beat costs O(1).

use serde::{Deserialize, Serialize};

use crate::ids::{BootId, Epoch, NodeId};
use crate::partition::AssignmentVersion;

/// Orders views: by the epoch they were published in, then by number within it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct ViewVersion {
    /// The publishing term.
    pub epoch: Epoch,
    /// Its place among that term's views, from 1.
    pub number: u64,
}

/// One node, as the view shows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ViewMember {
    /// The node.
    pub id: NodeId,
    /// Its process.
    pub boot: BootId,
    /// May it lead, and is it staying?
    pub candidate: bool,
    /// Is it on its way out?
    pub draining: bool,
    /// Its assignment document; `None` if it has no partitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignment: Option<AssignmentVersion>,
}

/// Who is there and who comes next, as one leader saw it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct View {
    /// Which view this is.
    pub version: ViewVersion,
    /// Who published it.
    pub coordinator: NodeId,
    /// Every live node, sorted by id, the leader among them.
    pub members: Vec<ViewMember>,
    /// The candidates other than the leader, best first by the policy.
    pub successors: Vec<NodeId>,
    /// How many of the successors, from the first on, are known to be there. Of the others there is
    /// a record, which may be all that is left of them.
    #[serde(default)]
    pub certain: usize,
}

impl View {
    /// The member with this id.
    pub fn member(&self, id: &NodeId) -> Option<&ViewMember> {
        self.members.binary_search_by(|member| member.id.cmp(id)).ok().map(|at| &self.members[at])
    }

    /// Is this process the view's leader, or among the successors that are known to be there?
    pub fn is_certain(&self, id: &NodeId, boot: BootId) -> bool {
        let same = self.member(id).is_some_and(|member| member.boot == boot);
        let in_line = || self.rank(id).is_some_and(|rank| rank < self.certain);
        same && (self.coordinator == *id || in_line())
    }

    /// The place of this node among the successors, from 0.
    pub fn rank(&self, id: &NodeId) -> Option<usize> {
        self.successors.iter().position(|successor| successor == id)
    }
}
