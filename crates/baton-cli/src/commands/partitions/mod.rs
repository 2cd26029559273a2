//! `baton partitions`: who owns which partition, why, and what people may change about it.
//!
//! ```text
//!   store, read only ──► lists, nodes, owners ──┬──► status: a map of the cluster, or a picture
//!                                               └──► outlook: asks the allocator
//!                                                      ├──► explain: why it is where it is
//!                                                      └──► plan: what would move if …
//!   store ──► moves: move, forget-move, pause, resume ── hint ──► the leader
//! ```

mod explain;
mod map;
mod moves;
mod outlook;
pub(super) mod picture;
mod plan;
mod status;

use baton::partitions::{PartitionStanding, PartitionsError};

use super::{REQUEST_TIMEOUT, tasklists};
use crate::error::{CommandError, Exit};
use crate::open_store::OpenStore;

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Show who owns which partition: a line for each node, and a map of each task list.
    Status(status::Arguments),
    /// Show why a partition is where it is, moves, or has no owner; without PARTITION, all that is
    /// to move now.
    Explain(explain::Arguments),
    /// Show what would move if nodes were drained, removed or added; nothing is changed.
    Plan(plan::Arguments),
    /// Move a partition to a node by hand: it stays there while that node takes partitions.
    Move(moves::MoveArguments),
    /// Forget a move by hand: the partition goes wherever the shares of the nodes say.
    ForgetMove(moves::ForgetArguments),
    /// Pause moves that only make the loads of nodes even, such as during maintenance.
    ///
    /// While moves are paused, a node that joins or comes back gets only partitions that have no
    /// owner. Partitions still leave nodes that drain, die, or lack room or a required label, and
    /// what is moved by hand is moved. The leader learns of the pause at once, or within five
    /// seconds where nodes have no lifelines.
    Pause(moves::PauseArguments),
    /// Let moves go on that were paused.
    Resume(moves::PauseArguments),
}

pub async fn run(command: &Command) -> Result<Exit, CommandError> {
    match command {
        Command::Status(arguments) => arguments.run().await,
        Command::Explain(arguments) => arguments.run().await,
        Command::Plan(arguments) => arguments.run().await,
        Command::Move(arguments) => arguments.run().await,
        Command::ForgetMove(arguments) => arguments.run().await,
        Command::Pause(arguments) => arguments.pause().await,
        Command::Resume(arguments) => arguments.resume().await,
    }
}

/// Task lists, nodes and owners of an open store.
async fn standing(opened: &OpenStore) -> Result<PartitionStanding, CommandError> {
    let (store, namespace) = (opened.store.clone(), opened.namespace().clone());
    let read = PartitionStanding::read(store, namespace, REQUEST_TIMEOUT).await;
    read.map_err(|problem| match problem {
        PartitionsError::Store(problem) => opened.error(problem),
        PartitionsError::Lists(problem) => tasklists::told(opened, problem),
        problem => CommandError::Partitions(problem),
    })
}

/// A line that says that nothing is moved now, if no node leads.
async fn no_leader(opened: &OpenStore) -> Result<&'static str, CommandError> {
    let lease = opened.lease().await?;
    Ok(match lease.as_ref().and_then(|lease| lease.leader()) {
        Some(_) => "",
        None => "no node leads now: nothing is assigned or moved until one does\n",
    })
}
