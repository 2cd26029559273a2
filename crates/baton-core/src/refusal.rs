//! Why leadership is not handed to a node: as the leader says it, and as any process can foresee.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::ids::NodeId;
use crate::protocol::{LeaseSnapshot, Member, NodeRecord};
use crate::settings::{Settings, show_span};
use crate::time::whole_ms;

/// Why leadership is not handed to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum TransferRefusal {
    /// No node has this id.
    NotAMember,
    /// It fell silent.
    Silent {
        /// How long it has been silent.
        for_ms: u64,
        /// `worker_timeout`.
        limit_ms: u64,
    },
    /// It is dead.
    Dead {
        /// How long it has been silent.
        for_ms: u64,
        /// `dead_node_timeout`.
        limit_ms: u64,
    },
    /// It may not lead.
    NotEligible,
    /// It is on its way out.
    Draining,
    /// It leads already.
    LeadsAlready,
    /// No node leads, so none can hand over.
    NoCoordinator,
    /// Another request for leadership to move came before the node had looked at this one.
    Replaced,
}

impl fmt::Display for TransferRefusal {
    /// What is to be said of the node, after its name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |ms: &u64| show_span(Duration::from_millis(*ms)).to_string();
        match self {
            Self::NotAMember => f.write_str("is not registered"),
            Self::Silent { for_ms, limit_ms } => {
                let (silent, limit) = (show(for_ms), show(limit_ms));
                write!(f, "has been silent for {silent}, more than worker_timeout {limit}")
            }
            Self::Dead { for_ms, limit_ms } => {
                let (silent, limit) = (show(for_ms), show(limit_ms));
                write!(f, "is dead: silent for {silent}, more than dead_node_timeout {limit}")
            }
            Self::NotEligible => f.write_str("may not lead"),
            Self::Draining => f.write_str("is leaving"),
            Self::LeadsAlready => f.write_str("leads already"),
            Self::Replaced => {
                f.write_str("was replaced by a later request for another node; ask again")
            }
            Self::NoCoordinator => f.write_str("cannot take over: no node leads"),
        }
    }
}

impl TransferRefusal {
    /// Is the node with this record, which has been silent for this long, refused? The limits are
    /// `worker_timeout` and `dead_node_timeout`.
    pub(crate) fn of(
        record: &NodeRecord,
        silence: Duration,
        limits: (Duration, Duration),
    ) -> Option<Self> {
        Self::of_silence(silence, limits).or(match (record.draining, record.eligible) {
            (true, _) => Some(Self::Draining),
            (false, false) => Some(Self::NotEligible),
            (false, true) => None,
        })
    }

    fn of_silence(silence: Duration, (worker, dead): (Duration, Duration)) -> Option<Self> {
        let for_ms = whole_ms(silence);
        if silence >= dead {
            return Some(Self::Dead { for_ms, limit_ms: whole_ms(dead) });
        }
        let limit_ms = whole_ms(worker);
        (silence >= worker).then_some(Self::Silent { for_ms, limit_ms })
    }
}

/// Would the leader refuse to hand over to this node? Judged from one look at the store, for a
/// process that asks from elsewhere. The leader has the last word: it reads the records itself.
pub fn foresee_refusal(
    to: &NodeId,
    lease: Option<&LeaseSnapshot>,
    members: &[Member],
    settings: &Settings,
) -> Option<TransferRefusal> {
    let Some(holder) = lease.and_then(LeaseSnapshot::leader) else {
        return Some(TransferRefusal::NoCoordinator);
    };
    if holder.node == *to {
        return Some(TransferRefusal::LeadsAlready);
    }
    let Some(member) = members.iter().find(|member| member.record.id == *to) else {
        return Some(TransferRefusal::NotAMember);
    };
    let silence = member.silent_for.unwrap_or_default();
    let limits = (settings.worker_timeout, settings.dead_node_timeout);
    TransferRefusal::of(&member.record, silence, limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silence_is_told_with_the_limit_that_it_passed() {
        let (worker, dead) = (Duration::from_secs(20), Duration::from_secs(30));
        let told = |seconds: u64| {
            let silence = Duration::from_secs(seconds);
            let refusal = TransferRefusal::of_silence(silence, (worker, dead));
            refusal.map(|refusal| refusal.to_string())
        };
        assert_eq!(told(19), None);
        let silent = "has been silent for 21s, more than worker_timeout 20s";
        assert_eq!(told(21).as_deref(), Some(silent));
        let dead = "is dead: silent for 34s, more than dead_node_timeout 30s";
        assert_eq!(told(34).as_deref(), Some(dead));
    }
}
