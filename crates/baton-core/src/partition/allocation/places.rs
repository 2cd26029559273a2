//! Which nodes get the next partitions of one weight, and in which order.
//!
//! ```text
//!   tier       until the node has
//!   tolerated  its share, less the tolerance     those that differ too much come first
//!   owed       more than the bound below its share
//!   below      its share
//!   fits       its capacity                      only if the shares leave partitions over
//! ```
//!
//! A tier is used up before the next begins. Where not all of it is needed, each node gets its part
//! of it. All places are then put in one order, in which those of each node are equally far apart:
//! a list that is dealt along it is spread over the nodes.

use super::ring::{Member, Ring};

/// Up to where nodes are filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tier {
    /// Until no node is below its share by more than the tolerance.
    Tolerated,
    /// Until all nodes are within the bound.
    Owed,
    /// Until all nodes have their shares.
    Below,
    /// As long as there is room.
    Fits,
}

/// The tiers, in the order in which they are used up.
pub(super) const TIERS: [Tier; 4] = [Tier::Tolerated, Tier::Owed, Tier::Below, Tier::Fits];

impl Ring {
    /// How many units below its share a member may be in a tier; `bound` is that of the group.
    fn allowance(&self, tier: Tier, member: usize, bound: &Bound) -> i64 {
        match tier {
            Tier::Tolerated => bound.tolerated(self.members[member].share),
            Tier::Owed => bound.units - 1,
            Tier::Below | Tier::Fits => 0,
        }
    }

    /// How many partitions of this weight a member gets in a tier, `count` at most.
    pub(super) fn room(&self, tier: Tier, member: usize, asked: &Asked<'_>) -> u32 {
        self.room_at(self.members[member].load, tier, member, asked)
    }

    /// The same, if its load were this.
    fn room_at(&self, load: i64, tier: Tier, member: usize, asked: &Asked<'_>) -> u32 {
        let Member { capacity, share, .. } = self.members[member];
        let fits = capacity.map_or(i64::MAX, |most| (most - load).max(0) / asked.weight);
        let owed = match tier {
            Tier::Fits => fits,
            _ => {
                let wanted = share - self.allowance(tier, member, asked.bound);
                let units = (wanted - load * self.scale).max(0);
                // Rounded up: the last one may go beyond.
                (units + asked.weight * self.scale - 1) / (asked.weight * self.scale)
            }
        };
        u32::try_from(owed.min(fits)).unwrap_or(u32::MAX).min(asked.count)
    }

    /// The members that get the next partitions, one entry for each; fewer if there is no more
    /// room.
    pub(super) fn places(&self, asked: &Asked<'_>) -> Vec<u32> {
        let mut rooms = vec![0; self.members.len()];
        let mut left = asked.count;
        for tier in TIERS {
            if left == 0 {
                break;
            }
            let room = |member: usize| {
                let load = self.members[member].load + i64::from(rooms[member]) * asked.weight;
                self.room_at(load, tier, member, asked)
            };
            let mut more: Vec<u32> = self.indices().map(room).collect();
            let total: u64 = more.iter().map(|room| u64::from(*room)).sum();
            if total > u64::from(left) {
                more = counts(&in_turn(&more, left), more.len());
            }
            for (room, more) in rooms.iter_mut().zip(&more) {
                *room += more;
            }
            left -= u32::try_from(total).unwrap_or(u32::MAX).min(left);
        }
        in_turn(&rooms, asked.count)
    }
}

/// What is to be placed.
pub(super) struct Asked<'a> {
    /// How many partitions.
    pub(super) count: u32,
    /// What each weighs.
    pub(super) weight: i64,
    pub(super) bound: &'a Bound,
}

/// By how much loads may differ from shares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    /// A load differs by fewer units than this.
    pub(super) units: i64,
    /// A larger difference causes no move while it is at most this part of the share.
    pub(super) tolerance_percent: u32,
}

impl Bound {
    /// The largest difference, in units, that causes no move.
    pub(super) fn tolerated(&self, share: i64) -> i64 {
        let part = i128::from(share) * i128::from(self.tolerance_percent) / 100;
        i64::try_from(part).unwrap_or(i64::MAX).max(self.units - 1)
    }
}

/// Indices, each as often as its number says, those of each index equally far apart; the first
/// `count` of them.
fn in_turn(numbers: &[u32], count: u32) -> Vec<u32> {
    let total: u64 = numbers.iter().map(|number| u64::from(*number)).sum();
    let mut turns = Vec::with_capacity(total.min(u64::from(count)) as usize + numbers.len());
    for (index, number) in (0_u32..).zip(numbers) {
        let number = u64::from(*number);
        // Its part of the first `count`, and one more for where it begins.
        let needed = (number * u64::from(count)).div_ceil(total.max(1)) + 1;
        let turn = |at: u64| (((2 * at + 1) << 40) / number, index);
        turns.extend((0..number.min(needed)).map(turn));
    }
    turns.sort_unstable();
    turns.truncate(count as usize);
    turns.into_iter().map(|(_, index)| index).collect()
}

/// How often each index is there.
fn counts(indices: &[u32], count: usize) -> Vec<u32> {
    let mut counts = vec![0; count];
    for index in indices {
        counts[*index as usize] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::in_turn;

    #[test]
    fn turns_are_equally_far_apart() {
        assert_eq!(in_turn(&[2, 2, 2], 6), [0, 1, 2, 0, 1, 2]);
        assert_eq!(in_turn(&[4, 2, 0], 6), [0, 1, 0, 0, 1, 0]);
        assert_eq!(in_turn(&[4, 2, 0], 3), [0, 1, 0], "each its part");
        assert_eq!(in_turn(&[1, 1, 1], 2), [0, 1]);
        assert_eq!(in_turn(&[0, 0], 5), Vec::<u32>::new());
        assert_eq!(in_turn(&[], 5), Vec::<u32>::new());
    }
}
