//! `baton partitions explain`: why a partition is where it is, moves, or has no owner.

use std::collections::BTreeSet;

use baton::partitions::{Partition, PartitionStanding, TaskListError};
use baton_core::ids::NodeId;
use serde::Serialize;

use super::outlook::Outlook;
use super::{no_leader, standing};
use crate::commands::StoreArguments;
use crate::error::{CommandError, Exit};
use crate::output::stdout;

/// How many changes are explained unless one partition is named.
const REASONS_MAX: usize = 10;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Partition to explain, as LIST#NUMBER or DOMAIN/LIST#NUMBER, such as orders#7; without it, a
    /// summary of all nodes.
    partition: Option<Partition>,
    #[command(flatten)]
    store: StoreArguments,
}

/// One partition, for programs.
#[derive(Serialize)]
struct PartitionReport<'a> {
    partition: &'a Partition,
    owner: Option<NodeId>,
    /// Who is to own it.
    wanted: Option<NodeId>,
    is_releasing: bool,
    reason: String,
    /// The node that it was moved to by hand, if it was.
    moved_to: Option<&'a NodeId>,
}

impl Arguments {
    pub async fn run(&self) -> Result<Exit, CommandError> {
        let opened = self.store.open_to_read().await?;
        let standing = standing(&opened).await?;
        let outlook = Outlook::of(&standing, BTreeSet::new());
        let waits = no_leader(&opened).await?;
        if let Some(partition) = &self.partition {
            return self.explain_one(partition, &standing, &outlook, waits);
        }
        let report = outlook.report();
        stdout::json_or_text(self.store.json, &report, || {
            let verbs = ["to move", "stay", "to get an owner", "without an owner from then on"];
            let nodes = match report.has_nodes() {
                true => report.nodes_table(),
                false => "no live node takes partitions\n".to_owned(),
            };
            let counts = report.counts(verbs);
            format!("{nodes}\n{counts}{}{}{waits}", report.reasons(REASONS_MAX), report.pause())
        });
        Ok(Exit::DONE)
    }

    fn explain_one(
        &self,
        partition: &Partition,
        standing: &PartitionStanding,
        outlook: &Outlook,
        waits: &str,
    ) -> Result<Exit, CommandError> {
        let refused = |problem| CommandError::TaskList(TaskListError::Refused(problem));
        standing.lists.check_partition(partition).map_err(refused)?;
        let Some((reason, [owner, wanted])) = outlook.explain(partition) else {
            unreachable!("the partition is there")
        };
        let moved_to = standing.lists.moved().get(partition);
        let is_releasing = standing.map.owner(partition).is_some_and(|owner| owner.is_releasing);
        let report = PartitionReport { partition, owner, wanted, is_releasing, reason, moved_to };
        stdout::json_or_text(self.store.json, &report, || {
            let mut text = format!("{partition} {}\n", report.reason);
            if let Some(owner) = report.owner.as_ref().filter(|_| is_releasing) {
                text += &format!("{owner} is asked to stop it, and has not yet\n");
            }
            if let Some(node) = moved_to.filter(|node| report.wanted.as_ref() != Some(node)) {
                text += &format!("it was moved to {node} by hand, which cannot take it now\n");
            }
            text + waits
        });
        Ok(Exit::DONE)
    }
}
