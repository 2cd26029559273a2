//! Claims that hold and claims that do not. The loser learns why, and nothing changes.

use baton_core::ids::{BootId, Epoch, Lineage};
use baton_core::protocol::{BeatReply, Claim, Expiry, LeaseSnapshot, Outcome};

use super::case::{Check, Requirement, cases, holds, same};
use super::peer::{Peer, lost, won};
use super::stage::Stage;

cases! { "claims":
    a_held_lease_is_not_vacant,
    a_live_lease_is_refused_whatever_the_ttl
        needs Requirement::Expiry => the_claimant_judges_expiry,
    an_expired_lease_goes_to_the_next,
    a_proved_death_ends_a_live_term,
    the_wrong_boot_proves_nothing,
    a_claim_expects_the_version_it_saw,
    an_absent_lease_is_only_vacant,
    a_claim_from_another_lineage_is_refused,
}

/// The reply to a refused claim must name the owner, the epoch and the time left.
fn is_told(stage: &Stage<'_>, lease: &LeaseSnapshot, holder: &Peer) -> Check {
    let told = lease.holder.as_ref().map(|told| (&told.node, told.boot));
    same("the owner told", told, Some((holder.id(), holder.boot())))?;
    stage.is_live(lease)
}

async fn a_held_lease_is_not_vacant(stage: &Stage<'_>) -> Check {
    let (holder, held) = stage.holder("a").await?;
    let mut rival = stage.peer("b").await;
    let reply = rival.look_and_claim(Claim::Vacant).await?;
    is_told(stage, lost(&reply, held)?, &holder)
}

async fn a_live_lease_is_refused_whatever_the_ttl(stage: &Stage<'_>) -> Check {
    let (holder, held) = stage.holder("a").await?;
    let (ttl, passed) = (stage.settings.ttl, stage.settings.ttl / 4);
    stage.pass(passed).await;
    let mut least = stage.lease().await?.expiry;
    let mut rival = stage.peer("b").await;
    for wanted in [ttl / 2, ttl, ttl * 20] {
        rival.ttl = wanted;
        let reply = rival.look_and_claim(Claim::Expired).await?;
        let lease = lost(&reply, held)?;
        is_told(stage, lease, &holder)?;
        same("the holder's ttl", lease.ttl, ttl)?;
        let moved = matches!((least, lease.expiry),
            (Expiry::Left(before), Expiry::Left(after)) if after > before);
        let most = format!("at most {least:?}");
        holds("what is left", &lease.expiry, &most, !moved)?;
        least = lease.expiry;
    }
    stage.pass(ttl - passed + stage.settings.lateness).await;
    let epoch = rival.take(Claim::Expired).await?.epoch;
    same("the epoch once it is over", epoch, Epoch(2))
}

/// The store has no clock: it takes the claimant's word, but only at the version it watched.
async fn the_claimant_judges_expiry(stage: &Stage<'_>) -> Check {
    let (mut holder, held) = stage.holder("a").await?;
    let mut rival = stage.peer("b").await;
    let watched = rival.look().await?;
    let renewed = holder.renew(held).await?;
    let stands = won(&renewed, &holder)?.version;
    let reply = rival.claim(&watched, Claim::Expired).await?;
    is_told(stage, lost(&reply, stands)?, &holder)?;
    let epoch = rival.take(Claim::Expired).await?.epoch;
    same("the epoch", epoch, Epoch(2))
}

async fn an_expired_lease_goes_to_the_next(stage: &Stage<'_>) -> Check {
    let (mut old, held) = stage.holder("a").await?;
    stage.expire().await;
    let mut rival = stage.peer("b").await;
    let seen = rival.look().await?;
    for claim in [Claim::Vacant, Claim::Dead { boot: rival.boot() }] {
        let reply = rival.claim(&seen, claim).await?;
        lost(&reply, held)?;
    }
    let taken = rival.take(Claim::Expired).await?;
    same("the epoch", taken.epoch, Epoch(2))?;
    let late = old.renew(held).await?;
    lost(&late, taken)?;
    Ok(())
}

async fn a_proved_death_ends_a_live_term(stage: &Stage<'_>) -> Check {
    let (dead, _) = stage.holder("a").await?;
    let boot = dead.boot();
    stage.bury(&dead).await?;
    let taken = stage.peer("b").await.take(Claim::Dead { boot }).await?;
    same("the epoch", taken.epoch, Epoch(2))
}

async fn the_wrong_boot_proves_nothing(stage: &Stage<'_>) -> Check {
    let (holder, held) = stage.holder("a").await?;
    let mut rival = stage.peer("b").await;
    let (low_half, high_half) = (holder.boot().0 << 64 >> 64, holder.boot().0 >> 64 << 64);
    for boot in [rival.boot(), BootId(low_half), BootId(high_half)] {
        let reply = rival.look_and_claim(Claim::Dead { boot }).await?;
        is_told(stage, lost(&reply, held)?, &holder)?;
    }
    Ok(())
}

async fn a_claim_expects_the_version_it_saw(stage: &Stage<'_>) -> Check {
    let mut rival = stage.peer("b").await;
    let never = rival.look().await?;
    let (mut holder, first) = stage.holder("a").await?;
    let live = rival.look().await?;
    let renewed = holder.renew(first).await?;
    let held = won(&renewed, &holder)?.version;
    let boot = holder.boot();
    stage.expire().await;
    for seen in [&never, &live] {
        for claim in [Claim::Vacant, Claim::Expired, Claim::Dead { boot }] {
            let reply = rival.claim(seen, claim).await?;
            lost(&reply, held)?;
        }
    }
    holder.resign(held).await?;
    let vacant = stage.lease().await?.version;
    for seen in [&never, &live, &renewed] {
        let reply = rival.claim(seen, Claim::Vacant).await?;
        lost(&reply, vacant)?;
    }
    Ok(())
}

async fn an_absent_lease_is_only_vacant(stage: &Stage<'_>) -> Check {
    let mut peer = stage.peer("a").await;
    let never = peer.look().await?;
    let other = stage.subject.namespace("the_version_of_another");
    let mut elsewhere = stage.peer_in(&other, "a").await;
    let foreign = elsewhere.look_and_claim(Claim::Vacant).await?;
    let boot = peer.boot();
    let unfounded = [Claim::Expired, Claim::Dead { boot }].map(|claim| (&never, claim));
    for (seen, claim) in unfounded.into_iter().chain([(&foreign, Claim::Vacant)]) {
        let reply = peer.claim(seen, claim).await?;
        same("the outcome", reply.outcome, Some(Outcome::Conflict))?;
        same("the lease", reply.lease, None)?;
    }
    Ok(())
}

async fn a_claim_from_another_lineage_is_refused(stage: &Stage<'_>) -> Check {
    let (mut holder, held) = stage.holder("a").await?;
    holder.resign(held).await?;
    let mut rival = stage.peer("b").await;
    let seen = rival.look().await?;
    let vacant = stage.lease().await?.version;
    let elsewhere = BeatReply { lineage: Lineage(seen.lineage.0.wrapping_add(1)), ..seen.clone() };
    let reply = rival.claim(&elsewhere, Claim::Vacant).await?;
    lost(&reply, vacant)?;
    let reply = rival.claim(&seen, Claim::Vacant).await?;
    won(&reply, &rival)?;
    Ok(())
}
