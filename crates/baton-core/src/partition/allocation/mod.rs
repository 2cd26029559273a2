//! Who should own each partition: a pure function of the lists, the nodes, and who owns what now.
//!
//! ```text
//!   Problem ──► groups: lists that the same nodes may own, the most restricted first
//!                 │
//!                 ▼ for each group
//!               ring:     the nodes, zones in turn
//!               shares:   the part of the load that each node should have
//!               round:    keep what may stay ──► take what must or should leave (leaving)
//!                           ──► place what has no owner (places, spread)
//!                           ──► postpone what exceeds the limit of moves
//!                 │
//!                 ▼
//!               Allocation: owners, a reason for each partition, load and share of each node
//! ```
//!
//! The load of a node is the weight of its partitions. Its share is its part of the whole load by
//! the weights of the nodes, between what it has for certain and its capacity. **The bound:** the
//! load of a node differs from its share by less than the weight of the heaviest partition. If all
//! partitions weigh the same, the number of moves is the least by which the bound can be reached.
//!
//! The bound needs some room below the capacities if weights differ: the share of a node leaves
//! room for the heaviest partition. What is placed beyond that goes wherever it fits.
//!
//! The same problem has the same result on every machine, and a result given as the next problem
//! moves nothing.

mod groups;
mod leaving;
mod places;
mod problem;
mod reason;
mod result;
mod ring;
mod round;
mod shares;
mod spread;
#[cfg(test)]
mod tests;

pub use problem::{AllocationNode, InvalidProblem, Limits, NodeState, Problem};
pub use reason::{Explanation, Reason};
pub use result::{Allocation, Change, NodeLoad, Share};

use groups::groups;
use problem::Context;
use result::Draft;
use round::Round;

/// Says who should own each partition.
///
/// # Panics
///
/// If `owners` or `releasing` are not as long as the lists say, or an owner is none of the nodes.
/// A weight out of its range counts as the nearest in it; [`Problem::check`] refuses it.
pub fn allocate(problem: &Problem) -> Allocation {
    problem.assert_complete();
    let context = Context::of(problem);
    let mut draft = Draft::of(&context);
    for group in groups(problem) {
        Round::begin(&context, &group, &mut draft).finish();
    }
    draft.finish(&context)
}
