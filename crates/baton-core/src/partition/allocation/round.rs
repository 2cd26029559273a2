//! The partitions of one group: what stays, what leaves, and where the rest goes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::groups::Group;
use super::leaving::Leaving;
use super::places::{Asked, Bound, Tier};
use super::problem::{Context, NodeState};
use super::reason::Reason;
use super::result::Draft;
use super::ring::Ring;
use super::spread::deal;

/// A group while it is placed.
pub(super) struct Round<'a> {
    context: &'a Context<'a>,
    lists: &'a [u32],
    draft: &'a mut Draft,
    ring: Ring,
    /// The weight of the heaviest partition.
    heaviest: i64,
    bound: Bound,
    /// Partitions to be placed.
    supply: Vec<u32>,
    /// Partitions that were taken although they could have stayed.
    voluntary: Vec<u32>,
    /// Made when the first partition is taken from a node.
    leaving: Option<Leaving>,
}

impl<'a> Round<'a> {
    /// Keeps what may stay where it is, and works out the shares.
    pub(super) fn begin(context: &'a Context<'a>, group: &'a Group, draft: &'a mut Draft) -> Self {
        let weights = || group.lists.iter().map(|list| context.list_weight(*list));
        let (heaviest, step) = (weights().max().unwrap_or(1), weights().fold(0, common_divisor));
        let tolerance_percent = context.problem.limits.tolerance_percent;
        let ring = Ring::of(context, group, &draft.loads);
        let mut round = Self {
            context,
            lists: &group.lists,
            draft,
            ring,
            heaviest,
            bound: Bound { units: 0, tolerance_percent },
            supply: Vec::new(),
            voluntary: Vec::new(),
            leaving: None,
        };
        let (kept, weight) = round.keep();
        round.ring.share_out(weight, heaviest, step);
        for (member, kept) in round.ring.members.iter_mut().zip(kept) {
            member.load += kept;
        }
        round.bound.units = heaviest * round.ring.scale;
        round
    }

    /// Sorts the partitions into those that stay and those that need an owner. Returns the weight
    /// that each member keeps, and that of all partitions but those of absent nodes.
    fn keep(&mut self) -> (Vec<i64>, i64) {
        let (mut kept, mut all) = (vec![0; self.ring.members.len()], 0);
        for list in self.lists {
            let weight = self.context.list_weight(*list);
            for partition in self.context.partitions(*list) {
                let owner = self.draft.owners[partition];
                let state = owner.map(|node| self.context.state(node));
                let member = owner.and_then(|node| self.ring.member(node));
                if let (Some(node), Some(NodeState::Away)) = (owner, state) {
                    self.draft.loads[node as usize] += weight;
                    self.draft.reasons[partition] = Reason::Away;
                    continue;
                }
                all += weight;
                if let Some(member) = member {
                    kept[member] += weight;
                    self.ring.members[member].releasing +=
                        u32::from(self.context.problem.releasing[partition]);
                    continue;
                }
                self.supply.push(partition as u32);
                self.draft.owners[partition] = None;
                self.draft.reasons[partition] = match state {
                    None => Reason::Unowned,
                    Some(NodeState::Draining) => Reason::Draining,
                    Some(_) => Reason::Labels,
                };
            }
        }
        (kept, all)
    }

    /// Places the group.
    pub(super) fn finish(mut self) {
        self.relieve_full_members();
        let is_voluntary = self.even_out();
        self.postpone();
        let unplaced = match self.ring.members.is_empty() {
            false => Reason::NoRoom,
            true if self.context.has_active_node() => Reason::NoLabels,
            true => Reason::NoNodes,
        };
        for partition in self.supply {
            self.draft.reasons[partition as usize] = unplaced;
        }
        for member in self.ring.indices() {
            let is_tolerated =
                !is_voluntary && self.ring.deviation(member).abs() >= self.bound.units;
            let member = &self.ring.members[member];
            self.draft.set_load(member, self.ring.scale, is_tolerated);
        }
    }

    /// Takes from each member what is beyond its capacity.
    fn relieve_full_members(&mut self) {
        for member in self.ring.indices() {
            let over = |round: &Self| {
                let member = &round.ring.members[member];
                member.capacity.is_some_and(|most| member.load > most)
            };
            while over(self) && self.take(member, Reason::Capacity).is_some() {}
        }
    }

    /// Places what has no owner, and evens out what is beyond the bound. Was there reason to move
    /// partitions that could have stayed?
    fn even_out(&mut self) -> bool {
        let beyond = |round: &Self, sign: i64| {
            let tolerated = |member: usize| {
                sign * round.ring.deviation(member)
                    <= round.bound.tolerated(round.ring.members[member].share)
            };
            !round.ring.indices().all(tolerated)
        };
        let mut is_voluntary = self.bound.tolerance_percent == 0 || beyond(self, 1);
        if is_voluntary {
            self.take_excess();
        }
        self.place();
        if !is_voluntary && beyond(self, -1) {
            is_voluntary = true;
            self.take_excess();
            self.place();
        }
        while is_voluntary && self.take_what_is_owed() {
            self.place();
        }
        is_voluntary
    }

    /// Takes from each member what it has beyond the bound.
    fn take_excess(&mut self) {
        for member in self.ring.indices() {
            while self.ring.deviation(member) >= self.bound.units
                && let Some(partition) = self.take(member, Reason::Balance)
            {
                self.voluntary.push(partition);
            }
        }
    }

    /// Takes as many partitions as the members that are too far below their shares need at least,
    /// from those above theirs, the largest difference first. Were any taken?
    fn take_what_is_owed(&mut self) -> bool {
        let asked = Asked { count: u32::MAX, weight: self.heaviest, bound: &self.bound };
        let owed = |member| u64::from(self.ring.room(Tier::Owed, member, &asked));
        let mut owed: u64 = self.ring.indices().map(owed).sum();
        if owed == 0 || !self.supply.is_empty() {
            return false;
        }
        let rank = |ring: &Ring, member: usize| {
            let deviation = ring.deviation(member);
            let is_releasing = ring.members[member].releasing > 0;
            (deviation > 0).then_some((is_releasing, deviation, Reverse(member)))
        };
        let above = self.ring.indices().filter_map(|member| rank(&self.ring, member));
        let mut above: BinaryHeap<_> = above.collect();
        while owed > 0
            && let Some((.., Reverse(member))) = above.pop()
        {
            if let Some(partition) = self.take(member, Reason::Balance) {
                self.voluntary.push(partition);
                owed -= 1;
                above.extend(rank(&self.ring, member));
            }
        }
        !self.supply.is_empty()
    }

    /// Takes the next partition from a member. `None` if it has no more of this group.
    fn take(&mut self, member: usize, reason: Reason) -> Option<u32> {
        let Self { context, lists, draft, ring, leaving, .. } = self;
        let leaving =
            leaving.get_or_insert_with(|| Leaving::of(context, lists, ring, &draft.owners));
        let partition = leaving.next(member, context, ring)?;
        let index = partition as usize;
        let taken_from = &mut ring.members[member];
        taken_from.load -= context.weight_of(partition);
        taken_from.releasing -= u32::from(context.problem.releasing[index]);
        (draft.owners[index], draft.reasons[index]) = (None, reason);
        self.supply.push(partition);
        Some(partition)
    }

    /// Places what needs an owner, heavy partitions first. What has no room stays in the supply.
    fn place(&mut self) {
        let Self { context, ring, draft, bound, .. } = self;
        let mut supply = std::mem::take(&mut self.supply);
        supply.sort_unstable_by_key(|it| (Reverse(context.weight_of(*it)), *it));
        for alike in supply.chunk_by(|a, b| context.weight_of(*a) == context.weight_of(*b)) {
            let (count, weight) = (alike.len() as u32, context.weight_of(alike[0]));
            let places = ring.places(&Asked { count, weight, bound });
            let placed = places.len();
            deal(&alike[..placed], places, context, ring, &mut draft.owners);
            self.supply.extend(&alike[placed..]);
        }
    }

    /// Leaves partitions where they are whose moves exceed the limit. What is being released
    /// already goes on.
    fn postpone(&mut self) {
        let context = self.context;
        let mut voluntary = std::mem::take(&mut self.voluntary);
        voluntary.sort_unstable_by_key(|it| (Reverse(context.weight_of(*it)), *it));
        for partition in voluntary {
            let index = partition as usize;
            let is_new = !context.problem.releasing[index];
            if !is_new || self.draft.count_new_move() {
                continue;
            }
            let back = context.problem.owners[index];
            let from = std::mem::replace(&mut self.draft.owners[index], back);
            self.draft.reasons[index] = Reason::Postponed;
            for (node, sign) in [(from, -1), (back, 1)] {
                if let Some(member) = node.and_then(|node| self.ring.member(node)) {
                    self.ring.members[member].load += sign * context.weight_of(partition);
                }
            }
        }
    }
}

fn common_divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}
