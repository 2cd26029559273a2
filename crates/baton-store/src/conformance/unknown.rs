//! A reply that never came: reading the nonce back tells what happened. Never zero, never two.

use std::sync::Arc;

use baton_core::ids::Epoch;
use baton_core::protocol::{BeatReply, Claim, Failure, Outcome, ReleaseReason};

use super::case::{CaseError, Check, cases, holds, same};
use super::peer::{Peer, lost, shown, won};
use super::stage::Stage;
use crate::error::StoreError;
use crate::wrap::{CallFault, Faults};

cases! { "unknown":
    an_acquire_whose_reply_was_lost_is_found_by_its_nonce,
    an_acquire_that_was_lost_can_be_tried_again,
    a_rival_may_win_while_the_outcome_is_unknown,
    an_acquire_delivered_twice_begins_one_term,
    a_renewal_whose_reply_was_lost_is_found_by_its_nonce,
    a_renewal_delivered_twice_keeps_the_term,
    a_release_whose_reply_was_lost_is_found_by_its_nonce,
    a_request_that_was_turned_away_wrote_nothing,
}

/// A peer whose next call of this kind meets the fault.
async fn unlucky(stage: &Stage<'_>, kind: &'static str, fault: CallFault) -> Peer {
    let broken = Faults::scripted(stage.subject.open().await, [(kind, fault)]);
    stage.peer_on(Arc::new(broken), &stage.namespace, "unlucky")
}

/// The call must have failed, meaning this for the write.
fn failed<T: std::fmt::Debug>(result: Result<T, StoreError>, wanted: Failure) -> Check {
    let found = result.map_err(|error| error.failure());
    let test = matches!(found, Err(failure) if failure == wanted);
    holds("the failure", &found, &format!("{wanted:?}"), test)
}

/// What a look shows, and whether the last attempt is what stands.
async fn read_back(peer: &mut Peer) -> Result<(BeatReply, bool), CaseError> {
    let seen = peer.look().await?;
    let mine = seen.lease.as_ref().is_some_and(|lease| lease.version.nonce == peer.last_nonce());
    Ok((seen, mine))
}

async fn an_acquire_whose_reply_was_lost_is_found_by_its_nonce(stage: &Stage<'_>) -> Check {
    let mut peer = unlucky(stage, "acquire", CallFault::ReplyLost).await;
    failed(peer.look_and_claim(Claim::Vacant).await, Failure::Unknown)?;
    let (seen, mine) = read_back(&mut peer).await?;
    same("the attempt took place", mine, true)?;
    let held = shown(&seen)?.version;
    same("the epoch", held.epoch, Epoch(1))?;

    let mut rival = stage.peer("rival").await;
    let refused = rival.look_and_claim(Claim::Vacant).await?;
    same("the one holder", lost(&refused, held)?.is_held_by(peer.boot()), true)?;
    let reply = peer.renew(held).await?;
    won(&reply, &peer)?;
    same("the terms so far", stage.terms().await?.len(), 1)
}

async fn an_acquire_that_was_lost_can_be_tried_again(stage: &Stage<'_>) -> Check {
    let mut peer = unlucky(stage, "acquire", CallFault::RequestLost).await;
    failed(peer.look_and_claim(Claim::Vacant).await, Failure::Unknown)?;
    let (seen, mine) = read_back(&mut peer).await?;
    same("the attempt took place", mine, false)?;
    let reply = peer.claim(&seen, Claim::Vacant).await?;
    same("the epoch", won(&reply, &peer)?.version.epoch, Epoch(1))
}

async fn a_rival_may_win_while_the_outcome_is_unknown(stage: &Stage<'_>) -> Check {
    let mut peer = unlucky(stage, "acquire", CallFault::RequestLost).await;
    let before = peer.look().await?;
    failed(peer.claim(&before, Claim::Vacant).await, Failure::Unknown)?;
    let (rival, held) = stage.holder("rival").await?;
    let (seen, mine) = read_back(&mut peer).await?;
    same("the attempt took place", mine, false)?;
    same("the one holder", shown(&seen)?.is_held_by(rival.boot()), true)?;
    // The same request, delivered late after all, must find nothing to win.
    let late = peer.claim(&before, Claim::Vacant).await?;
    lost(&late, held)?;
    Ok(())
}

async fn an_acquire_delivered_twice_begins_one_term(stage: &Stage<'_>) -> Check {
    let mut peer = unlucky(stage, "acquire", CallFault::Doubled).await;
    let reply = peer.look_and_claim(Claim::Vacant).await?;
    same("the second outcome", reply.outcome, Some(Outcome::Conflict))?;
    let (seen, mine) = read_back(&mut peer).await?;
    same("the first took place", mine, true)?;
    same("the epoch", shown(&seen)?.version.epoch, Epoch(1))?;
    same("the terms so far", stage.terms().await?.len(), 1)
}

async fn a_renewal_whose_reply_was_lost_is_found_by_its_nonce(stage: &Stage<'_>) -> Check {
    for (fault, took_place) in [(CallFault::ReplyLost, true), (CallFault::RequestLost, false)] {
        let mut peer = unlucky(stage, "renew", fault).await;
        let held = peer.take(Claim::Vacant).await?;
        failed(peer.renew(held).await, Failure::Unknown)?;
        let (seen, mine) = read_back(&mut peer).await?;
        same("the renewal took place", mine, took_place)?;
        let lease = shown(&seen)?;
        same("still held", lease.is_held_by(peer.boot()), true)?;
        same("the epoch", lease.version.epoch, held.epoch)?;
        peer.resign(lease.version).await?;
        peer.store.leave(&stage.namespace, peer.id(), peer.boot()).await?;
    }
    Ok(())
}

async fn a_renewal_delivered_twice_keeps_the_term(stage: &Stage<'_>) -> Check {
    let mut peer = unlucky(stage, "renew", CallFault::Doubled).await;
    let held = peer.take(Claim::Vacant).await?;
    let reply = peer.renew(held).await?;
    same("the second outcome", reply.outcome, Some(Outcome::Conflict))?;
    let (seen, mine) = read_back(&mut peer).await?;
    same("the first took place", mine, true)?;
    let reply = peer.renew(shown(&seen)?.version).await?;
    same("the epoch", won(&reply, &peer)?.version.epoch, held.epoch)
}

async fn a_release_whose_reply_was_lost_is_found_by_its_nonce(stage: &Stage<'_>) -> Check {
    let mut peer = unlucky(stage, "release", CallFault::ReplyLost).await;
    let held = peer.take(Claim::Vacant).await?;
    let released = peer.release(held, None, ReleaseReason::Shutdown).await;
    failed(released, Failure::Unknown)?;
    let (seen, mine) = read_back(&mut peer).await?;
    same("the release took place", mine, true)?;
    same("the holder", &shown(&seen)?.holder, &None)?;
    let epoch = stage.peer("next").await.take(Claim::Vacant).await?.epoch;
    same("the epoch", epoch, Epoch(2))
}

async fn a_request_that_was_turned_away_wrote_nothing(stage: &Stage<'_>) -> Check {
    for fault in [CallFault::Unreachable, CallFault::TurnedAway] {
        let mut peer = unlucky(stage, "acquire", fault).await;
        let before = peer.look().await?;
        failed(peer.claim(&before, Claim::Vacant).await, Failure::NotDone)?;
        let after = peer.look().await?;
        same("the lease", &after.lease, &before.lease)?;
        peer.store.leave(&stage.namespace, peer.id(), peer.boot()).await?;
    }
    Ok(())
}
