//! A process that is gone: what a store that knows it may do, and one that does not may not.

use baton_core::protocol::{Claim, Expiry, Registration, ReleaseReason, TermEnd};

use super::case::{Check, Requirement, arranged, cases, same};
use super::peer::{Peer, lost, won};
use super::stage::Stage;
use crate::capability::{Capability, ExpiryClock};

cases! { "deaths":
    the_lease_of_a_dead_process_is_over_at_once
        needs Requirement::Capability(Capability::DeathProof) => a_death_goes_unnoticed,
    the_id_of_a_dead_process_is_free_at_once
        needs Requirement::Capability(Capability::DeathProof) => a_death_goes_unnoticed,
    a_death_frees_no_other_lease
        needs Requirement::Capability(Capability::DeathProof) => a_death_goes_unnoticed,
    a_claim_of_death_is_refused_while_the_process_lives
        needs Requirement::Capability(Capability::DeathProof) => a_death_goes_unnoticed,
    a_dead_successor_is_not_waited_for
        needs Requirement::Capability(Capability::DeathProof) => a_death_goes_unnoticed,
}

const DEATH: &str = "the death of a process";

impl Stage<'_> {
    /// The process dies, where the store would see that it lives.
    pub(super) async fn bury(&self, peer: &Peer) -> Check {
        match self.declaration.has(Capability::DeathProof) {
            true => arranged(DEATH, self.subject.kill(peer.boot()).await),
            false => Ok(()),
        }
    }
}

async fn the_lease_of_a_dead_process_is_over_at_once(stage: &Stage<'_>) -> Check {
    let (holder, held) = stage.holder("a").await?;
    arranged(DEATH, stage.subject.kill(holder.boot()).await)?;
    let mut heir = stage.peer("b").await;
    let seen = heir.look().await?;
    let expiry = seen.lease.as_ref().map(|lease| lease.expiry);
    same("what is left", expiry, Some(Expiry::Left(std::time::Duration::ZERO)))?;
    let reply = heir.claim(&seen, Claim::Expired).await?;
    same("the epoch", won(&reply, &heir)?.version.epoch, held.epoch.next())?;
    let terms = stage.terms().await?;
    let ended = terms.get(1).and_then(|term| term.ended).map(|(_, end)| end);
    same("how the last term ended", ended, Some(TermEnd::ProvedDead))
}

async fn the_id_of_a_dead_process_is_free_at_once(stage: &Stage<'_>) -> Check {
    let mut first = stage.peer("a").await;
    first.look().await?;
    arranged(DEATH, stage.subject.kill(first.boot()).await)?;
    let again = stage.peer("a").await.look().await?;
    same("the registration", again.registration, Registration::Registered)
}

async fn a_death_frees_no_other_lease(stage: &Stage<'_>) -> Check {
    let (holder, held) = stage.holder("a").await?;
    let mut other = stage.peer("b").await;
    other.look().await?;
    arranged(DEATH, stage.subject.kill(other.boot()).await)?;
    stage.is_live(&stage.lease().await?)?;
    let mut rival = stage.peer("c").await;
    let refused = rival.look_and_claim(Claim::Expired).await?;
    lost(&refused, held)?;
    let again = stage.peer(holder.id().as_str()).await.look().await?;
    let taken = matches!(again.registration, Registration::TakenBy { .. });
    same("that the holder's id is taken", taken, true)
}

/// Whatever the claimant believes: a firewall may have refused it.
async fn a_claim_of_death_is_refused_while_the_process_lives(stage: &Stage<'_>) -> Check {
    let (holder, held) = stage.holder("a").await?;
    let boot = holder.boot();
    let mut rival = stage.peer("b").await;
    for _ in 0..2 {
        let refused = rival.look_and_claim(Claim::Dead { boot }).await?;
        stage.is_live(lost(&refused, held)?)?;
    }
    Ok(())
}

async fn a_dead_successor_is_not_waited_for(stage: &Stage<'_>) -> Check {
    let (mut holder, held) = stage.holder("a").await?;
    let mut named = stage.peer("b").await;
    named.look().await?;
    let successor = Some(named.id().clone());
    holder.release(held, successor.clone(), ReleaseReason::Resigned).await?;
    same("the successor, alive", stage.lease().await?.successor, successor)?;
    arranged(DEATH, stage.subject.kill(named.boot()).await)?;
    same("the successor, dead", stage.lease().await?.successor, None)
}

/// A store that does not declare it must not guess.
async fn a_death_goes_unnoticed(stage: &Stage<'_>) -> Check {
    let (holder, held) = stage.holder("a").await?;
    arranged(DEATH, stage.subject.kill(holder.boot()).await)?;
    stage.is_live(&stage.lease().await?)?;
    if stage.declaration.expiry != ExpiryClock::Observer {
        let mut rival = stage.peer("b").await;
        let refused = rival.look_and_claim(Claim::Expired).await?;
        lost(&refused, held)?;
    }
    let again = stage.peer("a").await.look().await?;
    let taken = matches!(again.registration, Registration::TakenBy { .. });
    same("that the id is taken", taken, true)
}
