//! Deals partitions along the places so that each list is spread over zones, and over nodes.

use super::problem::Context;
use super::ring::Ring;

/// How many of the next places a partition may choose from.
const CHOICE: usize = 16;

/// How often one list is on each member and in each zone.
pub(super) struct ListCounts {
    list: Option<u32>,
    members: Vec<u32>,
    zones: Vec<u32>,
}

/// Which of the numbers that are compared is smaller, as ratios to portions.
fn is_less((count, portion): (u32, i64), (other, other_portion): (u32, i64)) -> Option<bool> {
    // An odd number stands for what the count is halfway to the next one, so that a portion three
    // times as large has the first three of four.
    let odd = |count: u32| 2 * i64::from(count) + 1;
    let (left, right) = (odd(count) * other_portion, odd(other) * portion);
    (left != right).then_some(left < right)
}

impl ListCounts {
    pub(super) fn new(ring: &Ring) -> Self {
        let (members, zones) = (vec![0; ring.members.len()], vec![0; ring.zone_portions.len()]);
        Self { list: None, members, zones }
    }

    /// Counts this list from now on.
    fn turn_to(&mut self, list: u32, context: &Context<'_>, ring: &Ring, owners: &[Option<u32>]) {
        let on_ring = |list: u32| {
            let owners = &owners[context.partitions(list)];
            owners.iter().filter_map(|owner| ring.member((*owner)?))
        };
        if let Some(before) = self.list.replace(list) {
            for member in on_ring(before) {
                self.members[member] = 0;
                self.zones[ring.members[member].zone] = 0;
            }
        }
        on_ring(list).for_each(|member| self.add(member, ring));
    }

    fn add(&mut self, member: usize, ring: &Ring) {
        self.members[member] += 1;
        self.zones[ring.members[member].zone] += 1;
    }

    /// Is the list rarer on the first of these members?
    fn is_rarer(&self, member: usize, than: usize, ring: &Ring) -> bool {
        let of_zone = |member: usize| {
            let zone = ring.members[member].zone;
            (self.zones[zone], ring.zone_portions[zone])
        };
        let of_member = |member: usize| (self.members[member], ring.portions[member]);
        let by_zone = is_less(of_zone(member), of_zone(than));
        by_zone.or_else(|| is_less(of_member(member), of_member(than))).unwrap_or(false)
    }
}

/// Gives each of the partitions, which lie together by list, one of the places. Says where they
/// went by changing `owners` and the loads of the ring.
pub(super) fn deal(
    partitions: &[u32],
    mut places: Vec<u32>,
    context: &Context<'_>,
    ring: &mut Ring,
    owners: &mut [Option<u32>],
) {
    let mut counts = ListCounts::new(ring);
    for (next, partition) in partitions.iter().take(places.len()).enumerate() {
        let list = context.list_of(*partition);
        if counts.list != Some(list) {
            counts.turn_to(list, context, ring, owners);
        }
        let choice = next..places.len().min(next + CHOICE);
        let rarest = choice.reduce(|rarest, place| {
            let (member, than) = (places[place] as usize, places[rarest] as usize);
            if counts.is_rarer(member, than, ring) { place } else { rarest }
        });
        let rarest = rarest.unwrap_or(next);
        // The others stay in their order.
        places[next..=rarest].rotate_right(1);
        let member = places[next] as usize;
        counts.add(member, ring);
        ring.members[member].load += context.list_weight(list);
        owners[*partition as usize] = Some(ring.members[member].node);
    }
}
