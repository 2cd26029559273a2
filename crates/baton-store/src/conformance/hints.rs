//! Pushed hints. They may be lost when something fails; here nothing does.

use std::sync::Arc;

use baton_core::protocol::{Claim, Hint, ReleaseReason, Version, View, ViewVersion};

use super::case::{Check, Requirement, cases, present, same};
use super::peer::ask_resign;
use super::stage::Stage;
use crate::capability::Capability;
use crate::contract::HintStream;
use crate::error::StoreError;

cases! { "hints":
    a_release_is_pushed_with_its_version needs Requirement::Capability(Capability::Push) => refused,
    an_ask_and_a_view_are_pushed needs Requirement::Capability(Capability::Push) => refused,
    hints_stay_in_their_namespace needs Requirement::Capability(Capability::Push) => refused,
}

async fn refused(stage: &Stage<'_>) -> Check {
    let store = stage.subject.open().await;
    let found = store.hints(&stage.namespace).await.err();
    let wanted = Some(StoreError::Unsupported(Capability::Push));
    same("subscribing to hints", found, wanted)
}

/// Waits for this hint, past any other, for as long as a lease.
async fn hears(stage: &Stage<'_>, hints: &mut HintStream, wanted: &Hint) -> Check {
    let waiting = async {
        while let Some(hint) = hints.recv().await {
            if hint == *wanted {
                return Some(());
            }
        }
        None
    };
    let heard = tokio::select! {
        biased;
        heard = waiting => heard,
        () = stage.pass(stage.settings.ttl) => None,
    };
    present(&format!("the hint {wanted:?}"), heard)
}

async fn a_release_is_pushed_with_its_version(stage: &Stage<'_>) -> Check {
    let (mut holder, held) = stage.holder("a").await?;
    let heir = stage.peer("b").await;
    let mut hints = heir.store.hints(&stage.namespace).await?;
    let successor = Some(heir.id().clone());
    holder.release(held, successor.clone(), ReleaseReason::Shutdown).await?;
    let version = Version { epoch: held.epoch, nonce: holder.last_nonce() };
    let wanted = Hint::Released { version, successor };
    hears(stage, &mut hints, &wanted).await
}

async fn an_ask_and_a_view_are_pushed(stage: &Stage<'_>) -> Check {
    let (holder, held) = stage.holder("a").await?;
    let other = stage.peer("b").await;
    let mut hints = other.store.hints(&stage.namespace).await?;
    other.store.ask(&stage.namespace, held.epoch, ask_resign(1)).await?;
    hears(stage, &mut hints, &Hint::Asked).await?;
    let view = View {
        version: ViewVersion { epoch: held.epoch, number: 1 },
        coordinator: holder.id().clone(),
        members: vec![],
        successors: vec![],
        certain: 0,
    };
    holder.store.publish_view(&stage.namespace, held.epoch, Arc::new(view)).await?;
    hears(stage, &mut hints, &Hint::ViewMoved).await
}

async fn hints_stay_in_their_namespace(stage: &Stage<'_>) -> Check {
    let elsewhere = stage.subject.namespace("hints_elsewhere");
    let store = stage.subject.open().await;
    let mut hints = store.hints(&elsewhere).await?;
    let (mut holder, held) = stage.holder("a").await?;
    holder.resign(held).await?;

    let mut other = stage.peer_in(&elsewhere, "a").await;
    let held = other.take(Claim::Vacant).await?;
    other.resign(held).await?;
    let mut released = Vec::new();
    while released.is_empty() {
        let heard = tokio::select! {
            biased;
            heard = hints.recv() => heard,
            () = stage.pass(stage.settings.ttl) => None,
        };
        if let Hint::Released { version, .. } = present("a hint", heard)? {
            released.push(version.nonce);
        }
    }
    let wanted = vec![other.last_nonce()];
    same("the first release heard of", released, wanted)
}
