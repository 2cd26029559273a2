//! What the checkers are shown.

use std::collections::BTreeMap;

use baton_core::ids::{BootId, Epoch};
use baton_core::partition::{Partition, TaskList, Token};

use crate::clock::TrueTime;

/// What is left when the calm is over.
pub struct CalmState<'a> {
    /// The task lists.
    pub lists: &'a [TaskList],
    /// The processes that take partitions, each with what it runs.
    pub running: BTreeMap<BootId, Vec<(Partition, Token)>>,
    /// When it is over.
    pub now: TrueTime,
}

/// Something that happened.
pub enum Fact<'a> {
    /// The store granted a term: no write of an earlier one may follow.
    Granted(Epoch),
    /// Documents were written.
    Committed {
        /// By which term.
        epoch: Epoch,
        /// When.
        at: TrueTime,
    },
    /// A process began the work of a partition.
    Started {
        /// Which process.
        boot: BootId,
        /// Which partition.
        partition: &'a Partition,
        /// What its writes carry.
        token: Token,
    },
    /// The work of a partition cannot act any more: it has stopped, was killed, or died.
    Ended {
        /// Which process.
        boot: BootId,
        /// Which partition.
        partition: &'a Partition,
    },
    /// A machine that had nothing to do wants to be woken at once.
    WokenInVain(String),
    /// The calm is over.
    Calm(&'a CalmState<'a>),
}
