//! Which partition leaves a node: one that is being released already, else a heavy one, else one of
//! a list that the node has more of than its part.

use std::collections::BinaryHeap;

use super::problem::Context;
use super::ring::Ring;
use crate::hash;

/// The partitions of one list on one member. Those that leave first stand last.
struct Run {
    list: u32,
    /// Where it begins in `Leaving::partitions`.
    start: usize,
    len: usize,
    /// How many of the last are being released.
    releasing: usize,
}

/// What is compared to find the run that a partition leaves from: the largest.
type Rank = (bool, i64, i128, u64);

/// The partitions of a group that nodes have, in the order in which they leave.
pub(super) struct Leaving {
    /// By list, then by member.
    partitions: Vec<u32>,
    /// The runs of each member.
    runs: Vec<Vec<Run>>,
    /// Each is made when the first partition is taken from its member.
    heaps: Vec<Option<BinaryHeap<(Rank, usize)>>>,
    /// How many partitions of each list have left nodes.
    left: Vec<u32>,
    /// How many partitions of all lists have left nodes.
    all_left: i64,
    /// The weight of all members.
    weight: i64,
}

impl Leaving {
    /// Of the partitions of these lists, as they are owned now.
    pub(super) fn of(
        context: &Context<'_>,
        lists: &[u32],
        ring: &Ring,
        owners: &[Option<u32>],
    ) -> Self {
        let mut leaving = Self {
            partitions: Vec::new(),
            runs: ring.indices().map(|_| Vec::new()).collect(),
            heaps: ring.indices().map(|_| None).collect(),
            left: vec![0; context.problem.lists.len()],
            all_left: 0,
            weight: ring.members.iter().map(|member| member.weight).sum(),
        };
        let mut on_list: Vec<(u32, bool, u32)> = Vec::new();
        for list in lists {
            on_list.clear();
            for partition in context.partitions(*list) {
                let member = owners[partition].and_then(|node| ring.member(node));
                let is_releasing = context.problem.releasing[partition];
                on_list.extend(member.map(|at| (at as u32, is_releasing, partition as u32)));
            }
            on_list.sort_unstable();
            leaving.add_runs(*list, &on_list);
        }
        leaving
    }

    /// Adds the partitions of a list, in order: each with its member, and whether it is being
    /// released.
    fn add_runs(&mut self, list: u32, partitions: &[(u32, bool, u32)]) {
        for run in partitions.chunk_by(|a, b| a.0 == b.0) {
            let (start, len) = (self.partitions.len(), run.len());
            let releasing = run.iter().filter(|(_, is_releasing, _)| *is_releasing).count();
            self.runs[run[0].0 as usize].push(Run { list, start, len, releasing });
            self.partitions.extend(run.iter().map(|(.., partition)| *partition));
        }
    }

    /// Takes the next partition from a member. `None` if it has no more.
    pub(super) fn next(
        &mut self,
        member: usize,
        context: &Context<'_>,
        ring: &Ring,
    ) -> Option<u32> {
        let mut heap = self.heaps[member].take().unwrap_or_else(|| {
            let runs = self.runs[member].iter().enumerate();
            runs.map(|(at, run)| (self.rank(run, member, context, ring), at)).collect()
        });
        let next = heap.pop().map(|(_, at)| {
            let run = &mut self.runs[member][at];
            run.len -= 1;
            run.releasing = run.releasing.saturating_sub(1);
            self.left[run.list as usize] += 1;
            self.all_left += 1;
            let partition = self.partitions[run.start + run.len];
            let run = &self.runs[member][at];
            if run.len > 0 {
                heap.push((self.rank(run, member, context, ring), at));
            }
            partition
        });
        self.heaps[member] = Some(heap);
        next
    }

    fn rank(&self, run: &Run, member: usize, context: &Context<'_>, ring: &Ring) -> Rank {
        let (here, left) = (run.len as i64, i64::from(self.left[run.list as usize]));
        let (len, all) = (context.partitions(run.list).len() as i64, self.partitions.len() as i64);
        // How many more of the list the member has than its part by weight, and how many more of
        // it have left nodes than of other lists; both as whole numbers. The first counts twice:
        // over many joins and leaves, lists are then spread best.
        let above = here * self.weight - len * ring.members[member].weight;
        let ahead = left * all - len * self.all_left;
        let whole = |number: i64, factor: i64| i128::from(number) * i128::from(factor);
        let excess = 2 * whole(above, all) - whole(ahead, self.weight);
        let node_hash = context.node_hashes[ring.members[member].node as usize];
        let by_chance = hash::mix(context.list_hash(run.list) ^ node_hash);
        (run.releasing > 0, context.list_weight(run.list), excess, by_chance)
    }
}
