//! The command lines of the benches of partitions, and of the process that they start.

use std::path::PathBuf;
use std::time::Duration;

use baton::Profile;
use baton::partitions::{TaskList, TaskListId};
use clap::Args;

use crate::fixture::StoreChoice;

/// A part of the benches of partitions: a node that owns some.
#[derive(Clone, Debug, Args)]
pub struct Owner {
    /// Its name
    #[arg(long)]
    pub id: String,
    /// Where it takes part
    #[arg(long)]
    pub namespace: String,
    /// The store
    #[arg(long, env = "BATON_STORE", hide_env_values = true)]
    pub store: String,
    /// Its settings
    #[arg(long)]
    pub profile: Profile,
    /// A task list that it declares, as NAME=PARTITIONS; without any it owns nothing
    #[arg(long = "list", value_parser = task_list)]
    pub lists: Vec<TaskList>,
    /// How often it writes for one of its partitions; never unless given
    #[arg(long, value_parser = baton_cli::commands::duration)]
    pub writes_every: Option<Duration>,
    /// Where it notes what it does
    #[arg(long)]
    pub log: PathBuf,
}

/// Options of `rebalance`.
#[derive(Clone, Debug, Args)]
pub struct Rebalance {
    /// The stores, one after the other
    #[arg(long, value_enum, value_delimiter = ',', default_value = "all")]
    pub store: Vec<StoreChoice>,
    /// How many nodes
    #[arg(long, default_value = "40", value_parser = clap::value_parser!(u32).range(4..))]
    pub nodes: u32,
    /// How many task lists
    #[arg(long, default_value = "30", value_parser = clap::value_parser!(u32).range(1..))]
    pub lists: u32,
    /// How many partitions each list has
    #[arg(long, default_value = "80", value_parser = clap::value_parser!(u32).range(1..))]
    pub partitions: u32,
    /// How long requests are counted without partitions, and with them at rest
    #[arg(long, default_value = "20", value_parser = clap::value_parser!(u32).range(5..))]
    pub seconds: u32,
    /// The settings of the nodes; bars are those of `fast`
    #[arg(long, default_value = "fast")]
    pub profile: Profile,
}

/// Options of `soak`.
#[derive(Clone, Debug, Args)]
pub struct Soak {
    /// The stores, one after the other
    #[arg(long, value_enum, value_delimiter = ',', default_value = "all")]
    pub store: Vec<StoreChoice>,
    /// How many clusters share the store
    #[arg(long, default_value = "2", value_parser = clap::value_parser!(u32).range(1..=9))]
    pub clusters: u32,
    /// How many nodes each cluster has
    #[arg(long, default_value = "40", value_parser = clap::value_parser!(u32).range(3..))]
    pub nodes: u32,
    /// How many task lists each cluster has, of 50 to 100 partitions
    #[arg(long, default_value = "30", value_parser = clap::value_parser!(u32).range(1..))]
    pub lists: u32,
    /// How long nodes join and leave
    #[arg(long, default_value = "60", value_parser = clap::value_parser!(u32).range(5..))]
    pub seconds: u32,
    /// What joins and leaves are drawn from [default: a new one]
    #[arg(long)]
    pub seed: Option<u64>,
}

/// Reads `NAME=PARTITIONS`.
fn task_list(text: &str) -> Result<TaskList, String> {
    let (name, partitions) = text.split_once('=').ok_or("it has no =")?;
    let id: TaskListId = name.parse().map_err(|problem| format!("{problem}"))?;
    let partitions = partitions.parse().map_err(|problem| format!("{problem}"))?;
    Ok(TaskList::new(id, partitions))
}

/// The same as it is given to a process.
pub fn as_argument(list: &TaskList) -> String {
    format!("{}={}", list.id, list.partitions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_as_it_is_given() {
        let list = TaskList::new("shop/orders".parse().expect("a plain name"), 80);
        assert_eq!(task_list(&as_argument(&list)), Ok(list));
        assert!(task_list("orders").is_err() && task_list("orders=many").is_err());
    }
}
