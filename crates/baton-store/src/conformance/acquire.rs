//! A new term begins: its epoch, its holder, and what it leaves behind.

use baton_core::ids::Epoch;
use baton_core::protocol::{Claim, Outcome, Registration, ReleaseReason};

use super::case::{Check, cases, present, same};
use super::peer::{ask_resign, lost, shown, won};
use super::stage::Stage;

cases! { "acquire":
    a_new_lease_is_epoch_one,
    the_same_boot_again_changes_nothing,
    the_floor_lifts_the_epoch,
    a_low_floor_does_not_lower_the_epoch,
    a_new_term_is_asked_nothing_and_names_no_successor,
}

async fn a_new_lease_is_epoch_one(stage: &Stage<'_>) -> Check {
    let mut peer = stage.peer("a").await;
    let before = peer.look().await?;
    same("the lease before", before.lease.clone(), None)?;
    same("the outcome of a look", before.outcome, None)?;
    let reply = peer.claim(&before, Claim::Vacant).await?;
    same("the registration", &reply.registration, &Registration::Registered)?;
    let lease = won(&reply, &peer)?;
    same("the epoch", lease.version.epoch, Epoch(1))?;
    same("the ttl", lease.ttl, stage.settings.ttl)?;
    same("the lineage", lease.lineage, reply.lineage)?;
    stage.is_live(lease)?;
    let holder = present("the holder", lease.holder.as_ref())?;
    same("the holder's node", &holder.node, peer.id())?;
    same("its lifeline", &holder.lifeline, &peer.record.profile.lifeline)?;
    same("what others see", stage.lease().await?.version, lease.version)
}

async fn the_same_boot_again_changes_nothing(stage: &Stage<'_>) -> Check {
    let (mut peer, held) = stage.holder("a").await?;
    let again = peer.look_and_claim(Claim::Vacant).await?;
    same("still held", lost(&again, held)?.is_held_by(peer.boot()), true)?;
    let reply = peer.renew(held).await?;
    same("the epoch", won(&reply, &peer)?.version.epoch, held.epoch)?;
    same("the terms so far", stage.terms().await?.len(), 1)
}

async fn the_floor_lifts_the_epoch(stage: &Stage<'_>) -> Check {
    let mut first = stage.peer("a").await;
    first.floor = Epoch(41);
    let held = first.take(Claim::Vacant).await?;
    same("the first epoch", held.epoch, Epoch(42))?;
    first.resign(held).await?;
    let mut second = stage.peer("b").await;
    second.floor = Epoch(99);
    let epoch = second.take(Claim::Vacant).await?.epoch;
    same("the second epoch", epoch, Epoch(100))
}

async fn a_low_floor_does_not_lower_the_epoch(stage: &Stage<'_>) -> Check {
    let (mut holder, held) = stage.holder_at(3).await?;
    holder.resign(held).await?;
    let mut next = stage.peer("b").await;
    next.floor = Epoch(1);
    let epoch = next.take(Claim::Vacant).await?.epoch;
    same("the epoch", epoch, Epoch(4))
}

async fn a_new_term_is_asked_nothing_and_names_no_successor(stage: &Stage<'_>) -> Check {
    let (mut holder, held) = stage.holder("a").await?;
    let ask = holder.store.ask(&stage.namespace, held.epoch, ask_resign(1));
    same("the ask", ask.await?, Outcome::Applied)?;
    let mut next = stage.peer("b").await;
    let successor = Some(next.id().clone());
    holder.release(held, successor.clone(), ReleaseReason::Transferred).await?;
    let seen = next.look().await?;
    same("who is named", &shown(&seen)?.successor, &successor)?;
    let reply = next.claim(&seen, Claim::Vacant).await?;
    let lease = won(&reply, &next)?;
    same("who is named in the new term", &lease.successor, &None)?;
    same("what the new term is asked", &lease.asked, &None)
}
