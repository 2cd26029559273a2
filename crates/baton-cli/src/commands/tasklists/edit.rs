//! `baton tasklists add`, `set` and `remove`. A hint makes the leader read the lists at once.

use std::collections::BTreeMap;

use baton::partitions::{TaskList, TaskListChange, TaskListId, TaskListStatus, TaskLists};

use super::{TaskListReport, client, status_word, told};
use crate::commands::StoreArguments;
use crate::error::{CommandError, Exit};
use crate::open_store::OpenStore;
use crate::output::stdout;

#[derive(Debug, clap::Args)]
pub struct AddArguments {
    /// Name of the task list, as NAME or DOMAIN/NAME; the domain is `default` unless given.
    name: TaskListId,
    /// Number of partitions, 1 to 1000000.
    #[arg(long, short, value_name = "COUNT")]
    partitions: u32,
    /// Weight of one partition, 1 to 1000; a partition of weight 2 counts as two of weight 1.
    #[arg(long, value_name = "WEIGHT", default_value_t = 1)]
    weight: u32,
    /// Label that a node must have to own the partitions; can be given several times.
    #[arg(long = "require", value_name = "NAME=VALUE", value_parser = label)]
    requires: Vec<(String, String)>,
    #[command(flatten)]
    store: StoreArguments,
}

#[derive(Debug, clap::Args)]
pub struct SetArguments {
    /// Name of the task list, as NAME or DOMAIN/NAME.
    name: TaskListId,
    #[command(flatten)]
    changes: ChangeArguments,
    #[command(flatten)]
    store: StoreArguments,
}

/// What is to be changed.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = true)]
struct ChangeArguments {
    /// New number of partitions, 1 to 1000000; those beyond it are released.
    #[arg(long, short, value_name = "COUNT")]
    partitions: Option<u32>,
    /// New weight of one partition, 1 to 1000.
    #[arg(long, value_name = "WEIGHT")]
    weight: Option<u32>,
    /// Whether the partitions have owners: a paused list's partitions are released, and wait.
    #[arg(long, value_name = "STATUS")]
    status: Option<StatusWord>,
    /// Labels that a node must have from now on, in place of those required before; can be given
    /// several times.
    #[arg(long = "require", value_name = "NAME=VALUE", value_parser = label)]
    requires: Vec<(String, String)>,
    /// Require no labels any more.
    #[arg(long, conflicts_with = "requires")]
    require_none: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum StatusWord {
    /// The partitions have owners
    Active,
    /// The partitions are released, and wait
    Paused,
}

#[derive(Debug, clap::Args)]
pub struct RemoveArguments {
    /// Name of the task list, as NAME or DOMAIN/NAME.
    name: TaskListId,
    #[command(flatten)]
    store: StoreArguments,
}

impl AddArguments {
    pub async fn run(&self) -> Result<Exit, CommandError> {
        let list = TaskList {
            weight: self.weight,
            requires: self.requires.iter().cloned().collect(),
            ..TaskList::new(self.name.clone(), self.partitions)
        };
        let opened = self.store.open_to_write().await?;
        let added = client(&opened).add(list).await;
        let lists = added.map_err(|problem| told(&opened, problem))?;
        show(&self.store, &lists, &self.name, "is added");
        Ok(Exit::DONE)
    }
}

impl SetArguments {
    pub async fn run(&self) -> Result<Exit, CommandError> {
        let ChangeArguments { partitions, weight, status, requires, require_none } = &self.changes;
        let labels: BTreeMap<_, _> = requires.iter().cloned().collect();
        let change = TaskListChange {
            partitions: *partitions,
            weight: *weight,
            status: status.map(|status| match status {
                StatusWord::Active => TaskListStatus::Active,
                StatusWord::Paused => TaskListStatus::Paused,
            }),
            requires: (*require_none || !labels.is_empty()).then_some(labels),
        };
        let opened = self.store.open_to_write().await?;
        let changed = client(&opened).set(&self.name, change).await;
        let lists = changed.map_err(|problem| told(&opened, problem))?;
        show(&self.store, &lists, &self.name, "is changed");
        Ok(Exit::DONE)
    }
}

impl RemoveArguments {
    pub async fn run(&self) -> Result<Exit, CommandError> {
        let opened: OpenStore = self.store.open_to_write().await?;
        let removed = client(&opened).remove(&self.name).await;
        let lists = removed.map_err(|problem| told(&opened, problem))?;
        let left = lists.all().len();
        stdout::json_or_text(self.store.json, &lists.all(), || {
            let left = match left {
                1 => "1 task list is left".to_owned(),
                left => format!("{left} task lists are left"),
            };
            format!("{} is removed: its owners stop its partitions; {left}\n", self.name)
        });
        Ok(Exit::DONE)
    }
}

fn show(arguments: &StoreArguments, lists: &TaskLists, id: &TaskListId, what: &str) {
    let Some(list) = lists.get(id) else { return };
    let report = TaskListReport { list, declared: lists.is_declared(id) };
    stdout::json_or_text(arguments.json, &report, || {
        let TaskList { partitions, weight, status, .. } = list;
        let status = status_word(*status);
        format!("{id} {what}: {partitions} partitions of weight {weight}, {status}\n")
    });
}

pub fn label(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("not a label, write NAME=VALUE, such as zone=a".to_owned()),
    }
}
