//! What the core says to a store, and what it hears back: plain data, no I/O.
//!
//! ```text
//!   core ── Request ──► runtime ──► store        one Beat a beat: node record + lease intent
//!   core ◄── Reply ──── runtime ◄── store        lease snapshot + outcome + view if it moved
//!        ◄── Failure ──                          Unknown is not "no": it is re-read
//! ```
//!
//! The store is authoritative for who holds the lease and, where it has a clock or leases of its
//! own, for when the lease expires. The core is authoritative for its own trust window.

mod history;
mod lease;
mod node;
mod view;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use history::{TermEnd, TermRecord};
pub use lease::{
    Acquire, Ask, Claim, Expiry, HandoverKind, Holder, LeaseIntent, LeaseSnapshot, Release,
    ReleaseReason, Renew, Version,
};
pub use node::{Member, NodeProfile, NodeRecord, Registration};
pub use view::{View, ViewMember, ViewVersion};

use crate::ids::{BootId, Epoch, Lineage, NodeId};

/// Identifies one request of one process, so that a late answer is not taken for another's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestId(pub u64);

/// What a conditional write came to, when the store answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The write took place.
    Applied,
    /// Its precondition did not hold; nothing was written.
    Conflict,
    /// The store cannot tell. Read back, never assume.
    Unknown,
}

/// Why a request got no reply. Split by what it means for the write, not by what broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Failure {
    /// It was sent, and no answer came: it may have been applied, or may still be.
    Unknown,
    /// It was certainly not applied, and trying again may help.
    NotDone,
    /// It was not applied and never will be as things stand: a person must act.
    Rejected,
}

/// One beat: everything a node says to the store in its steady state, in one request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BeatRequest {
    /// Whose beat it is.
    pub node: NodeRecord,
    /// What becomes of the node's record.
    pub recording: Recording,
    /// The boot whose record this one may replace, because it fell silent.
    pub replaces: Option<BootId>,
    /// What is to be done with the lease.
    pub lease: LeaseIntent,
    /// The view the node has; the reply carries one only if there is a newer.
    pub known_view: ViewVersion,
}

impl BeatRequest {
    /// May the store leave the node record as it is, if there is one of this boot? A node that
    /// asks for the lease is always registered anew.
    pub fn may_leave_record(&self) -> bool {
        self.recording != Recording::Write && self.lease == LeaseIntent::Observe
    }

    /// Is this a mere look, which writes nothing if there is a record of this boot?
    pub fn is_mere_look(&self) -> bool {
        self.recording == Recording::Leave && self.lease == LeaseIntent::Observe
    }
}

/// What becomes of a node's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recording {
    /// It is written.
    Write,
    /// It says nothing new but its count, and was written a beat ago: a store that pays for every
    /// write may leave it as it is.
    MayWait,
    /// This is a look between two beats: a record of this boot is left as it is, where that saves a
    /// write.
    Leave,
}

/// The store's answer to a beat.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BeatReply {
    /// Whether the node's record was written. If not, the lease was not touched either.
    pub registration: Registration,
    /// The lease after this beat; `None` if the namespace never had one.
    pub lease: Option<LeaseSnapshot>,
    /// What the lease intent came to; `None` for a mere look.
    pub outcome: Option<Outcome>,
    /// Which line of history the store's data belongs to now.
    pub lineage: Lineage,
    /// The published view, if it is newer than the one the node knew.
    pub view: Option<Arc<View>>,
}

/// A request that the core wants carried out. Each is one conditional step of the store.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Request {
    /// Refresh the node record, act on the lease, learn of a new view.
    Beat(BeatRequest),
    /// Read every node record. Only the leader does, and a node in its cold start.
    ReadMembers,
    /// Publish the cluster view, fenced by the epoch it was made in.
    PublishView {
        /// Refused once a later epoch exists.
        fence: Epoch,
        /// The view.
        view: Arc<View>,
    },
    /// Give the lease up: clears the holder, keeps the record and its epoch.
    Release(Release),
    /// Take the node's record out of the registry.
    Leave {
        /// The node.
        node: NodeId,
        /// Its boot; another boot's record is left alone.
        boot: BootId,
    },
    /// Ask the holder of this epoch to hand over.
    Ask {
        /// The term that is asked.
        epoch: Epoch,
        /// What is asked of it.
        ask: Ask,
    },
}

impl Request {
    /// A short name for counters and traces.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Beat(beat) => match beat.lease {
                LeaseIntent::Observe => "beat",
                LeaseIntent::Acquire(_) => "acquire",
                LeaseIntent::Renew(_) => "renew",
            },
            Self::ReadMembers => "members",
            Self::PublishView { .. } => "publish-view",
            Self::Release(_) => "release",
            Self::Leave { .. } => "leave",
            Self::Ask { .. } => "ask",
        }
    }

    /// What a store that pushes tells its listeners once the request was applied.
    pub fn hint_when_applied(&self) -> Option<Hint> {
        match self {
            Self::PublishView { .. } => Some(Hint::ViewMoved),
            Self::Release(Release { expect, nonce, successor, .. }) => {
                let version = Version { epoch: expect.epoch, nonce: *nonce };
                Some(Hint::Released { version, successor: successor.clone() })
            }
            Self::Ask { .. } => Some(Hint::Asked),
            Self::Beat(_) | Self::ReadMembers | Self::Leave { .. } => None,
        }
    }
}

/// The store's answer, of the same kind as the request.
#[expect(clippy::large_enum_variant, reason = "beats are nearly all of the traffic")]
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// To [`Request::Beat`].
    Beat(BeatReply),
    /// To [`Request::ReadMembers`].
    Members(Vec<Member>),
    /// To every other request.
    Done(Outcome),
}

/// A push from the store or from another node. It shortens waiting and proves nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "hint", rename_all = "kebab-case")]
pub enum Hint {
    /// Something about the lease changed: look.
    Look,
    /// A request was left beside the lease. This hint is for the holder alone.
    Asked,
    /// The lease was released; the node that is named may try this version at once.
    Released {
        /// The version that the release left behind.
        version: Version,
        /// Who was named.
        successor: Option<NodeId>,
    },
    /// A newer view was published.
    ViewMoved,
    /// A process that may lead is there, and the line of successors does not say so: the leader may
    /// look who is there.
    Joined {
        /// The process.
        boot: BootId,
    },
    /// A process has left, and its record with it: the leader may look who is there.
    Left {
        /// The process.
        boot: BootId,
    },
    /// This node is among the first successors of a new view, and may not know: it may look, so as
    /// to watch the leader's lifeline.
    InLine {
        /// The view.
        view: ViewVersion,
    },
    /// The assignment document of this node moved with a new view: it may look.
    Assigned {
        /// The view.
        view: ViewVersion,
    },
    /// A process says something new of its partitions: the leader may look who is there.
    Reported {
        /// The process.
        boot: BootId,
        /// The beat that said so.
        beat: u64,
    },
    /// This node is about to be named successor: it may warm its plugins up.
    Prepare {
        /// The epoch that is about to end.
        epoch: Epoch,
    },
}
