//! What the tests do with a cluster's nodes.

use baton::NodeId;
use baton::clock::Moment;
use baton_cli::attempts::Attempts;
use baton_cli::cluster::{Cluster, LeaderLease, Member, Tick};
use baton_core::protocol::NodeRecord;

use crate::stage::{LOOK_EVERY, PATIENCE, id, until};

/// Starts nodes, and waits until one has a job and knows of all of them.
pub async fn start(cluster: &mut Cluster, names: &[&str]) -> Tick {
    for name in names {
        cluster.start(&id(name)).expect("the program was built");
    }
    let first = job(cluster, 0).await;
    gathered(cluster, names.len()).await;
    first
}

/// Waits for a job of a later epoch, and gives its first line.
pub async fn job(cluster: &Cluster, beyond: u64) -> Tick {
    let found = next_term(cluster, Moment::from_micros(0), beyond).await;
    found.unwrap_or_else(|| unreachable!("no job after epoch {beyond}:\n{}", all_said(cluster)))
}

/// Waits for a job that began after this moment, in a later epoch than this one.
async fn next_term(cluster: &Cluster, after: Moment, beyond: u64) -> Option<Tick> {
    let mut attempts = Attempts::new(LOOK_EVERY, PATIENCE);
    while attempts.next().await {
        let ticks = cluster.ticks().expect("the log is whole");
        if let Some(tick) = ticks.first_beyond(after, beyond) {
            return Some(tick.clone());
        }
    }
    None
}

/// What every node said, to find out why nothing happened.
fn all_said(cluster: &Cluster) -> String {
    let files = std::fs::read_dir(&cluster.plan.folder).into_iter().flatten();
    let paths = files.filter_map(|file| Some(file.ok()?.path()));
    let said = paths.filter(|path| path.extension().is_some_and(|kind| kind == "err"));
    said.map(|path| std::fs::read_to_string(path).unwrap_or_default()).collect()
}

/// Waits until the job of this epoch has gone on after this moment.
pub async fn goes_on(cluster: &Cluster, epoch: u64, after: Moment) {
    let found = next_term(cluster, after, epoch - 1).await.expect("it goes on");
    assert_eq!(found.epoch, epoch, "another term began");
}

pub async fn gathered(cluster: &Cluster, count: usize) {
    let in_view = async || cluster.in_view().await.expect("the store is there");
    until("a view with all nodes", async || (in_view().await >= count).then_some(())).await;
}

pub fn member<'a>(cluster: &'a mut Cluster, name: &str) -> &'a mut Member {
    cluster.member(&id(name)).expect("it was started")
}

pub async fn lead(cluster: &Cluster) -> Option<LeaderLease> {
    cluster.leader().await.expect("the store is there")
}

/// The registered nodes.
pub async fn records(cluster: &Cluster) -> Vec<NodeRecord> {
    let read = cluster.store.members(&cluster.plan.namespace).await;
    read.expect("the store is there").into_iter().map(|member| member.record).collect()
}

/// The record of one node, if it is registered.
pub async fn record(cluster: &Cluster, name: &str) -> Option<NodeRecord> {
    records(cluster).await.into_iter().find(|record| record.id == id(name))
}

pub async fn names(cluster: &Cluster) -> Vec<NodeId> {
    records(cluster).await.into_iter().map(|record| record.id).collect()
}

/// Waits until a node has beaten `more` times more.
pub async fn beats(cluster: &Cluster, name: &str, more: u64) {
    let before = record(cluster, name).await.expect("it is registered").beat;
    let has_beaten = async || {
        let record = record(cluster, name).await?;
        (record.beat >= before + more).then_some(())
    };
    until("further beats", has_beaten).await;
}

/// Waits for its end, and gives its exit code.
pub async fn code(cluster: &mut Cluster, name: &str) -> Option<i32> {
    member(cluster, name).ended().await.expect("it ends").code()
}
