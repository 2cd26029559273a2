//! `baton partitions status`: who owns which partition, as the store says.

use std::collections::BTreeMap;
use std::path::PathBuf;

use baton::partitions::{
    Partition, PartitionMap, PartitionStanding, TaskList, TaskListStatus, Token,
};
use baton_core::ids::NodeId;
use baton_core::partition::allocation::{AllocationNode, NodeState};
use serde::Serialize;

use super::{map, no_leader, picture, standing};
use crate::commands::StoreArguments;
use crate::error::{CommandError, Exit};
use crate::output::style::Tone;
use crate::output::table::{Cell, Table};
use crate::output::{log, stdout};

/// A list with more partitions than this has a map only with `--map`.
const MAP_UNASKED: u32 = 600;

/// How many moves by hand are shown.
const MOVES_SHOWN: usize = 10;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Show the map of every task list, however long it is; without this, of those with at most 600
    /// partitions.
    #[arg(long)]
    map: bool,
    /// Write a map of all task lists to this file, as an SVG picture.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    store: StoreArguments,
}

/// A node, as it stands.
#[derive(Serialize)]
pub struct NodeReport {
    pub node: NodeId,
    pub partitions: usize,
    pub releasing: usize,
    pub is_draining: bool,
    /// Does it take partitions, by its own record?
    pub is_live: bool,
}

/// A partition that has an owner.
#[derive(Serialize)]
struct OwnerReport<'a> {
    partition: &'a Partition,
    node: &'a NodeId,
    token: Token,
    is_releasing: bool,
}

/// Everything, for programs.
#[derive(Serialize)]
struct StatusReport<'a> {
    nodes: Vec<NodeReport>,
    lists: &'a [TaskList],
    owners: Vec<OwnerReport<'a>>,
    unowned: Vec<Partition>,
    is_paused: bool,
    /// What people have moved by hand.
    moved: &'a BTreeMap<Partition, NodeId>,
}

impl Arguments {
    pub async fn run(&self) -> Result<Exit, CommandError> {
        let opened = self.store.open_to_read().await?;
        let PartitionStanding { lists, nodes, map } = &standing(&opened).await?;
        let nodes = node_reports(nodes, map);
        if let Some(path) = &self.plot {
            let title = format!("partitions of namespace {}", opened.namespace());
            let drawn = picture::draw(&title, lists.all(), &nodes, map);
            let problem = |problem| CommandError::Write { path: path.clone(), problem };
            std::fs::write(path, drawn).map_err(problem)?;
            log::info(&format!("the picture is in {}", path.display()));
        }
        let report = StatusReport {
            nodes,
            lists: lists.all(),
            owners: owners(map),
            unowned: unowned(lists.all(), map),
            is_paused: lists.is_paused(),
            moved: lists.moved(),
        };
        let waits = no_leader(&opened).await?;
        stdout::json_or_text(self.store.json, &report, || {
            if lists.all().is_empty() {
                let namespace = opened.namespace();
                return format!(
                    "there are no task lists in namespace {namespace} yet; add one: baton \
                     tasklists add NAME --partitions 12\n"
                );
            }
            self.render(&report, map) + &people(&report) + waits
        });
        Ok(Exit::DONE)
    }

    fn render(&self, report: &StatusReport<'_>, map: &PartitionMap) -> String {
        let marks = map::marks(report.nodes.iter().map(|it| &it.node));
        let mut text = match report.nodes.is_empty() {
            true => "no live node takes partitions\n".to_owned(),
            false => table(&report.nodes, &marks).render(stdout::width()),
        };
        let mut has_map = false;
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
                has_map |= owned > 0;
            }
        }
        if has_map {
            text += &format!("\n{}\n", Tone::Faint.paint(map::LEGEND));
        }
        text
    }
}

fn table(nodes: &[NodeReport], marks: &BTreeMap<NodeId, char>) -> Table {
    let mut table = Table::new(&["", "NODE", ">PARTITIONS", ">TO RELEASE", "STATE"]);
    for it in nodes {
        let mark = marks.get(&it.node).copied().unwrap_or(' ');
        table.row([
            mark.to_string().into(),
            it.node.to_string().into(),
            it.partitions.to_string().into(),
            it.releasing.to_string().into(),
            match (it.is_live, it.is_draining) {
                (false, _) => Cell::new("not live", Tone::Bad),
                (true, true) => Cell::new("draining", Tone::Warn),
                (true, false) => "active".into(),
            },
        ]);
    }
    table
}

/// Lines about what people have moved and paused.
fn people(report: &StatusReport<'_>) -> String {
    let mut text = String::new();
    if !report.moved.is_empty() {
        text.push('\n');
    }
    for (partition, node) in report.moved.iter().take(MOVES_SHOWN) {
        text += &format!("{partition} is kept on {node}: it was moved there by hand\n");
    }
    if report.moved.len() > MOVES_SHOWN {
        let more = report.moved.len() - MOVES_SHOWN;
        text += &format!("{more} more were moved by hand; --json has all of them\n");
    }
    if report.is_paused {
        text += "\nmoves are paused: baton partitions resume lets them go on\n";
    }
    text
}

/// The nodes that take partitions or still have some, in order.
fn node_reports(nodes: &[AllocationNode], map: &PartitionMap) -> Vec<NodeReport> {
    let new = |node: &NodeId, is_draining, is_live| NodeReport {
        node: node.clone(),
        partitions: 0,
        releasing: 0,
        is_draining,
        is_live,
    };
    let live = nodes.iter().map(|node| {
        let is_draining = node.state == NodeState::Draining;
        (&node.id, new(&node.id, is_draining, true))
    });
    let mut reports: BTreeMap<&NodeId, NodeReport> = live.collect();
    for (_, owner) in map.iter() {
        let report = reports.entry(&owner.node).or_insert_with(|| new(&owner.node, false, false));
        report.partitions += 1;
        report.releasing += usize::from(owner.is_releasing);
    }
    reports.into_values().collect()
}

fn owners(map: &PartitionMap) -> Vec<OwnerReport<'_>> {
    let report = map.iter().map(|(partition, owner)| OwnerReport {
        partition,
        node: &owner.node,
        token: owner.token,
        is_releasing: owner.is_releasing,
    });
    report.collect()
}

/// The partitions of active lists that no node owns.
fn unowned(lists: &[TaskList], map: &PartitionMap) -> Vec<Partition> {
    let active = lists.iter().filter(|list| list.status == TaskListStatus::Active);
    let all = active.flat_map(|list| {
        (0..list.partitions).map(|number| Partition { list: list.id.clone(), number })
    });
    all.filter(|partition| map.owner(partition).is_none()).collect()
}
