//! Policies: who should coordinate. Pure and deterministic for a given set of nodes.

use crate::ids::NodeId;
use crate::settings::Policy;

/// What a policy looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The node.
    pub id: NodeId,
    /// Its priority.
    pub priority: i32,
    /// Its place in the order of arrival, the longest there first.
    pub arrival: u64,
}

impl Policy {
    /// Sorts candidates, the one that should coordinate first.
    pub fn order(self, candidates: &mut [Candidate]) {
        match self {
            Self::Lexicographic => candidates.sort_by(|a, b| a.id.cmp(&b.id)),
            Self::Priority => {
                candidates.sort_by(|a, b| b.priority.cmp(&a.priority).then(a.id.cmp(&b.id)));
            }
            Self::Incumbent => {
                candidates.sort_by(|a, b| a.arrival.cmp(&b.arrival).then(a.id.cmp(&b.id)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(policy: Policy) -> Vec<String> {
        let candidate = |id: &str, priority, arrival| Candidate {
            id: NodeId::new(id).expect("valid"),
            priority,
            arrival,
        };
        let mut all = [
            candidate("c", 9, 2),
            candidate("a", 1, 3),
            candidate("b", 9, 1),
        ];
        policy.order(&mut all);
        all.iter().map(|c| c.id.to_string()).collect()
    }

    #[test]
    fn each_policy_has_its_own_order() {
        assert_eq!(order(Policy::Lexicographic), ["a", "b", "c"]);
        assert_eq!(order(Policy::Priority), ["b", "c", "a"]);
        assert_eq!(order(Policy::Incumbent), ["b", "c", "a"]);
    }
}
