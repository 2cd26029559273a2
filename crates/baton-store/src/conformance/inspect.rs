//! Looking without taking part.

use std::sync::Arc;

use baton_core::protocol::{Claim, Outcome, View, ViewVersion};

use super::case::{Check, cases, same};
use super::stage::Stage;

cases! { "inspect":
    an_empty_namespace_has_nothing_to_show,
    an_onlooker_sees_what_a_beat_shows_and_is_not_registered,
}

async fn an_empty_namespace_has_nothing_to_show(stage: &Stage<'_>) -> Check {
    let store = stage.subject.open().await;
    let found = store.inspect(&stage.namespace).await?;
    same("the lease", found.lease, None)?;
    same("the view", found.view, None)?;
    same("the members", stage.member_names(&stage.namespace).await?, vec![])
}

async fn an_onlooker_sees_what_a_beat_shows_and_is_not_registered(stage: &Stage<'_>) -> Check {
    let mut peer = stage.peer("a").await;
    let held = peer.take(Claim::Vacant).await?;
    let view = Arc::new(View {
        version: ViewVersion { epoch: held.epoch, number: 1 },
        coordinator: peer.id().clone(),
        members: vec![],
        successors: vec![],
        certain: 0,
    });
    let published = peer.store.publish_view(&stage.namespace, held.epoch, view.clone()).await?;
    same("the view", published, Outcome::Applied)?;
    let store = stage.subject.open().await;
    let shown = store.inspect(&stage.namespace).await?;
    let lineage = peer.look().await?.lineage;
    same("the lineage", shown.lineage, lineage)?;
    same("the view", shown.view, Some(view))?;
    let holder = shown.lease.as_ref().map(|lease| (lease.version, lease.is_held_by(peer.boot())));
    same("the version, and that it is held", holder, Some((held, true)))?;
    same("the members", stage.member_names(&stage.namespace).await?, vec!["a".to_owned()])
}
