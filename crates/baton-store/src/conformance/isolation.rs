//! Namespaces share a store and nothing else, however alike their names are.

use std::sync::Arc;

use baton_core::ids::{Epoch, Namespace};
use baton_core::protocol::{Claim, Outcome, Registration, View, ViewVersion};

use super::case::{CaseError, Check, cases, holds, same};
use super::peer::shown;
use super::stage::Stage;
use crate::document::{Precondition, WriteOutcome};

cases! { "isolation":
    namespaces_with_names_alike_do_not_touch,
    node_ids_differ_by_case,
    a_release_in_one_namespace_frees_no_other,
    namespaces_are_listed_in_order_and_in_pages,
}

/// Names that a careless key, prefix, pattern or collation would take for one another.
fn alike(stage: &Stage<'_>) -> Result<Vec<Namespace>, CaseError> {
    let base = &stage.namespace;
    let name = |suffix: &str| {
        let made = Namespace::new(&format!("{base}{suffix}"));
        made.map_err(|error| {
            CaseError::Wrong(format!("the subject's namespace is too long: {error}"))
        })
    };
    ["", "-x", "-X", "_x", ".x", ":x", ":x:lease", "-xx"].into_iter().map(name).collect()
}

async fn namespaces_with_names_alike_do_not_touch(stage: &Stage<'_>) -> Check {
    let spaces = alike(stage)?;
    let store = stage.subject.open().await;
    for (at, space) in spaces.iter().enumerate() {
        let mut peer = stage.peer_in(space, "same").await;
        peer.floor = Epoch(at as u64 * 10);
        let held = peer.take(Claim::Vacant).await?;
        same("the epoch", held.epoch, peer.floor.next())?;
        let body = space.as_str().as_bytes().to_vec();
        let write = store.write_document(space, "d", body, Precondition::Absent, Some(held.epoch));
        same("the write", write.await?, WriteOutcome::Written(1))?;
        let view = View {
            version: ViewVersion { epoch: held.epoch, number: 1 },
            coordinator: peer.id().clone(),
            members: vec![],
            successors: vec![],
            certain: 0,
        };
        let published = store.publish_view(space, held.epoch, Arc::new(view)).await?;
        same("the view", published, Outcome::Applied)?;
    }
    for (at, space) in spaces.iter().enumerate() {
        let epoch = Epoch(at as u64 * 10).next();
        let history = store.history(space, 10).await?;
        let epochs: Vec<Epoch> = history.iter().map(|term| term.epoch).collect();
        same("the terms", epochs, vec![epoch])?;
        let names = stage.member_names(space).await?;
        same("the members", names, vec!["same".to_owned()])?;
        let body = store.read_document(space, "d").await?.map(|read| read.body);
        same("the document", body, Some(space.as_str().as_bytes().to_vec()))?;
        let reply = stage.peer_in(space, "reader").await.look().await?;
        let view = reply.view.map(|view| view.version.epoch);
        same("the view's epoch", view, Some(epoch))?;
        let lease = reply.lease.map(|lease| lease.version.epoch);
        same("the lease's epoch", lease, Some(epoch))?;
    }
    Ok(())
}

async fn node_ids_differ_by_case(stage: &Stage<'_>) -> Check {
    for name in ["web-a", "Web-A", "WEB-A"] {
        let reply = stage.peer(name).await.look().await?;
        same(name, reply.registration, Registration::Registered)?;
    }
    let names = stage.member_names(&stage.namespace).await?;
    same("how many members", names.len(), 3)
}

async fn a_release_in_one_namespace_frees_no_other(stage: &Stage<'_>) -> Check {
    let other = stage.subject.namespace("isolation_other");
    let mut elsewhere = stage.peer_in(&other, "a").await;
    let kept = elsewhere.take(Claim::Vacant).await?;
    let (mut peer, held) = stage.holder("a").await?;
    peer.resign(held).await?;
    stage.holder("b").await?;
    let seen = elsewhere.look().await?;
    let lease = shown(&seen)?;
    same("the version elsewhere", lease.version, kept)?;
    same("the holder elsewhere", lease.is_held_by(elsewhere.boot()), true)
}

async fn namespaces_are_listed_in_order_and_in_pages(stage: &Stage<'_>) -> Check {
    let mut spaces = alike(stage)?.split_off(1);
    for space in &spaces {
        stage.peer_in(space, "a").await.take(Claim::Vacant).await?;
    }
    spaces.sort();
    let store = stage.subject.open().await;
    let mut after = stage.namespace.clone();
    for page in spaces.chunks(3) {
        let limit = u32::try_from(page.len()).expect("it is three at most");
        let found = store.namespaces(&stage.namespace, Some(after.clone()), limit).await?;
        same("the page", found, page.to_vec())?;
        after = page.last().cloned().unwrap_or(after);
    }
    let first = store.namespaces(&stage.namespace, None, u32::MAX).await?;
    holds("the first page", &first, "all of them", spaces.iter().all(|it| first.contains(it)))
}
