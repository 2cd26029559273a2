//! `baton tasklists`: the named sets of partitions that a namespace has.
//!
//! ```text
//!   store, read only ──► list
//!   store ──► edit: add, set, remove ── hint ──► the leader
//! ```

mod edit;
mod list;

pub use edit::label;

use baton::partitions::{TaskList, TaskListError, TaskListStatus, TaskListsClient};
use serde::Serialize;

use super::{REQUEST_TIMEOUT, StoreArguments};
use crate::error::{CommandError, Exit};
use crate::open_store::OpenStore;

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// List all task lists: partitions, weight, status and required labels.
    List(StoreArguments),
    /// Add a task list, whose partitions are spread over the nodes.
    Add(edit::AddArguments),
    /// Change a task list while it is in use: its number of partitions, weight, status or labels.
    Set(edit::SetArguments),
    /// Remove a task list: its partitions are released by their owners.
    Remove(edit::RemoveArguments),
}

pub async fn run(command: &Command) -> Result<Exit, CommandError> {
    match command {
        Command::List(arguments) => list::run(arguments).await,
        Command::Add(arguments) => arguments.run().await,
        Command::Set(arguments) => arguments.run().await,
        Command::Remove(arguments) => arguments.run().await,
    }
}

/// The task lists of an open store.
pub fn client(opened: &OpenStore) -> TaskListsClient {
    TaskListsClient::new(opened.store.clone(), opened.namespace().clone(), REQUEST_TIMEOUT)
}

/// The error of a command; that of the store names its address.
pub fn told(opened: &OpenStore, problem: TaskListError) -> CommandError {
    match problem {
        TaskListError::Store(problem) => opened.error(problem),
        problem => CommandError::TaskList(problem),
    }
}

/// A task list, for programs.
#[derive(Serialize)]
struct TaskListReport<'a> {
    #[serde(flatten)]
    list: &'a TaskList,
    /// Does the service declare it itself?
    declared: bool,
}

fn status_word(status: TaskListStatus) -> &'static str {
    match status {
        TaskListStatus::Active => "active",
        TaskListStatus::Paused => "paused",
    }
}
