//! Which partition leaves a node: one that is being released already, else a heavy one, else one of
//! a list that its zone or the node has more of than others.

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
    /// Does its zone have more of the list than its part?
    is_zone_over: bool,
}

/// What is compared to find the run that a partition leaves from: the largest.
type Rank = (bool, i64, bool, i64, u64);

/// The partitions of a group that nodes have, in the order in which they leave.
pub(super) struct Leaving {
    /// By list, then by member.
    partitions: Vec<u32>,
    /// The runs of each member, until its heap is made.
    runs: Vec<Vec<Run>>,
    heaps: Vec<Option<BinaryHeap<(Rank, usize)>>>,
    /// How many partitions of each list have left nodes.
    left: Vec<u32>,
    /// The weight of the members below their shares, which get what leaves.
    receiving: i64,
}

impl Leaving {
    /// Of the partitions of these lists, as they are owned now.
    pub(super) fn of(
        context: &Context<'_>,
        lists: &[u32],
        ring: &Ring,
        owners: &[Option<u32>],
    ) -> Self {
        let below = ring.indices().filter(|member| ring.deviation(*member) < 0);
        let receiving: i64 = below.map(|member| ring.members[member].weight).sum();
        let mut leaving = Self {
            partitions: Vec::new(),
            runs: ring.indices().map(|_| Vec::new()).collect(),
            heaps: ring.indices().map(|_| None).collect(),
            left: vec![0; context.problem.lists.len()],
            receiving: receiving.max(1),
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
            leaving.add_runs(*list, &on_list, ring);
        }
        leaving
    }

    /// Adds the partitions of a list: each with its member, and whether it is being released.
    fn add_runs(&mut self, list: u32, partitions: &[(u32, bool, u32)], ring: &Ring) {
        let mut zones = vec![0_i64; ring.zone_portions.len()];
        for (member, ..) in partitions {
            zones[ring.members[*member as usize].zone] += 1;
        }
        let (count, portions) = (partitions.len() as i64, ring.zone_portions.iter().sum::<i64>());
        // Rounded up: of five partitions in two equal zones, neither has too many with three.
        let is_over = |zone: usize| {
            zones[zone] > (count * ring.zone_portions[zone] + portions - 1) / portions
        };
        for run in partitions.chunk_by(|a, b| a.0 == b.0) {
            let member = run[0].0 as usize;
            self.runs[member].push(Run {
                list,
                start: self.partitions.len(),
                len: run.len(),
                releasing: run.iter().filter(|(_, is_releasing, _)| *is_releasing).count(),
                is_zone_over: is_over(ring.members[member].zone),
            });
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
        let list_len = context.partitions(run.list).len() as i64;
        let (weight, left) = (ring.members[member].weight, self.left[run.list as usize]);
        // How many the member has, less what the receivers have got, each by its weight, as a part
        // of the list.
        let more = run.len as i64 * self.receiving - i64::from(left) * weight;
        let excess = (more << 10) / list_len;
        let node_hash = context.node_hashes[ring.members[member].node as usize];
        let by_chance = hash::mix(context.list_hash(run.list) ^ node_hash);
        let is_releasing = run.releasing > 0;
        (is_releasing, context.list_weight(run.list), run.is_zone_over, excess, by_chance)
    }
}
