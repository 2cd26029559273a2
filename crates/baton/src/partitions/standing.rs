//! How the partitions of a namespace stand, as any process can read it from the store: what the
//! allocator can be asked without the leader.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::Namespace;
use baton_core::partition::allocation::{AllocationNode, Limits, NodeState, Problem};
use baton_core::partition::{
    Assignment, AssignmentVersion, CurrentOwner, PartitionReport, TaskListId, TaskLists, Wanted,
};
use baton_core::protocol::{Member, View};
use baton_store::Store;

use super::documents::{Documents, PartitionsError};
use super::router::{PartitionMap, PartitionRouter};
use super::task_lists::TaskListError;

/// Task lists, nodes and owners of a namespace, as the store has them.
#[derive(Clone, Debug)]
pub struct PartitionStanding {
    /// The task lists, the moves by hand, and whether moves are paused.
    pub lists: TaskLists,
    /// The live nodes that take partitions, in the order of their ids.
    pub nodes: Vec<AllocationNode>,
    /// Who owns what.
    pub map: Arc<PartitionMap>,
}

impl PartitionStanding {
    /// Reads the namespace in this store. A request may take as long as given.
    pub async fn read(
        store: Arc<dyn Store>,
        namespace: Namespace,
        timeout: Duration,
    ) -> Result<Self, PartitionsError> {
        Ok(Self::of(&Documents { store, namespace, timeout }).await?)
    }

    pub(super) async fn of(documents: &Documents) -> Result<Self, TaskListError> {
        let lists = documents.read_lists().await?.1;
        let router = PartitionRouter::of(documents.clone());
        router.refresh().await.map_err(|problem| match problem {
            PartitionsError::Lists(problem) => problem,
            PartitionsError::Store(problem) => problem.into(),
            PartitionsError::Unreadable { document, problem } => {
                TaskListError::Assignment { document, problem }
            }
        })?;
        let view = documents.view().await?;
        let members = documents.members().await?;
        let documents = router.documents().await;
        let documents: Vec<Assignment> =
            documents.into_iter().map(|it| without_released(it, &members)).collect();
        let map = Arc::new(PartitionMap::of(documents.iter()));
        let nodes = view.map(|view| nodes(&view, &members)).unwrap_or_default();
        Ok(Self { lists, nodes, map })
    }

    /// What the allocator is asked under what people want. The limits of moves are the leader's own
    /// setting, which the store does not have: here nothing but a pause limits them.
    pub fn problem(&self, wanted: &Wanted) -> Problem {
        let owners = |list: &TaskListId| self.owners(list);
        wanted.problem(self.nodes.clone(), Limits::default(), owners)
    }

    fn owners<'a>(&'a self, list: &TaskListId) -> impl Iterator<Item = CurrentOwner<'a>> + use<'a> {
        self.map.of_list(list).map(|(number, owner)| {
            let (node, is_releasing) = (&owner.node, owner.is_releasing);
            CurrentOwner { number, node, is_releasing }
        })
    }
}

/// A document without the partitions whose release its process has acknowledged, and that it is not
/// stopping any more: they stand in it until it is next written.
fn without_released(
    (version, mut document): (AssignmentVersion, Assignment),
    members: &[Member],
) -> Assignment {
    let own = members.iter().find(|member| member.record.boot == document.boot);
    let report = own.and_then(|member| member.record.partitions.as_ref());
    let has_acknowledged = |report: &&Arc<PartitionReport>| {
        (report.lineage, report.session) == (document.lineage, document.session)
            && report.acked.slot == version.slot
            && report.acked >= version
    };
    if let Some(report) = report.filter(has_acknowledged) {
        for grant in &mut document.grants {
            let release = grant.release.iter();
            grant.release = release.filter(|it| report.stopping.contains(it)).collect();
        }
    }
    document
}

/// The nodes of the view that take partitions, by their own records.
fn nodes(view: &View, members: &[Member]) -> Vec<AllocationNode> {
    let node = |it: &baton_core::protocol::ViewMember| {
        let own = |member: &&Member| member.record.boot == it.boot;
        let record = &members.iter().find(own)?.record;
        record.partitions.as_ref()?;
        let state = match record.draining {
            true => NodeState::Draining,
            false => NodeState::Active,
        };
        Some(AllocationNode::of_profile(it.id.clone(), &record.profile, state))
    };
    view.members.iter().filter_map(node).collect()
}
