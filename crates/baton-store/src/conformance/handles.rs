//! Several handles on one store: what one writes, every other sees at once.

use baton_core::protocol::{Claim, Expiry};

use super::case::{Check, cases, holds, same};
use super::peer::{lost, shown, won};
use super::stage::Stage;
use crate::capability::ExpiryClock;
use crate::document::{Document, Precondition};

cases! { "handles":
    every_handle_declares_the_same,
    a_lease_tells_time_by_the_declared_clock,
    what_one_handle_writes_another_sees_at_once,
}

async fn every_handle_declares_the_same(stage: &Stage<'_>) -> Check {
    let declared = stage.subject.open().await.declaration();
    same("the declaration", &declared, &stage.declaration)?;
    let named = !declared.name.is_empty();
    holds("the name", &declared.name, "one for reports", named)
}

async fn a_lease_tells_time_by_the_declared_clock(stage: &Stage<'_>) -> Check {
    stage.holder("a").await?;
    let told = stage.lease().await?.expiry;
    let observer = stage.declaration.expiry == ExpiryClock::Observer;
    let found = told == Expiry::Observer;
    same("that only the observer can tell", found, observer)
}

async fn what_one_handle_writes_another_sees_at_once(stage: &Stage<'_>) -> Check {
    let mut one = stage.peer("a").await;
    let mut other = stage.peer("b").await;
    let mut held = one.take(Claim::Vacant).await?;
    for round in 1..=20_u64 {
        let reply = one.renew(held).await?;
        held = won(&reply, &one)?.version;
        let seen = other.look().await?;
        same("the version", shown(&seen)?.version, held)?;
        let refused = other.claim(&seen, Claim::Vacant).await?;
        lost(&refused, held)?;

        let body = vec![u8::try_from(round).expect("at most 20")];
        one.store
            .write_document(&stage.namespace, "d", body.clone(), Precondition::Any, None)
            .await?;
        let read = other.store.read_document(&stage.namespace, "d").await?;
        let version = round;
        same("the document", read, Some(Document { version, body }))?;
    }
    Ok(())
}
