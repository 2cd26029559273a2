//! Requests to the holder: kept beside the lease until the term ends.

use baton_core::ids::Epoch;
use baton_core::protocol::{Ask, HandoverKind, Outcome};

use super::case::{Check, cases, same};
use super::peer::{ask_resign, won};
use super::stage::Stage;

cases! { "asks":
    an_ask_stays_until_the_term_ends,
    an_ask_is_for_one_term,
}

async fn an_ask_stays_until_the_term_ends(stage: &Stage<'_>) -> Check {
    let (mut holder, held) = stage.holder("a").await?;
    let other = stage.peer("b").await;
    let wish = HandoverKind::Transfer(other.id().clone());
    let transfer = Ask { wish, ..ask_resign(2) };
    for ask in [ask_resign(1), transfer.clone()] {
        let outcome = other.store.ask(&stage.namespace, held.epoch, ask.clone());
        same("the outcome", outcome.await?, Outcome::Applied)?;
        let lease = stage.lease().await?;
        same("what is asked", lease.asked, Some(ask))?;
        same("the version, which an ask leaves alone", lease.version, held)?;
    }
    let reply = holder.renew(held).await?;
    let lease = won(&reply, &holder)?;
    same("what is asked after a renewal", &lease.asked, &Some(transfer))?;
    holder.resign(lease.version).await?;
    same("what is asked after the term", stage.lease().await?.asked, None)
}

async fn an_ask_is_for_one_term(stage: &Stage<'_>) -> Check {
    let store = stage.subject.open().await;
    let early = store.ask(&stage.namespace, Epoch(1), ask_resign(1)).await?;
    same("an ask before the first term", early, Outcome::Conflict)?;
    let (mut holder, held) = stage.holder_at(2).await?;
    for epoch in [Epoch(1), Epoch(3)] {
        let outcome = store.ask(&stage.namespace, epoch, ask_resign(2)).await?;
        same("an ask of another term", outcome, Outcome::Conflict)?;
    }
    same("what is asked", stage.lease().await?.asked, None)?;
    holder.resign(held).await?;
    let late = store.ask(&stage.namespace, Epoch(2), ask_resign(3)).await?;
    same("an ask without a holder", late, Outcome::Conflict)
}
