//! Node records: one per node id, refreshed by its own boot only.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, Lineage};
use baton_core::partition::{AssignmentVersion, Partition, PartitionReport, TaskListId};
use baton_core::protocol::{
    BeatReply, Claim, Member, NodeProfile, NodeRecord, Outcome, Recording, Registration,
};

use super::case::{CaseError, Check, Requirement, cases, holds, present, same};
use super::peer::{Peer, won};
use super::stage::Stage;
use crate::capability::Capability;

cases! { "registry":
    a_record_comes_back_as_it_was_written,
    the_same_boot_refreshes_its_record,
    a_record_that_may_wait_stays_registered,
    a_look_in_between_stays_registered,
    another_boot_is_refused_whole,
    a_boot_that_is_named_is_replaced,
    a_node_leaves_and_only_by_its_own_boot,
    members_tell_their_age needs Requirement::Capability(Capability::MemberAge) => no_age_is_told,
}

async fn members(stage: &Stage<'_>) -> Result<Vec<Member>, CaseError> {
    let store = stage.subject.open().await;
    Ok(store.members(&stage.namespace).await?)
}

async fn only_record(stage: &Stage<'_>) -> Result<NodeRecord, CaseError> {
    let members = members(stage).await?;
    same("how many members", members.len(), 1)?;
    let only = present("the only member", members.into_iter().next())?;
    Ok(only.record)
}

fn is_registered(reply: &BeatReply) -> Check {
    let wanted = &Registration::Registered;
    same("the registration", &reply.registration, wanted)
}

/// The beat must have been refused, naming the boot that stands and its beat count.
fn is_taken(reply: &BeatReply, by: &Peer) -> Check {
    let wanted = Registration::TakenBy { boot: by.boot(), beat: by.record.beat };
    same("the registration", &reply.registration, &wanted)?;
    same("the outcome", reply.outcome, None)
}

/// Whether it was written or not: it is there, and a node that asks for the lease is registered
/// anew.
async fn a_record_that_may_wait_stays_registered(stage: &Stage<'_>) -> Check {
    may_be_left(stage, Recording::MayWait).await
}

async fn a_look_in_between_stays_registered(stage: &Stage<'_>) -> Check {
    may_be_left(stage, Recording::Leave).await
}

async fn may_be_left(stage: &Stage<'_>, recording: Recording) -> Check {
    let mut peer = stage.peer("a").await;
    peer.recording = recording;
    is_registered(&peer.look().await?)?;
    same("the record, which was not there", only_record(stage).await?, peer.record.clone())?;
    is_registered(&peer.look().await?)?;
    let found = only_record(stage).await?;
    let counts = [peer.record.beat - 1, peer.record.beat];
    let told = counts.contains(&found.beat);
    holds("the count", &found.beat, "the last one or the one before", told)?;
    same("the rest", found.clone(), NodeRecord { beat: found.beat, ..peer.record.clone() })?;
    let held = peer.take(Claim::Vacant).await?;
    same("the record of a claimant", only_record(stage).await?, peer.record.clone())?;
    let renewed = peer.renew(held).await?;
    won(&renewed, &peer)?;
    same("the record of a holder", only_record(stage).await?, peer.record.clone())
}

async fn a_record_comes_back_as_it_was_written(stage: &Stage<'_>) -> Check {
    let mut peer = stage.peer("a").await;
    let labels = [("zone", "z-1"), ("a key", "'\"; ä\n")];
    let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
    peer.record = NodeRecord {
        beat: u64::from(u32::MAX) + 7,
        eligible: false,
        draining: true,
        load: u32::MAX,
        seen: Epoch(12),
        profile: Arc::new(NodeProfile {
            priority: i32::MIN,
            labels: labels.map(owned).into_iter().collect::<BTreeMap<_, _>>(),
            lifeline: None,
            version: String::new(),
        }),
        ..peer.record.clone()
    };
    // None, one, another with runs of numbers, and none again.
    for partitions in [None, Some(report(0)), Some(report(7)), None] {
        peer.record.partitions = partitions.map(Arc::new);
        is_registered(&peer.look().await?)?;
        same("the record", only_record(stage).await?, peer.record.clone())?;
    }
    // A process that says nothing of partitions does not inherit what the one before it said.
    peer.record.partitions = Some(Arc::new(report(3)));
    is_registered(&peer.look().await?)?;
    let mut next = stage.peer("a").await;
    next.replaces = Some(peer.boot());
    is_registered(&next.look().await?)?;
    same("the record of the next process", only_record(stage).await?, next.record)
}

/// What a node says of its partitions: it stops so many runs of them, in two task lists.
fn report(runs: u32) -> PartitionReport {
    let lists = ["orders", "mail/eu-1"].map(|list| list.parse().expect("a plain name"));
    let numbers = (0..runs).flat_map(|run| [run * 10, run * 10 + 1]);
    let partitions = numbers.flat_map(|number| {
        lists.each_ref().map(|list: &TaskListId| Partition { list: list.clone(), number })
    });
    let acked = AssignmentVersion { slot: u32::MAX, version: u64::MAX };
    PartitionReport { lineage: Lineage(3), session: 2, acked, stopping: partitions.collect() }
}

async fn the_same_boot_refreshes_its_record(stage: &Stage<'_>) -> Check {
    let mut peer = stage.peer("a").await;
    for load in 0..3 {
        peer.record.load = load;
        is_registered(&peer.look().await?)?;
        same("the record", only_record(stage).await?, peer.record.clone())?;
    }
    Ok(())
}

async fn another_boot_is_refused_whole(stage: &Stage<'_>) -> Check {
    let mut first = stage.peer("a").await;
    is_registered(&first.look().await?)?;
    let mut second = stage.peer("a").await;
    let refused = second.look_and_claim(Claim::Vacant).await?;
    is_taken(&refused, &first)?;
    same("the lease", refused.lease, None)?;

    let held = first.take(Claim::Vacant).await?;
    let refused = second.renew(held).await?;
    is_taken(&refused, &first)?;
    let stands = refused.lease.map(|lease| lease.version);
    same("the version that stands", stands, Some(held))?;
    same("the record", only_record(stage).await?, first.record.clone())?;
    let reply = first.renew(held).await?;
    won(&reply, &first)?;
    Ok(())
}

async fn a_boot_that_is_named_is_replaced(stage: &Stage<'_>) -> Check {
    let mut first = stage.peer("a").await;
    is_registered(&first.look().await?)?;
    let mut second = stage.peer("a").await;
    for wrong in [second.boot(), BootId(0)] {
        second.replaces = Some(wrong);
        is_taken(&second.look().await?, &first)?;
    }
    second.replaces = Some(first.boot());
    is_registered(&second.look().await?)?;
    same("the record", only_record(stage).await?, second.record.clone())?;
    is_registered(&second.look().await?)?;
    is_taken(&first.look().await?, &second)
}

async fn a_node_leaves_and_only_by_its_own_boot(stage: &Stage<'_>) -> Check {
    let mut first = stage.peer("a").await;
    let mut other = stage.peer("b").await;
    is_registered(&first.look().await?)?;
    is_registered(&other.look().await?)?;
    let leave = async |peer: &Peer, boot| {
        let left = first.store.leave(&stage.namespace, peer.id(), boot);
        left.await
    };
    let foreign = leave(&first, other.boot()).await?;
    same("leaving by another boot", foreign, Outcome::Conflict)?;
    let names = async || stage.member_names(&stage.namespace).await;
    same("the members", names().await?, vec!["a".to_owned(), "b".to_owned()])?;
    let left = leave(&first, first.boot()).await?;
    same("leaving", left, Outcome::Applied)?;
    same("the members", names().await?, vec!["b".to_owned()])?;
    let twice = leave(&first, first.boot()).await?;
    same("leaving twice", twice, Outcome::Conflict)?;
    is_registered(&stage.peer("a").await.look().await?)
}

async fn age(stage: &Stage<'_>) -> Result<Option<Duration>, CaseError> {
    let only = members(stage).await?.into_iter().next();
    Ok(present("the only member", only)?.silent_for)
}

async fn members_tell_their_age(stage: &Stage<'_>) -> Check {
    let mut peer = stage.peer("a").await;
    is_registered(&peer.look().await?)?;
    let fresh = present("the age", age(stage).await?)?;
    stage.pass(stage.settings.ttl).await;
    let silent = present("the age", age(stage).await?)?;
    // A real store's clock and the suite's wait may differ a little.
    let least = fresh + stage.settings.ttl * 9 / 10;
    holds("the age", &silent, &format!("at least {least:?}"), silent >= least)?;
    is_registered(&peer.look().await?)?;
    let again = present("the age", age(stage).await?)?;
    holds("the age", &again, &format!("less than {silent:?}"), again < silent)
}

async fn no_age_is_told(stage: &Stage<'_>) -> Check {
    is_registered(&stage.peer("a").await.look().await?)?;
    stage.pass(stage.settings.ttl).await;
    same("the age", age(stage).await?, None)
}
