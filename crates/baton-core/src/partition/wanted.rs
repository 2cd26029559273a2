//! What people want of the partitions of a namespace, and the question to the allocator that comes
//! of it. The coordinator asks it, and so does a dry run.
//!
//! ```text
//!   task lists, moves by hand, pause ──► Wanted ──┐
//!   nodes, as their records say ──────────────────┼──► Problem ──► allocator ──► owners
//!   who owns what now ────────────────────────────┘                                │
//!                                          moves by hand overrule the allocator ◄──┘
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use super::allocation::{AllocationNode, Limits, NodeState, Problem};
use super::refused::MoveRefused;
use super::task_list::{Partition, TaskList, TaskListId, TaskListStatus};
use crate::ids::NodeId;
use crate::protocol::NodeProfile;

/// The labels that say what a node can take.
const ZONE: &str = "zone";
const WEIGHT: &str = "weight";
const CAPACITY: &str = "capacity";

/// The most partitions that people have moved by hand and that stay where they were moved to.
pub const MOVES_MAX: usize = 1_000;

/// What people want of the partitions of a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The task lists, in the order of their ids.
    pub lists: Vec<TaskList>,
    /// Partitions that people have moved by hand, each with the node that is to own it.
    pub moved: BTreeMap<Partition, NodeId>,
    /// Moves are paused: no partition moves voluntarily. Those that have no owner get one, and what
    /// people move by hand is moved.
    pub is_paused: bool,
}

/// Lists without any moves.
impl From<Vec<TaskList>> for Wanted {
    fn from(lists: Vec<TaskList>) -> Self {
        Self { lists, moved: BTreeMap::new(), is_paused: false }
    }
}

/// Who owns a partition now.
#[derive(Clone, Copy, Debug)]
pub struct CurrentOwner<'a> {
    /// The number of the partition in its list.
    pub number: u32,
    /// Its owner.
    pub node: &'a NodeId,
    /// Was the owner asked to release it?
    pub is_releasing: bool,
}

impl Wanted {
    /// What the allocator is asked. `nodes` are in the order of their ids; `owners` gives the
    /// partitions of a list that a node has. Of a node that is none of `nodes` it has nothing.
    pub fn problem<'a, Owners>(
        &self,
        nodes: Vec<AllocationNode>,
        limits: Limits,
        owners: impl Fn(&TaskListId) -> Owners,
    ) -> Problem
    where
        Owners: Iterator<Item = CurrentOwner<'a>>,
    {
        let mut problem = Problem::new(self.lists.clone(), nodes);
        problem.limits = limits;
        if self.is_paused {
            problem.limits.moves_max = Some(0);
        }
        let at: BTreeMap<&NodeId, u32> =
            problem.nodes.iter().map(|node| &node.id).zip(0..).collect();
        let mut first = 0;
        for list in &problem.lists {
            for CurrentOwner { number, node, is_releasing } in owners(&list.id) {
                if number < list.partitions {
                    let (index, owner) = (first + number as usize, at.get(node).copied());
                    problem.owners[index] = owner;
                    problem.releasing[index] = is_releasing && owner.is_some();
                }
            }
            first += list.partitions as usize;
        }
        problem
    }

    /// What was moved by hand goes to its node, whatever the allocator says, as long as the node
    /// takes partitions of that list.
    pub fn grant_moves(&self, problem: &Problem, owners: &mut [Option<u32>]) {
        for (partition, node) in &self.moved {
            if let Some((index, node)) = granted(problem, partition, node) {
                owners[index] = Some(node);
            }
        }
    }

    /// Where a partition is kept because it was moved there by hand.
    pub fn kept_on(&self, problem: &Problem, partition: &Partition) -> Option<u32> {
        let node = self.moved.get(partition)?;
        granted(problem, partition, node).map(|(_, node)| node)
    }
}

/// The index of the partition and of the node, if the move takes effect.
fn granted(problem: &Problem, partition: &Partition, node: &NodeId) -> Option<(usize, u32)> {
    let at = problem.nodes.binary_search_by(|it| it.id.cmp(node)).ok()?;
    let (node, (index, list)) = (&problem.nodes[at], problem.place(partition)?);
    let takes = node.state == NodeState::Active
        && list.status == TaskListStatus::Active
        && node.has(&list.requires);
    takes.then_some((index, u32::try_from(at).ok()?))
}

/// Can this partition, which is one of the problem's, be moved to this node?
pub fn check_move(
    problem: &Problem,
    partition: &Partition,
    to: &NodeId,
) -> Result<(), MoveRefused> {
    let Some((index, list)) = problem.place(partition) else { return Ok(()) };
    let at = problem.nodes.binary_search_by(|node| node.id.cmp(to)).map_err(|at| {
        let nearest = problem.nodes.get(at).or(problem.nodes.last());
        let known = nearest.map(|node| node.id.clone());
        MoveRefused::UnknownNode { node: to.clone(), known }
    })?;
    let node = &problem.nodes[at];
    if node.state != NodeState::Active {
        return Err(MoveRefused::Draining { node: to.clone() });
    }
    let lacks = |(name, value): &(&String, &String)| node.labels.get(*name) != Some(value);
    if let Some((name, value)) = list.requires.iter().find(lacks) {
        let label = format!("{name}={value}");
        return Err(MoveRefused::Label { node: to.clone(), label, list: list.id.clone() });
    }
    let (load, weight) = (load(problem, at), list.weight);
    let is_its_own = problem.owners[index] == u32::try_from(at).ok();
    match node.capacity {
        Some(capacity) if !is_its_own && load + u64::from(weight) > u64::from(capacity) => {
            let (node, partition) = (to.clone(), partition.clone());
            Err(MoveRefused::Full { node, load, capacity, partition, weight })
        }
        _ => Ok(()),
    }
}

/// The weight of what a node has.
fn load(problem: &Problem, node: usize) -> u64 {
    let weights = problem
        .lists
        .iter()
        .flat_map(|list| std::iter::repeat_n(u64::from(list.weight), list.partitions as usize));
    let has = |owner: &Option<u32>| owner.is_some_and(|owner| owner as usize == node);
    weights.zip(&problem.owners).filter(|(_, owner)| has(owner)).map(|(weight, _)| weight).sum()
}

impl AllocationNode {
    /// A node by what it says of itself. What a label does not say, or not in numbers, is as usual.
    pub fn of_profile(id: NodeId, profile: &Arc<NodeProfile>, state: NodeState) -> Self {
        let number = |label: &str| profile.labels.get(label).and_then(|text| text.parse().ok());
        Self {
            id,
            weight: number(WEIGHT).unwrap_or(1).max(1),
            capacity: number(CAPACITY),
            zone: profile.labels.get(ZONE).map(|zone| Arc::from(zone.as_str())),
            labels: Arc::new(profile.labels.clone()),
            state,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str) -> NodeId {
        NodeId::new(name).expect("a plain name")
    }

    fn part(text: &str) -> Partition {
        text.parse().expect("a partition")
    }

    /// Two lists; a has the first partition of each, b the second.
    fn wanted() -> (Wanted, Problem) {
        let list =
            |name: &str, partitions| TaskList::new(name.parse().expect("a plain name"), partitions);
        let mut lists = vec![list("mail", 2), list("orders", 3)];
        lists[0].weight = 3;
        lists[0].requires.insert("disk".to_owned(), "ssd".to_owned());
        let mut wanted = Wanted::from(lists);
        wanted.is_paused = true;
        let mut nodes = ["a", "b", "c"].map(|name| AllocationNode::new(node(name))).to_vec();
        let ssd = BTreeMap::from([("disk".to_owned(), "ssd".to_owned())]);
        nodes[0].labels = Arc::new(ssd.clone());
        nodes[1].labels = Arc::new(ssd);
        nodes[1].capacity = Some(5);
        nodes[2].state = NodeState::Draining;
        let (a, b) = (node("a"), node("b"));
        let owner = |number, node, is_releasing| CurrentOwner { number, node, is_releasing };
        let owners = |_: &TaskListId| [owner(0, &a, false), owner(1, &b, true), owner(7, &a, true)];
        let problem = wanted.problem(nodes, Limits::default(), |it| owners(it).into_iter());
        (wanted, problem)
    }

    #[test]
    fn lists_nodes_and_owners_make_a_problem() {
        let (_, problem) = wanted();
        assert_eq!(problem.owners, [Some(0), Some(1), Some(0), Some(1), None]);
        assert_eq!(problem.releasing, [false, true, false, true, false]);
        assert_eq!(problem.limits.moves_max, Some(0), "moves are paused");
        assert_eq!(problem.check(), Ok(()));
    }

    #[test]
    fn what_was_moved_goes_where_it_may_be() {
        let (mut wanted, problem) = wanted();
        let moves = [("mail#0", "b"), ("orders#2", "a"), ("orders#0", "c"), ("orders#9", "a")];
        wanted.moved = moves.map(|(it, to)| (part(it), node(to))).into();
        let mut owners = problem.owners.clone();
        wanted.grant_moves(&problem, &mut owners);
        assert_eq!(owners, [Some(1), Some(1), Some(0), Some(1), Some(0)]);
        assert_eq!(wanted.kept_on(&problem, &part("mail#0")), Some(1));
        assert_eq!(wanted.kept_on(&problem, &part("orders#0")), None, "c drains");
    }

    #[test]
    fn a_move_that_cannot_be_is_refused_with_the_reason() {
        let (_, problem) = wanted();
        let refused = |partition: &str, to: &str| {
            check_move(&problem, &part(partition), &node(to)).map_err(|it| it.to_string())
        };
        let cases = [
            ("orders#0", "bb", "no live node that takes partitions is named bb; there is c"),
            (
                "orders#0",
                "c",
                "node c is draining: it gives its partitions away, and gets no others",
            ),
            (
                "mail#0",
                "b",
                "node b is full: it has 4 of its capacity of 5, and default/mail#0 weighs 3",
            ),
        ];
        for (partition, to, expected) in cases {
            assert_eq!(refused(partition, to), Err(expected.to_owned()));
        }
        assert_eq!(refused("mail#1", "b"), Ok(()), "it is there already");
        assert_eq!(refused("orders#0", "b"), Ok(()));
        let mut plain = problem.clone();
        plain.nodes[0].labels = Arc::default();
        assert_eq!(
            check_move(&plain, &part("mail#1"), &node("a")).map_err(|it| it.to_string()),
            Err("node a lacks the label disk=ssd, which task list default/mail requires".into())
        );
    }
}
