//! Partitions: what a service divides its work into, spread over its nodes, each with one owner at
//! a time.
//!
//! ```text
//!   task lists ──┐                      coordinator, one term
//!   nodes      ──┼──► allocation: who ──► moves: release first, ──► one assignment document
//!   owners     ──┘    should own what     then assign               for each process
//!                                              ▲                           │ its version, in
//!                                              │ acknowledged              ▼ the view
//!                                              └── in the beat ── node: starts, stops partitions
//! ```
//!
//! The coordinator is authoritative for who should own a partition; the assignment documents for
//! who may own it; and the node for whether it still runs, until its own window has closed.

mod assignment;
mod number_set;
mod task_list;
mod task_lists;

pub mod allocation;

pub use assignment::{Assignment, AssignmentVersion, Grant, PartitionReport, PartitionSet, Token};
pub use number_set::{InvalidNumberSet, NumberSet};
pub use task_list::{
    InvalidTaskList, PARTITIONS_MAX, Partition, TaskList, TaskListId, TaskListStatus, WEIGHT_MAX,
};
pub use task_lists::{TaskListChange, TaskListRefused, TaskLists};
