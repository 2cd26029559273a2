//! Policies: who should lead. Pure and deterministic for a given set of nodes.

use std::cmp::Ordering;

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
    /// Orders two candidates, the one that should rather coordinate first.
    pub fn compare(self, a: &Candidate, b: &Candidate) -> Ordering {
        let preference = match self {
            Self::Lexicographic => Ordering::Equal,
            Self::Priority => b.priority.cmp(&a.priority),
            Self::Incumbent => a.arrival.cmp(&b.arrival),
        };
        preference.then_with(|| a.id.cmp(&b.id))
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
        let mut all = [candidate("c", 9, 2), candidate("a", 1, 3), candidate("b", 9, 1)];
        all.sort_by(|a, b| policy.compare(a, b));
        all.iter().map(|c| c.id.to_string()).collect()
    }

    #[test]
    fn each_policy_has_its_own_order() {
        assert_eq!(order(Policy::Lexicographic), ["a", "b", "c"]);
        assert_eq!(order(Policy::Priority), ["b", "c", "a"]);
        assert_eq!(order(Policy::Incumbent), ["b", "c", "a"]);
    }
}
