//! `baton partitions move`, `forget-move`, `pause` and `resume`: what people ask of the
//! coordinator. It is written into the document of the task lists; a hint makes the leader read it
//! at once.

use baton::partitions::{Partition, TaskListError, TaskLists};
use baton_core::ids::NodeId;
use serde::Serialize;

use super::{no_leader, standing};
use crate::commands::{StoreArguments, tasklists};
use crate::error::{CommandError, Exit};
use crate::open_store::OpenStore;
use crate::output::stdout;

#[derive(Debug, clap::Args)]
pub struct MoveArguments {
    /// Partition to move, as LIST#NUMBER or DOMAIN/LIST#NUMBER, such as orders#7.
    partition: Partition,
    /// Node to move the partition to: a live node that takes partitions.
    #[arg(value_parser = node)]
    node: NodeId,
    #[command(flatten)]
    store: StoreArguments,
}

#[derive(Debug, clap::Args)]
pub struct ForgetArguments {
    /// Partition that was moved by hand, as LIST#NUMBER or DOMAIN/LIST#NUMBER.
    partition: Partition,
    #[command(flatten)]
    store: StoreArguments,
}

#[derive(Debug, clap::Args)]
pub struct PauseArguments {
    #[command(flatten)]
    store: StoreArguments,
}

/// What became of a move, for programs.
#[derive(Serialize)]
struct MoveReport<'a> {
    partition: &'a Partition,
    /// The node that it is kept on from now on, if it is.
    kept_on: Option<&'a NodeId>,
    /// Its owner when it was asked for.
    owner: Option<&'a NodeId>,
}

/// Whether moves are paused, for programs.
#[derive(Serialize)]
struct PauseReport {
    is_paused: bool,
}

impl MoveArguments {
    pub async fn run(&self) -> Result<Exit, CommandError> {
        let Self { partition, node, store } = self;
        let opened = store.open_to_write().await?;
        let moved = tasklists::client(&opened).move_partition(partition, node).await;
        moved.map_err(|problem| tasklists::told(&opened, problem))?;
        let standing = standing(&opened).await?;
        let owner = standing.map.owner(partition).map(|owner| &owner.node);
        let waits = no_leader(&opened).await?;
        let report = MoveReport { partition, kept_on: Some(node), owner };
        stdout::json_or_text(store.json, &report, || {
            let what = match owner {
                Some(owner) if owner == node => format!("{partition} is on {node} already"),
                Some(owner) => format!("{partition} moves from {owner} to {node}"),
                None => format!("{partition} goes to {node}"),
            };
            format!(
                "{what}, and is kept there while {node} takes\npartitions, until baton partitions \
                 forget-move {partition}\n{waits}"
            )
        });
        Ok(Exit::DONE)
    }
}

impl ForgetArguments {
    pub async fn run(&self) -> Result<Exit, CommandError> {
        let Self { partition, store } = self;
        let opened = store.open_to_write().await?;
        let forgotten = tasklists::client(&opened).forget_move(partition).await;
        forgotten.map_err(|problem| tasklists::told(&opened, problem))?;
        let standing = standing(&opened).await?;
        let owner = standing.map.owner(partition).map(|owner| &owner.node);
        stdout::json_or_text(store.json, &MoveReport { partition, kept_on: None, owner }, || {
            format!("{partition} is kept on no node any more: it goes where the shares say\n")
        });
        Ok(Exit::DONE)
    }
}

impl PauseArguments {
    pub async fn pause(&self) -> Result<Exit, CommandError> {
        let opened = self.store.open_to_write().await?;
        let paused = tasklists::client(&opened).pause_moves().await;
        self.print(
            &opened,
            paused,
            "moves are paused, until baton partitions resume: partitions without an owner\n\
             still get one, and draining nodes still give theirs away\n",
        )
    }

    pub async fn resume(&self) -> Result<Exit, CommandError> {
        let opened = self.store.open_to_write().await?;
        let resumed = tasklists::client(&opened).resume_moves().await;
        self.print(&opened, resumed, "moves go on: the loads of the nodes are made even\n")
    }

    fn print(
        &self,
        opened: &OpenStore,
        changed: Result<TaskLists, TaskListError>,
        text: &str,
    ) -> Result<Exit, CommandError> {
        let lists = changed.map_err(|problem| tasklists::told(opened, problem))?;
        let report = PauseReport { is_paused: lists.is_paused() };
        stdout::json_or_text(self.store.json, &report, || text.to_owned());
        Ok(Exit::DONE)
    }
}

/// Reads a node id on the command line.
pub fn node(text: &str) -> Result<NodeId, String> {
    NodeId::new(text).map_err(|problem| problem.to_string())
}
