//! What changed between two snapshots.

use std::collections::BTreeMap;
use std::fmt;

use baton_core::ids::NodeId;
use baton_core::protocol::HandoverKind;
use serde::Serialize;

use super::render::asked;
use super::{MemberState, Snapshot, State};

/// One thing that changed, or the state at the beginning of a watch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "change", rename_all = "kebab-case")]
pub enum Change {
    Now {
        leader: Option<NodeId>,
        epoch: u64,
        members: usize,
    },
    Leader {
        previous: Option<NodeId>,
        new: Option<NodeId>,
        /// In which epoch, or after which.
        epoch: u64,
    },
    Asked {
        wish: HandoverKind,
    },
    Joined {
        node: NodeId,
        state: State,
    },
    Left {
        node: NodeId,
    },
    Restarted {
        node: NodeId,
    },
    Became {
        node: NodeId,
        from: State,
        to: State,
    },
    StoreLost {
        problem: String,
    },
    /// The store answers again.
    StoreBack,
}

/// The state at the beginning of a watch.
pub fn first(snapshot: &Snapshot) -> Change {
    Change::Now {
        leader: leader(snapshot).cloned(),
        epoch: snapshot.epoch,
        members: snapshot.members.len(),
    }
}

/// What changed, the leader first.
pub fn changes(before: &Snapshot, after: &Snapshot) -> Vec<Change> {
    let mut found = Vec::new();
    let (previous, new) = (leader(before), leader(after));
    if previous != new || (new.is_some() && before.epoch != after.epoch) {
        found.push(Change::Leader {
            previous: previous.cloned(),
            new: new.cloned(),
            epoch: after.epoch,
        });
    }
    if let Some(wish) = after.asked.as_ref().filter(|_| before.asked != after.asked) {
        found.push(Change::Asked { wish: wish.clone() });
    }
    let (was, is) = (by_node(before), by_node(after));
    for (node, member) in &is {
        let node = (*node).clone();
        match was.get(&node) {
            None => found.push(Change::Joined { node, state: member.state }),
            Some(old) if old.boot != member.boot => found.push(Change::Restarted { node }),
            Some(old) => found.extend(became(node, old.state, member.state)),
        }
    }
    let gone = was.keys().filter(|node| !is.contains_key(*node));
    found.extend(gone.map(|node| Change::Left { node: (*node).clone() }));
    found
}

/// That a node leads or no longer does is told by the change of leader.
fn became(node: NodeId, from: State, to: State) -> Option<Change> {
    let candidate = |state| if state == State::Leader { State::Candidate } else { state };
    (candidate(from) != candidate(to)).then_some(Change::Became { node, from, to })
}

fn leader(snapshot: &Snapshot) -> Option<&NodeId> {
    snapshot.coordinator.as_ref().map(|leader| &leader.node)
}

fn by_node(snapshot: &Snapshot) -> BTreeMap<&NodeId, &MemberState> {
    snapshot.members.iter().map(|member| (&member.node, member)).collect()
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Now { leader: Some(leader), epoch, members } => {
                write!(f, "{leader} leads, epoch {epoch}, {members} registered")
            }
            Self::Now { leader: None, members, .. } => {
                write!(f, "no node leads, {members} registered")
            }
            Self::Leader { previous, new: Some(new), epoch } => match previous {
                Some(previous) => write!(f, "{new} leads, epoch {epoch}, after {previous}"),
                None => write!(f, "{new} leads, epoch {epoch}"),
            },
            Self::Leader { previous: Some(previous), new: None, epoch } => {
                write!(f, "no node leads: epoch {epoch} of {previous} is over")
            }
            Self::Leader { previous: None, new: None, epoch } => {
                write!(f, "no node leads, epoch {epoch} is over")
            }
            Self::Asked { wish } => write!(f, "the leader is asked {}", asked(wish)),
            Self::Joined { node, state } => write!(f, "{node} joined, {state}"),
            Self::Left { node } => write!(f, "{node} left"),
            Self::Restarted { node } => write!(f, "{node} was restarted"),
            Self::Became { node, from, to } => write!(f, "{node} is {to}, was {from}"),
            Self::StoreLost { problem } => write!(f, "the store does not answer: {problem}"),
            Self::StoreBack => f.write_str("the store answers again"),
        }
    }
}
