//! Why what people asked for was refused.

use super::task_list::{InvalidTaskList, Partition, TaskListId};
use super::task_lists::FORMAT;
use super::wanted::MOVES_MAX;
use crate::ids::NodeId;

/// Why the task lists were not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskListRefused {
    /// What was asked for is not within the limits.
    #[error(transparent)]
    Invalid(#[from] InvalidTaskList),
    /// There is one of this name.
    #[error("task list {list} is there already, with {partitions} partitions; change it with set")]
    Present {
        /// The list.
        list: TaskListId,
        /// How many partitions it has.
        partitions: u32,
    },
    /// There is none of this name.
    #[error("no task list is named {list}{}", known.as_ref().map_or_else(
        || ", and there are no others".to_owned(), |known| format!("; there is {known}")))]
    Unknown {
        /// The list.
        list: TaskListId,
        /// The name that is nearest in their order.
        known: Option<TaskListId>,
    },
    /// The service declares it.
    #[error(
        "task list {list} is declared by the service itself: change it there; it can be paused and \
         resumed here"
    )]
    Declared {
        /// The list.
        list: TaskListId,
    },
    /// The list is there, and has no such partition.
    #[error(
        "there is no partition {partition}: the task list has {partitions}, and the last one is \
         number {}", partitions.saturating_sub(1)
    )]
    NoPartition {
        /// The partition.
        partition: Partition,
        /// How many the list has.
        partitions: u32,
    },
    /// Too many partitions are moved by hand.
    #[error(
        "{given} partitions would be kept where people moved them, and {MOVES_MAX} can be: forget \
         a move first"
    )]
    TooManyMoves {
        /// How many it would be.
        given: usize,
    },
    /// The partition was not moved by hand.
    #[error("partition {partition} is not kept on any node by a move")]
    NotMoved {
        /// The partition.
        partition: Partition,
    },
    /// The document is of another version.
    #[error("the task lists are of format {found}, and this version knows format {FORMAT}")]
    Format {
        /// The format found.
        found: u32,
    },
}

/// Why a partition cannot be moved to a node.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MoveRefused {
    /// No such node takes partitions.
    #[error("no live node that takes partitions is named {node}{}", known.as_ref().map_or_else(
        || ", and there are no others".to_owned(), |known| format!("; there is {known}")))]
    UnknownNode {
        /// The node.
        node: NodeId,
        /// The name that is nearest in their order.
        known: Option<NodeId>,
    },
    /// The node gives its partitions away.
    #[error("node {node} is draining: it gives its partitions away, and gets no others")]
    Draining {
        /// The node.
        node: NodeId,
    },
    /// The node lacks a label.
    #[error("node {node} lacks the label {label}, which task list {list} requires")]
    Label {
        /// The node.
        node: NodeId,
        /// The first label that it lacks.
        label: String,
        /// The list.
        list: TaskListId,
    },
    /// The node has no room.
    #[error(
        "node {node} is full: it has {load} of its capacity of {capacity}, and {partition} weighs \
         {weight}"
    )]
    Full {
        /// The node.
        node: NodeId,
        /// The weight of what it has.
        load: u64,
        /// The most that it may have.
        capacity: u32,
        /// The partition.
        partition: Partition,
        /// What it weighs.
        weight: u32,
    },
}
