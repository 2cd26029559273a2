//! A term goes on, or is found to be over.

use std::time::Duration;

use baton_core::ids::{BootId, Epoch, Nonce};
use baton_core::protocol::{Claim, Expiry, Outcome, Version};

use super::case::{Check, Requirement, cases, same};
use super::peer::{lost, won};
use super::stage::Stage;

cases! { "renew":
    ten_renewals_keep_the_owner_and_the_epoch,
    a_renewal_after_expiry_is_refused needs Requirement::Expiry => the_holder_judges_its_own_expiry,
    a_renewal_expects_the_version_held,
    a_renewal_needs_a_term,
    a_renewal_after_a_takeover_is_refused,
    a_renewal_may_ask_for_another_ttl,
}

async fn ten_renewals_keep_the_owner_and_the_epoch(stage: &Stage<'_>) -> Check {
    let (mut peer, mut held) = stage.holder("a").await?;
    for _ in 0..10 {
        // Together five times the ttl: each renewal must have moved the expiry.
        stage.pass(stage.settings.ttl / 2).await;
        let reply = peer.renew(held).await?;
        let lease = won(&reply, &peer)?;
        same("the epoch", lease.version.epoch, Epoch(1))?;
        stage.is_live(lease)?;
        held = lease.version;
    }
    same("the terms so far", stage.terms().await?.len(), 1)
}

async fn a_renewal_after_expiry_is_refused(stage: &Stage<'_>) -> Check {
    let (mut peer, held) = stage.holder("a").await?;
    stage.expire().await;
    for _ in 0..2 {
        let reply = peer.renew(held).await?;
        let lease = lost(&reply, held)?;
        same("what is left", lease.expiry, Expiry::Left(Duration::ZERO))?;
    }
    let epoch = peer.take(Claim::Expired).await?.epoch;
    same("the epoch it can have", epoch, Epoch(2))
}

/// The store has no clock: at the right version a renewal is applied, however late.
async fn the_holder_judges_its_own_expiry(stage: &Stage<'_>) -> Check {
    let (mut peer, held) = stage.holder("a").await?;
    stage.expire().await;
    let reply = peer.renew(held).await?;
    same("the epoch", won(&reply, &peer)?.version.epoch, Epoch(1))
}

async fn a_renewal_expects_the_version_held(stage: &Stage<'_>) -> Check {
    let (mut peer, first) = stage.holder("a").await?;
    let reply = peer.renew(first).await?;
    let held = won(&reply, &peer)?.version;
    let wrong_epoch = Version { epoch: Epoch(2), ..held };
    let wrong_attempt =
        Version { nonce: Nonce { attempt: held.nonce.attempt + 100, ..held.nonce }, ..held };
    let wrong_boot =
        Version { nonce: Nonce { boot: BootId(held.nonce.boot.0 + 100), ..held.nonce }, ..held };
    for expect in [first, wrong_epoch, wrong_attempt, wrong_boot] {
        let reply = peer.renew(expect).await?;
        lost(&reply, held)?;
    }
    let reply = peer.renew(held).await?;
    won(&reply, &peer)?;
    Ok(())
}

async fn a_renewal_needs_a_term(stage: &Stage<'_>) -> Check {
    let mut early = stage.peer("a").await;
    let nothing = Version { epoch: Epoch::NONE, nonce: early.last_nonce() };
    let reply = early.renew(nothing).await?;
    same("the outcome", reply.outcome, Some(Outcome::Conflict))?;
    same("the lease", reply.lease, None)?;

    let (mut peer, held) = stage.holder("b").await?;
    peer.resign(held).await?;
    let vacant = stage.lease().await?.version;
    for expect in [held, vacant] {
        let reply = peer.renew(expect).await?;
        let holder = &lost(&reply, vacant)?.holder;
        same("the holder", holder, &None)?;
    }
    Ok(())
}

async fn a_renewal_after_a_takeover_is_refused(stage: &Stage<'_>) -> Check {
    let (mut old, held) = stage.holder("a").await?;
    stage.expire().await;
    let mut new = stage.peer("b").await;
    let taken = new.take(Claim::Expired).await?;
    let reply = old.renew(held).await?;
    same("the new holder", lost(&reply, taken)?.is_held_by(new.boot()), true)?;
    let reply = new.renew(taken).await?;
    won(&reply, &new)?;
    Ok(())
}

async fn a_renewal_may_ask_for_another_ttl(stage: &Stage<'_>) -> Check {
    let (mut peer, mut held) = stage.holder("a").await?;
    for ttl in [stage.settings.ttl * 3, stage.settings.ttl] {
        peer.ttl = ttl;
        let reply = peer.renew(held).await?;
        let lease = won(&reply, &peer)?;
        same("the ttl", lease.ttl, ttl)?;
        held = lease.version;
    }
    stage.is_live(&stage.lease().await?)
}
