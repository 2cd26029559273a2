//! A holder gives up: the holder is cleared, and the epoch goes on from where it was.

use baton_core::ids::Epoch;
use baton_core::protocol::{Claim, Outcome, ReleaseReason};

use super::case::{Check, arranged, cases, holds, same};
use super::peer::{lost, won};
use super::stage::Stage;

cases! { "release":
    a_release_keeps_the_record_and_names_the_successor,
    the_epoch_goes_on_after_a_release,
    the_same_boot_begins_a_new_term_after_a_release,
    a_release_expects_the_version_held,
    a_released_lease_is_neither_expired_nor_dead,
    a_release_after_a_takeover_is_refused,
    the_epoch_goes_on_after_a_restart,
}

async fn a_release_keeps_the_record_and_names_the_successor(stage: &Stage<'_>) -> Check {
    let (mut peer, held) = stage.holder("a").await?;
    let heir = stage.peer("b").await.id().clone();
    let outcome = peer.release(held, Some(heir.clone()), ReleaseReason::Shutdown).await?;
    same("the outcome", outcome, Outcome::Applied)?;
    let lease = stage.lease().await?;
    same("the holder", lease.holder, None)?;
    same("the successor", lease.successor, Some(heir))?;
    same("the epoch", lease.version.epoch, held.epoch)?;
    same("the nonce", lease.version.nonce, peer.last_nonce())
}

async fn the_epoch_goes_on_after_a_release(stage: &Stage<'_>) -> Check {
    for epoch in 1..=4 {
        let (mut peer, held) = stage.holder(&format!("node-{epoch}")).await?;
        same("the epoch", held.epoch, Epoch(epoch))?;
        peer.resign(held).await?;
    }
    Ok(())
}

async fn the_same_boot_begins_a_new_term_after_a_release(stage: &Stage<'_>) -> Check {
    let (mut peer, held) = stage.holder("a").await?;
    peer.resign(held).await?;
    let again = peer.take(Claim::Vacant).await?;
    same("the epoch", again.epoch, Epoch(2))?;
    let reply = peer.renew(held).await?;
    lost(&reply, again)?;
    Ok(())
}

async fn a_release_expects_the_version_held(stage: &Stage<'_>) -> Check {
    let (mut peer, first) = stage.holder("a").await?;
    let reply = peer.renew(first).await?;
    let held = won(&reply, &peer)?.version;
    let early = peer.release(first, None, ReleaseReason::Resigned).await?;
    same("a release of what was held", early, Outcome::Conflict)?;
    let lease = stage.lease().await?;
    same("the version", lease.version, held)?;
    same("still held", lease.is_held_by(peer.boot()), true)?;

    peer.resign(held).await?;
    let vacant = stage.lease().await?.version;
    for expect in [held, vacant] {
        let twice = peer.release(expect, None, ReleaseReason::Resigned).await?;
        same("a second release", twice, Outcome::Conflict)?;
    }
    same("the version", stage.lease().await?.version, vacant)
}

async fn a_released_lease_is_neither_expired_nor_dead(stage: &Stage<'_>) -> Check {
    let (mut peer, held) = stage.holder("a").await?;
    peer.resign(held).await?;
    stage.expire().await;
    let vacant = stage.lease().await?.version;
    let mut rival = stage.peer("b").await;
    let boot = peer.boot();
    for claim in [Claim::Expired, Claim::Dead { boot }] {
        let reply = rival.look_and_claim(claim).await?;
        lost(&reply, vacant)?;
    }
    Ok(())
}

async fn a_release_after_a_takeover_is_refused(stage: &Stage<'_>) -> Check {
    let (mut old, held) = stage.holder("a").await?;
    stage.expire().await;
    let mut new = stage.peer("b").await;
    let taken = new.take(Claim::Expired).await?;
    let late = old.release(held, None, ReleaseReason::WindowClosed).await?;
    same("a late release", late, Outcome::Conflict)?;
    let lease = stage.lease().await?;
    same("the version", lease.version, taken)?;
    same("still held", lease.is_held_by(new.boot()), true)
}

async fn the_epoch_goes_on_after_a_restart(stage: &Stage<'_>) -> Check {
    let (mut peer, held) = stage.holder_at(3).await?;
    peer.resign(held).await?;
    drop(peer);
    arranged("a restart of the store", stage.subject.restart().await)?;
    let before = stage.lease().await?;
    same("the version kept", before.version.epoch, Epoch(3))?;
    let mut next = stage.peer("next").await;
    let seen = next.look().await?;
    let moved = seen.lineage != before.lineage;
    let reply = next.claim(&seen, Claim::Vacant).await?;
    let epoch = won(&reply, &next)?.version.epoch;
    // A store that cannot be sure that nothing was lost may say so, and leap.
    let goes_on = epoch == Epoch(4) || (moved && epoch >= Epoch(4 + Epoch::LEAP));
    holds("the epoch", &epoch, "4, or a leap in a new lineage", goes_on)
}
