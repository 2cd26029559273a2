//! Waiting until a cluster has settled: every node is known, and every node knows it.

use std::collections::BTreeMap;
use std::time::Duration;

use baton::clock::Moment;
use baton::{BootId, NodeId};
use baton_cli::attempts::Attempts;
use baton_cli::cluster::{Cluster, ClusterError, LeaderLease};
use baton_store::clock::{Clock, SystemClock};

/// How often the store is looked at. There is no hurry, and other programs may be measuring on the
/// same server.
const READ_EVERY: Duration = Duration::from_millis(200);

/// The longest beat of the default settings: every live node has beaten within it.
const BEAT_MAX: Duration = Duration::from_secs(6);

/// Every node's process, and how often it has beaten.
pub type Beats = BTreeMap<NodeId, (BootId, u64)>;

/// The process that goes by this name in the store.
pub async fn boot_of(cluster: &Cluster, name: &NodeId) -> Result<Option<BootId>, ClusterError> {
    Ok(beats(cluster).await?.get(name).map(|(boot, _)| *boot))
}

/// Waits until another process than this one goes by the name.
pub async fn registered(
    cluster: &Cluster,
    name: &NodeId,
    instead_of: Option<BootId>,
    limit: Duration,
) -> Result<(), ClusterError> {
    let mut attempts = Attempts::new(READ_EVERY, limit);
    while attempts.next().await {
        let boot = boot_of(cluster, name).await?;
        if boot.is_some() && boot != instead_of {
            return Ok(());
        }
    }
    Err(ClusterError::TimedOut { what: "a node in the registry", limit })
}

/// Waits until the leader's view shows this many processes, each of them as the registry
/// has it, and all the others have beaten once more: from then on they know who leads, and the
/// first successors watch its lifeline. A beat that says nothing new need not show in the
/// registry, so that a beat's time counts as much as its trace.
pub async fn settled(
    cluster: &Cluster,
    count: usize,
    limit: Duration,
) -> Result<LeaderLease, ClusterError> {
    let mut since: Option<(u64, Beats, Moment)> = None;
    let mut attempts = Attempts::new(READ_EVERY, limit);
    while attempts.next().await {
        let now = beats(cluster).await?;
        let lead = in_full_view(cluster, count, &now).await?;
        since = match (lead, since) {
            (None, _) => None,
            (Some(lead), Some((epoch, before, full_at))) if lead.lease.version.epoch.0 == epoch => {
                let heard = |(name, (boot, beat)): (&NodeId, &(BootId, u64))| {
                    let known = before.get(name);
                    let more = known.is_some_and(|(same, first)| same == boot && beat > first);
                    more || *name == lead.node
                };
                let in_time = SystemClock.now() >= full_at + BEAT_MAX;
                if in_time || now.iter().all(heard) {
                    return Ok(lead);
                }
                Some((epoch, before, full_at))
            }
            (Some(lead), _) => Some((lead.lease.version.epoch.0, now, SystemClock.now())),
        };
    }
    Err(ClusterError::TimedOut { what: "a settled cluster", limit })
}

/// Reads the registry.
pub async fn beats(cluster: &Cluster) -> Result<Beats, ClusterError> {
    let members = cluster.store.members(&cluster.plan.namespace).await?;
    let beat = |member: baton_core::protocol::Member| {
        (member.record.id.clone(), (member.record.boot, member.record.beat))
    };
    Ok(members.into_iter().map(beat).collect())
}

/// The leader, if its view is of this epoch and shows these processes and no others.
async fn in_full_view(
    cluster: &Cluster,
    count: usize,
    beats: &Beats,
) -> Result<Option<LeaderLease>, ClusterError> {
    let shown = cluster.store.inspect(&cluster.plan.namespace).await?;
    let (Some(lease), Some(view)) = (shown.lease, shown.view) else {
        return Ok(None);
    };
    let Some(holder) = lease.holder.clone() else {
        return Ok(None);
    };
    let in_view = view.members.iter().map(|member| (&member.id, member.boot));
    let in_registry = beats.iter().map(|(name, (boot, _))| (name, *boot));
    let full = beats.len() == count
        && view.version.epoch == lease.version.epoch
        && in_view.eq(in_registry);
    Ok(full.then_some(LeaderLease { node: holder.node, lease }))
}
