//! The map of a task list: a character for each partition.
//!
//! ```text
//!   default/orders: 12 partitions, 11 owned
//!      0  aabbccaabb C.        a to c: owned by that node; C: c is to release it; . no owner
//! ```

use std::collections::BTreeMap;
use std::fmt::Write;

use baton::partitions::{Partition, PartitionMap, TaskList};
use baton_core::ids::NodeId;

/// The characters that stand for nodes, by their order.
const MARKS: &str = "abcdefghijklmnopqrstuvwxyz";

/// A node beyond the last mark, and the same if it is to release the partition.
const ANY_NODE: char = '+';
const ANY_RELEASING: char = '*';

/// A partition without an owner.
const NO_OWNER: char = '.';

/// What the characters mean.
pub const LEGEND: &str = "a-z, +: owned by that node   A-Z, *: to be released   .: no owner";

/// Partitions in a line, in groups of ten: it fits 80 columns.
const IN_LINE: u32 = 60;
const IN_GROUP: u32 = 10;

/// The mark of each node, in the order of their names.
pub fn marks<'a>(nodes: impl IntoIterator<Item = &'a NodeId>) -> BTreeMap<NodeId, char> {
    let marks = MARKS.chars().chain(std::iter::repeat(ANY_NODE));
    nodes.into_iter().cloned().zip(marks).collect()
}

/// How many partitions of a list have an owner.
pub fn owned(list: &TaskList, map: &PartitionMap) -> u32 {
    let has_owner = |number: &u32| map.owner(&partition(list, *number)).is_some();
    (0..list.partitions).filter(has_owner).count() as u32
}

fn partition(list: &TaskList, number: u32) -> Partition {
    Partition { list: list.id.clone(), number }
}

/// The map of a list.
pub fn render(list: &TaskList, map: &PartitionMap, marks: &BTreeMap<NodeId, char>) -> String {
    let digits = list.partitions.saturating_sub(1).to_string().len();
    let mut text = String::new();
    for first in (0..list.partitions).step_by(IN_LINE as usize) {
        let _ = write!(text, "  {first:>digits$} ");
        for number in first..list.partitions.min(first + IN_LINE) {
            if (number - first).is_multiple_of(IN_GROUP) {
                text.push(' ');
            }
            text.push(match map.owner(&partition(list, number)) {
                None => NO_OWNER,
                Some(owner) => {
                    let mark = marks.get(&owner.node).copied().unwrap_or(ANY_NODE);
                    match (owner.is_releasing, mark) {
                        (false, mark) => mark,
                        (true, ANY_NODE) => ANY_RELEASING,
                        (true, mark) => mark.to_ascii_uppercase(),
                    }
                }
            });
        }
        text.push('\n');
    }
    text
}
