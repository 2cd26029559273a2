//! The store's data went back to an older copy: no epoch comes back with it.

use std::time::Duration;

use baton_core::ids::Epoch;
use baton_core::protocol::{BeatReply, Claim};

use super::case::{CaseError, Check, Requirement, arranged, cases, holds, same};
use super::peer::{lost, shown, won};
use super::stage::Stage;
use crate::capability::Capability;

cases! { "lineage":
    a_claim_of_the_old_lineage_is_refused
        needs Requirement::Capability(Capability::Lineage) => the_lineage_never_changes,
    the_epoch_leaps_once_in_a_new_lineage
        needs Requirement::Capability(Capability::Lineage) => the_lineage_never_changes,
    the_same_copy_restored_twice_grants_no_epoch_twice
        needs Requirement::Capability(Capability::Lineage) => the_lineage_never_changes,
    a_copy_from_before_the_first_term_leaps_too
        needs Requirement::Capability(Capability::Lineage) => the_lineage_never_changes,
    a_renewal_shows_that_the_holder_is_still_there
        needs Requirement::Capability(Capability::Lineage) => the_lineage_never_changes,
    a_renewal_of_the_old_lineage_is_refused
        needs Requirement::Capability(Capability::Lineage) => the_lineage_never_changes,
    the_floor_keeps_epochs_going_up,
}

const RESTORED_WITHIN: Duration = Duration::from_secs(300);

const COPY: &str = "restoring an older copy";

async fn keep_copy(stage: &Stage<'_>) -> Check {
    arranged(COPY, stage.subject.keep_copy(&stage.namespace).await)
}

async fn restore(stage: &Stage<'_>) -> Check {
    let restored = stage.subject.restore_copy(&stage.namespace).await;
    arranged(COPY, restored.map(|()| true))
}

/// The epoch must be beyond all that can have been granted and lost since `stored`.
fn leapt(what: &str, epoch: Epoch, stored: Epoch) -> Check {
    let least = stored.next().0 + Epoch::LEAP;
    holds(what, &epoch, &format!("at least {least}"), epoch.0 >= least)
}

/// A copy is kept with epoch 1 vacant, terms go on until epoch 3, and the copy comes back. Says
/// what was seen just before.
async fn go_back(stage: &Stage<'_>) -> Result<BeatReply, CaseError> {
    let (mut peer, held) = stage.holder("a").await?;
    peer.resign(held).await?;
    keep_copy(stage).await?;
    for _ in 2..=3 {
        let held = peer.take(Claim::Vacant).await?;
        peer.resign(held).await?;
    }
    let seen = peer.look().await?;
    same("the epoch before", shown(&seen)?.version.epoch, Epoch(3))?;
    restore(stage).await?;
    same("the epoch restored", stage.lease().await?.version.epoch, Epoch(1))?;
    Ok(seen)
}

async fn a_claim_of_the_old_lineage_is_refused(stage: &Stage<'_>) -> Check {
    let before = go_back(stage).await?;
    let mut peer = stage.peer("b").await;
    let after = peer.look().await?;
    let moved = after.lineage != before.lineage;
    holds("the lineage", &after.lineage, "another than before", moved)?;
    let stale = BeatReply { lineage: before.lineage, ..after.clone() };
    let vacant = shown(&after)?.version;
    for seen in [&before, &stale] {
        let reply = peer.claim(seen, Claim::Vacant).await?;
        lost(&reply, vacant)?;
    }
    Ok(())
}

async fn the_epoch_leaps_once_in_a_new_lineage(stage: &Stage<'_>) -> Check {
    go_back(stage).await?;
    let (mut first, held) = stage.holder("b").await?;
    leapt("the epoch", held.epoch, Epoch(1))?;
    first.resign(held).await?;
    let (_, next) = stage.holder("c").await?;
    same("the epoch after", next.epoch, held.epoch.next())
}

async fn the_same_copy_restored_twice_grants_no_epoch_twice(stage: &Stage<'_>) -> Check {
    go_back(stage).await?;
    let mut highest = Epoch(3);
    for time in 1..=3 {
        // No trace is left of what was granted: no floor, and no peer from before.
        let (_, held) = stage.holder(&format!("node-{time}")).await?;
        let wanted = format!("more than {highest}");
        holds("the epoch", &held.epoch, &wanted, held.epoch > highest)?;
        highest = held.epoch;
        restore(stage).await?;
    }
    Ok(())
}

async fn a_copy_from_before_the_first_term_leaps_too(stage: &Stage<'_>) -> Check {
    let mut peer = stage.peer("a").await;
    peer.look().await?;
    keep_copy(stage).await?;
    let first = peer.take(Claim::Vacant).await?;
    same("the first epoch", first.epoch, Epoch(1))?;
    restore(stage).await?;
    let mut other = stage.peer("b").await;
    let seen = other.look().await?;
    same("the lease restored", &seen.lease, &None)?;
    let reply = other.claim(&seen, Claim::Vacant).await?;
    let epoch = won(&reply, &other)?.version.epoch;
    leapt("the epoch", epoch, Epoch::NONE)
}

async fn a_renewal_shows_that_the_holder_is_still_there(stage: &Stage<'_>) -> Check {
    let mut peer = stage.peer("a").await;
    // Restoring a copy may take longer than a lease of the suite's.
    peer.ttl = RESTORED_WITHIN;
    let held = peer.take(Claim::Vacant).await?;
    keep_copy(stage).await?;
    restore(stage).await?;
    let seen = peer.look().await?;
    let lease = shown(&seen)?;
    let behind = lease.lineage != seen.lineage;
    holds("the lease's lineage", &lease.lineage, "the old one", behind)?;
    let renewed = peer.renew(held).await?;
    let lease = won(&renewed, &peer)?;
    same("the lease's lineage", lease.lineage, seen.lineage)?;
    same("the epoch", lease.version.epoch, held.epoch)?;
    // A term that went on in the new lineage was granted in the old one: the next still leaps.
    peer.resign(lease.version).await?;
    let (_, next) = stage.holder("b").await?;
    leapt("the next epoch", next.epoch, held.epoch)
}

/// A renewal that was under way while the data went back must not land on the older copy.
async fn a_renewal_of_the_old_lineage_is_refused(stage: &Stage<'_>) -> Check {
    let (mut peer, held) = stage.holder("a").await?;
    keep_copy(stage).await?;
    restore(stage).await?;
    let reply = peer.renew(held).await?;
    lost(&reply, held)?;
    Ok(())
}

/// The store cannot tell that its data went back, and does not pretend to.
async fn the_lineage_never_changes(stage: &Stage<'_>) -> Check {
    let before = go_back(stage).await?;
    let mut peer = stage.peer("b").await;
    let after = peer.look().await?;
    same("the lineage", after.lineage, before.lineage)?;
    let reply = peer.claim(&after, Claim::Vacant).await?;
    let epoch = won(&reply, &peer)?.version.epoch;
    same("the epoch, without a floor", epoch, Epoch(2))
}

async fn the_floor_keeps_epochs_going_up(stage: &Stage<'_>) -> Check {
    let before = go_back(stage).await?;
    let highest = shown(&before)?.version.epoch;
    let mut peer = stage.peer("b").await;
    peer.floor = highest;
    let epoch = peer.take(Claim::Vacant).await?.epoch;
    let wanted = format!("more than {highest}");
    holds("the epoch", &epoch, &wanted, epoch > highest)
}
