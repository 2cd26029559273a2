//! `baton partitions plan`: what would move if nodes were drained, removed or added. A dry run: the
//! store is only read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use baton::partitions::{MoveRefused, PartitionStanding, TaskListError};
use baton_core::ids::NodeId;
use baton_core::partition::allocation::{AllocationNode, NodeState};
use baton_core::protocol::NodeProfile;

use super::outlook::Outlook;
use super::{moves, standing};
use crate::commands::{StoreArguments, tasklists};
use crate::error::{CommandError, Exit};
use crate::output::stdout;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Node that is supposed to give all its partitions away; can be given several times.
    #[arg(long, value_name = "NODE", value_parser = moves::node)]
    drain: Vec<NodeId>,
    /// Node that is supposed to be gone; can be given several times.
    #[arg(long, value_name = "NODE", value_parser = moves::node)]
    remove: Vec<NodeId>,
    /// Node that is supposed to join, with its labels if it has any, such as
    /// web-4,zone=b,capacity=40; can be given several times.
    #[arg(long, value_name = "NODE[,NAME=VALUE]", value_parser = added)]
    add: Vec<AddedNode>,
    #[command(flatten)]
    store: StoreArguments,
}

/// A node that is supposed to join.
#[derive(Clone, Debug)]
struct AddedNode {
    id: NodeId,
    labels: BTreeMap<String, String>,
}

impl Arguments {
    pub async fn run(&self) -> Result<Exit, CommandError> {
        let opened = self.store.open_to_read().await?;
        let mut standing = standing(&opened).await?;
        self.suppose(&mut standing)?;
        let removed: BTreeSet<NodeId> = self.remove.iter().cloned().collect();
        let report = Outlook::of(&standing, removed).report();
        stdout::json_or_text(self.store.json, &report, || match report.has_nodes() {
            false => {
                "no live node takes partitions; suppose that one joins: --add NODE\n".to_owned()
            }
            true => {
                let verbs =
                    ["would move", "would stay", "would get an owner", "would have no owner"];
                let (nodes, counts) = (report.nodes_table(), report.counts(verbs));
                format!("{nodes}\n{counts}{}{}", report.pause(), report.changes_table())
            }
        });
        Ok(Exit::DONE)
    }

    /// Changes the nodes as the flags say.
    fn suppose(&self, standing: &mut PartitionStanding) -> Result<(), CommandError> {
        for AddedNode { id, labels } in &self.add {
            let Err(at) = standing.nodes.binary_search_by(|node| node.id.cmp(id)) else {
                return Err(CommandError::NodePresent { node: id.clone() });
            };
            let profile = NodeProfile { labels: labels.clone(), ..NodeProfile::default() };
            let added =
                AllocationNode::of_profile(id.clone(), &Arc::new(profile), NodeState::Active);
            standing.nodes.insert(at, added);
        }
        // What a node that is gone had is given away as if it drained.
        for id in self.drain.iter().chain(&self.remove) {
            let at = standing.nodes.binary_search_by(|node| node.id.cmp(id)).map_err(|at| {
                let nearest = standing.nodes.get(at).or(standing.nodes.last());
                let known = nearest.map(|node| node.id.clone());
                let refused = MoveRefused::UnknownNode { node: id.clone(), known };
                CommandError::TaskList(TaskListError::NotThere(refused))
            })?;
            standing.nodes[at].state = NodeState::Draining;
        }
        Ok(())
    }
}

/// Reads a node and its labels.
fn added(text: &str) -> Result<AddedNode, String> {
    let (id, labels) = text.split_once(',').map_or((text, None), |(id, rest)| (id, Some(rest)));
    let labels = labels.into_iter().flat_map(|labels| labels.split(','));
    let labels = labels.map(tasklists::label).collect::<Result<_, _>>()?;
    Ok(AddedNode { id: moves::node(id)?, labels })
}
