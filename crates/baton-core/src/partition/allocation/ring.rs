//! The nodes that may own the partitions of a group, in the order in which they get them: the nodes
//! of each zone by their hash, and zones in turn.

use std::collections::BTreeMap;

use super::groups::Group;
use super::problem::Context;
use super::shares::{Shares, Vessel, shares};

/// What a share is counted in where only ratios matter.
const PORTIONS: i64 = 16;

/// A node, and what it has while a group is placed.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// Which node.
    pub(super) node: u32,
    /// Which zone of the ring.
    pub(super) zone: usize,
    pub(super) weight: i64,
    pub(super) capacity: Option<i64>,
    /// The weight of all its partitions.
    pub(super) load: i64,
    /// Its share, in units.
    pub(super) share: i64,
    /// How many of its partitions are being released.
    pub(super) releasing: u32,
}

/// The nodes of a group.
pub(super) struct Ring {
    pub(super) members: Vec<Member>,
    /// The member that a node is.
    member_of: Vec<Option<u32>>,
    /// How many units of a share one of weight has.
    pub(super) scale: i64,
    /// The shares of the zones and of the members, where only ratios matter.
    pub(super) zone_portions: Vec<i64>,
    pub(super) portions: Vec<i64>,
}

impl Ring {
    /// The nodes of this group, with the loads that they have without it.
    pub(super) fn of(context: &Context<'_>, group: &Group, loads: &[i64]) -> Self {
        let mut zones: BTreeMap<Option<&str>, Vec<u32>> = BTreeMap::new();
        for node in &group.nodes {
            zones.entry(context.node(*node).zone.as_deref()).or_default().push(*node);
        }
        let mut places = Vec::with_capacity(group.nodes.len());
        for (zone, nodes) in zones.values_mut().enumerate() {
            nodes.sort_unstable_by_key(|node| (context.node_hashes[*node as usize], *node));
            let count = nodes.len() as u64;
            // The middle of the part of the way around that falls to the node.
            let place = |at: usize| (((2 * at as u64 + 1) << 32) / (2 * count), zone);
            places.extend(nodes.iter().enumerate().map(|(at, node)| (place(at), *node)));
        }
        places.sort_unstable();
        let mut member_of = vec![None; context.problem.nodes.len()];
        for (member, (_, node)) in (0..).zip(&places) {
            member_of[*node as usize] = Some(member);
        }
        let member = |((_, zone), node): ((u64, usize), u32)| Member {
            node,
            zone,
            weight: context.node_weight(node),
            capacity: context.node(node).capacity.map(i64::from),
            load: loads[node as usize],
            share: 0,
            releasing: 0,
        };
        let members: Vec<Member> = places.into_iter().map(member).collect();
        let (portions, zone_portions) = (vec![1; members.len()], vec![1; zones.len()]);
        Self { members, member_of, scale: 1, zone_portions, portions }
    }

    /// The member that a node is.
    pub(super) fn member(&self, node: u32) -> Option<usize> {
        self.member_of[node as usize].map(|member| member as usize)
    }

    /// Works out the shares of a group of this weight; the loads are those without the group. All
    /// weights are multiples of `step`. Where the share of a node is its capacity, a node below its
    /// share has room for the heaviest partition.
    pub(super) fn share_out(&mut self, weight: i64, heaviest: i64, step: i64) {
        let vessel = |member: &Member| {
            let least = member.load;
            let room = |capacity: i64| (capacity - least).max(0) / step * step;
            let most = |capacity| least + (room(capacity) - heaviest + step).max(0);
            Vessel { weight: member.weight, least, most: member.capacity.map(most) }
        };
        let vessels: Vec<Vessel> = self.members.iter().map(vessel).collect();
        let load = vessels.iter().map(|vessel| vessel.least).sum::<i64>() + weight;
        let Shares { scale, units } = shares(load, &vessels);
        self.scale = scale;
        self.zone_portions.fill(0);
        for ((member, share), portion) in self.members.iter_mut().zip(units).zip(&mut self.portions)
        {
            member.share = share;
            *portion = (i128::from(share) * i128::from(PORTIONS) / i128::from(scale)) as i64;
            *portion = (*portion).max(1);
            self.zone_portions[member.zone] += *portion;
        }
    }

    /// How many units its load is above its share.
    pub(super) fn deviation(&self, member: usize) -> i64 {
        let Member { load, share, .. } = self.members[member];
        load * self.scale - share
    }

    /// The members, by index.
    pub(super) fn indices(&self) -> std::ops::Range<usize> {
        0..self.members.len()
    }
}
