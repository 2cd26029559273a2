//! `baton partitions status`: who owns which partition, as the store says.

use std::collections::BTreeMap;

use baton::partitions::{
    Partition, PartitionMap, PartitionRouter, PartitionsError, TaskList, TaskListStatus, Token,
};
use baton_core::ids::NodeId;
use baton_core::protocol::View;
use serde::Serialize;

use super::map;
use crate::commands::{REQUEST_TIMEOUT, StoreArguments, tasklists};
use crate::error::{CommandError, Exit};
use crate::output::stdout;
use crate::output::style::Tone;
use crate::output::table::{Cell, Table};

/// A list with more partitions than this has a map only with `--map`.
const MAP_UNASKED: u32 = 600;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Show the map of every task list, however long it is; without this, of those with at most 600
    /// partitions.
    #[arg(long)]
    map: bool,
    #[command(flatten)]
    store: StoreArguments,
}

/// A node, as it stands.
#[derive(Serialize)]
struct NodeReport {
    node: NodeId,
    partitions: usize,
    releasing: usize,
    is_draining: bool,
}

/// A partition that has an owner.
#[derive(Serialize)]
struct OwnerReport {
    partition: String,
    node: NodeId,
    token: Token,
    is_releasing: bool,
}

/// Everything, for programs.
#[derive(Serialize)]
struct StatusReport<'a> {
    nodes: Vec<NodeReport>,
    lists: &'a [TaskList],
    owners: Vec<OwnerReport>,
    unowned: Vec<String>,
}

impl Arguments {
    pub async fn run(&self) -> Result<Exit, CommandError> {
        let opened = self.store.open_to_read().await?;
        let lists = tasklists::client(&opened).read().await;
        let lists = lists.map_err(|problem| tasklists::told(&opened, problem))?;
        let (store, namespace) = (opened.store.clone(), opened.namespace().clone());
        let router = PartitionRouter::new(store, namespace, REQUEST_TIMEOUT);
        let map = router.refresh().await.map_err(|problem| match problem {
            PartitionsError::Store(problem) => opened.error(problem),
            problem => CommandError::Partitions(problem),
        })?;
        let view = opened.ask(opened.store.inspect(opened.namespace())).await?.view;
        let nodes = nodes(view.as_deref(), &map);
        let unowned = unowned(lists.all(), &map);
        let report = StatusReport {
            lists: lists.all(),
            owners: owners(&map),
            unowned: unowned.iter().map(ToString::to_string).collect(),
            nodes,
        };
        stdout::json_or_text(self.store.json, &report, || {
            if lists.all().is_empty() {
                let namespace = opened.namespace();
                return format!(
                    "there are no task lists in namespace {namespace} yet; add one: baton \
                     tasklists add NAME --partitions 12\n"
                );
            }
            self.render(&report, &map)
        });
        Ok(Exit::DONE)
    }

    fn render(&self, report: &StatusReport<'_>, map: &PartitionMap) -> String {
        let marks = map::marks(report.nodes.iter().map(|it| &it.node));
        let mut table = Table::new(&["", "NODE", ">PARTITIONS", ">TO RELEASE", "STATE"]);
        for it in &report.nodes {
            let mark = marks.get(&it.node).copied().unwrap_or(' ');
            table.row([
                mark.to_string().into(),
                it.node.to_string().into(),
                it.partitions.to_string().into(),
                it.releasing.to_string().into(),
                match it.is_draining {
                    true => Cell::new("draining", Tone::Warn),
                    false => "active".into(),
                },
            ]);
        }
        let mut text = table.render(stdout::width());
        for list in report.lists {
            let owned = map::owned(list, map);
            let paused = match list.status {
                TaskListStatus::Paused => ", paused",
                TaskListStatus::Active => "",
            };
            text +=
                &format!("\n{}: {} partitions, {owned} owned{paused}\n", list.id, list.partitions);
            if self.map || list.partitions <= MAP_UNASKED {
                text += &map::render(list, map, &marks);
            }
        }
        text
    }
}

/// The nodes that take partitions or still have some, in order.
fn nodes(view: Option<&View>, map: &PartitionMap) -> Vec<NodeReport> {
    let mut nodes: BTreeMap<&NodeId, NodeReport> = BTreeMap::new();
    let new = |node: &NodeId, is_draining| NodeReport {
        node: node.clone(),
        partitions: 0,
        releasing: 0,
        is_draining,
    };
    let members = view.map(|view| view.members.as_slice()).unwrap_or_default();
    for member in members.iter().filter(|member| member.assignment.is_some()) {
        nodes.insert(&member.id, new(&member.id, member.draining));
    }
    for (_, owner) in map.iter() {
        let report = nodes.entry(&owner.node).or_insert_with(|| new(&owner.node, false));
        report.partitions += 1;
        report.releasing += usize::from(owner.is_releasing);
    }
    nodes.into_values().collect()
}

fn owners(map: &PartitionMap) -> Vec<OwnerReport> {
    let owner = |(partition, owner): (&Partition, &baton::partitions::PartitionOwnership)| {
        let (node, token, is_releasing) = (owner.node.clone(), owner.token, owner.is_releasing);
        OwnerReport { partition: partition.to_string(), node, token, is_releasing }
    };
    map.iter().map(owner).collect()
}

/// The partitions of active lists that no node owns.
fn unowned(lists: &[TaskList], map: &PartitionMap) -> Vec<Partition> {
    let active = lists.iter().filter(|list| list.status == TaskListStatus::Active);
    let all = active.flat_map(|list| {
        (0..list.partitions).map(|number| Partition { list: list.id.clone(), number })
    });
    all.filter(|partition| map.owner(partition).is_none()).collect()
}
