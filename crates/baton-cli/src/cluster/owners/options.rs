//! What a process that owns partitions is started with.

use std::path::PathBuf;

use baton::partitions::{TaskList, TaskListId};
use baton::{Namespace, NodeId, Profile};

/// The options of such a process. All but the log and the node are those of its cluster.
#[derive(Clone, Debug, clap::Args)]
pub struct OwnerOptions {
    /// Name of the node.
    #[arg(long, value_parser = node)]
    pub id: NodeId,
    /// Namespace in which the node takes part.
    #[arg(long, value_parser = namespace)]
    pub namespace: Namespace,
    /// URL of the store.
    #[arg(long, env = "BATON_STORE", hide_env_values = true)]
    pub store: String,
    /// Set of defaults that the node starts from.
    #[arg(long)]
    pub profile: Profile,
    /// Task list that the node declares, as NAME=PARTITIONS; a node without any owns nothing.
    #[arg(long = "list", value_name = "NAME=PARTITIONS", value_parser = task_list)]
    pub lists: Vec<TaskList>,
    /// New file in which the process notes what it does.
    #[arg(long)]
    pub log: PathBuf,
}

fn node(text: &str) -> Result<NodeId, String> {
    NodeId::new(text).map_err(|problem| problem.to_string())
}

fn namespace(text: &str) -> Result<Namespace, String> {
    Namespace::new(text).map_err(|problem| problem.to_string())
}

fn task_list(text: &str) -> Result<TaskList, String> {
    let (name, partitions) = text.split_once('=').ok_or("a list is written NAME=PARTITIONS")?;
    let id: TaskListId = name.parse().map_err(|problem| format!("{problem}"))?;
    let partitions = partitions.parse().map_err(|problem| format!("{problem}"))?;
    Ok(TaskList::new(id, partitions))
}

/// A task list as it is given to a process.
pub(super) fn as_argument(list: &TaskList) -> String {
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
