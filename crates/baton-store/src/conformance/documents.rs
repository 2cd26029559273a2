//! Documents: preconditions, versions, and the fence that outlasts any pause.

use std::sync::Arc;

use baton_core::ids::Epoch;
use baton_core::protocol::{Claim, View, ViewVersion};

use super::case::{CaseError, Check, cases, holds, present, same};
use super::stage::Stage;
use crate::document::Precondition::{Absent, Any, Version};
use crate::document::WriteOutcome::{self, Conflict, Fenced, Written};
use crate::document::{Document, Precondition};
use crate::error::StoreError;
use crate::prune::Prune;

cases! { "documents":
    a_document_is_created_once,
    a_write_expects_the_version_it_read,
    a_body_comes_back_as_it_was_written,
    names_differ_by_every_character,
    a_write_of_an_earlier_term_is_fenced,
    the_fence_stands_after_a_release,
    a_later_fence_that_was_seen_holds_too,
    an_epoch_that_is_never_granted_is_refused_and_raises_nothing,
    the_highest_epoch_is_granted_once_and_then_none,
}

async fn write(
    stage: &Stage<'_>,
    name: &str,
    body: &[u8],
    precondition: Precondition,
    fence: Option<Epoch>,
) -> Result<WriteOutcome, CaseError> {
    let store = stage.subject.open().await;
    let write = store.write_document(&stage.namespace, name, body.to_vec(), precondition, fence);
    Ok(write.await?)
}

async fn read(stage: &Stage<'_>, name: &str) -> Result<Option<Document>, CaseError> {
    let store = stage.subject.open().await;
    Ok(store.read_document(&stage.namespace, name).await?)
}

fn document(version: u64, body: &[u8]) -> Option<Document> {
    let body = body.to_vec();
    Some(Document { version, body })
}

/// A write may know of an epoch that the lease does not, because the store has lost its grant.
async fn a_later_fence_that_was_seen_holds_too(stage: &Stage<'_>) -> Check {
    let (_, held) = stage.holder("a").await?;
    let later = Some(held.epoch.next());
    same("the later one", write(stage, "d", b"new", Any, later).await?, Written(1))?;
    let earlier = write(stage, "d", b"old", Any, Some(held.epoch)).await?;
    same("the earlier one", earlier, Fenced)?;
    same("what stands", read(stage, "d").await?, document(1, b"new"))
}

/// One write that carries such an epoch would refuse all terms to come, for good.
async fn an_epoch_that_is_never_granted_is_refused_and_raises_nothing(stage: &Stage<'_>) -> Check {
    let (mut holder, held) = stage.holder("a").await?;
    for forged in [Epoch::MAX.next(), Epoch(u64::MAX)] {
        let store = stage.subject.open().await;
        let space = &stage.namespace;
        let version = ViewVersion { epoch: forged, number: 1 };
        let coordinator = holder.id().clone();
        let view = View { version, coordinator, members: vec![], successors: vec![], certain: 0 };
        let prune = Prune { dead_for: stage.settings.ttl * 100, keep_terms: 100, limit: 1 };
        let written = store.write_document(space, "d", vec![], Any, Some(forged)).await;
        refused("a document", &written)?;
        refused("a view", &store.publish_view(space, forged, Arc::new(view)).await)?;
        refused("a prune", &store.prune(space, forged, prune).await)?;
        let mut claimant = stage.peer("b").await;
        let seen = claimant.look().await?;
        claimant.floor = forged;
        refused("a claim above it", &claimant.claim(&seen, Claim::Vacant).await)?;
    }
    same("what was never there", read(stage, "d").await?, None)?;
    let own = write(stage, "d", b"1", Any, Some(held.epoch)).await?;
    same("a write of the term", own, Written(1))?;
    holder.resign(held).await?;
    let next = stage.peer("c").await.take(Claim::Vacant).await?;
    same("the next epoch", next.epoch, held.epoch.next())
}

/// The end of the numbers is an error, and never an epoch for the second time.
async fn the_highest_epoch_is_granted_once_and_then_none(stage: &Stage<'_>) -> Check {
    let mut last = stage.peer("a").await;
    last.floor = Epoch(Epoch::MAX.0 - 1);
    let held = last.take(Claim::Vacant).await?;
    same("the last epoch", held.epoch, Epoch::MAX)?;
    let own = write(stage, "d", b"1", Any, Some(held.epoch)).await?;
    same("a write of the last term", own, Written(1))?;
    last.resign(held).await?;
    for name in ["b", "c"] {
        let claim = stage.peer(name).await.look_and_claim(Claim::Vacant).await;
        refused("a claim on what is after the last", &claim)?;
    }
    Ok(())
}

fn refused<T: std::fmt::Debug>(what: &str, outcome: &Result<T, StoreError>) -> Check {
    let test = matches!(outcome, Err(StoreError::Refused { .. } | StoreError::Corrupt { .. }));
    holds(what, outcome, "an error that says why", test)
}

async fn a_document_is_created_once(stage: &Stage<'_>) -> Check {
    same("before", read(stage, "d").await?, None)?;
    let first = write(stage, "d", b"one", Absent, None).await?;
    same("the first write", first, Written(1))?;
    let second = write(stage, "d", b"two", Absent, None).await?;
    same("the second write", second, Conflict(1))?;
    same("what stands", read(stage, "d").await?, document(1, b"one"))
}

async fn a_write_expects_the_version_it_read(stage: &Stage<'_>) -> Check {
    for version in [0, 1] {
        let early = write(stage, "d", b"x", Version(version), None).await?;
        same("a write of nothing", early, Conflict(0))?;
    }
    same("before", read(stage, "d").await?, None)?;
    let any = write(stage, "d", b"one", Any, None).await?;
    same("a write in any case", any, Written(1))?;
    let next = write(stage, "d", b"two", Version(1), None).await?;
    same("a write of the version read", next, Written(2))?;
    for version in [0, 1, 3] {
        let wrong = write(stage, "d", b"x", Version(version), None).await?;
        same("a write of another version", wrong, Conflict(2))?;
    }
    same("what stands", read(stage, "d").await?, document(2, b"two"))?;
    // Equal bytes are a write too: a version made from the content would not notice.
    let equal = write(stage, "d", b"two", Version(2), None).await?;
    same("a write of the same bytes", equal, Written(3))?;
    let any = write(stage, "d", b"four", Any, None).await?;
    same("a write in any case", any, Written(4))
}

async fn a_body_comes_back_as_it_was_written(stage: &Stage<'_>) -> Check {
    let every_byte: Vec<u8> = (0..=255).collect();
    let large = every_byte.repeat(256);
    for (name, body) in [("empty", vec![]), ("bytes", every_byte), ("large", large)] {
        same("the write", write(stage, name, &body, Any, None).await?, Written(1))?;
        let found = present("the document", read(stage, name).await?)?;
        same("its length", found.body.len(), body.len())?;
        same("its bytes are the same", found.body == body, true)?;
    }
    Ok(())
}

async fn names_differ_by_every_character(stage: &Stage<'_>) -> Check {
    let names = ["plan", "Plan", "plan ", "plan/a", "plan.a", "plan:a", "plan_a", "plän", "%"];
    for name in names {
        let outcome = write(stage, name, name.as_bytes(), Absent, None).await?;
        same(&format!("the first write of {name:?}"), outcome, Written(1))?;
    }
    for name in names {
        same("the document", read(stage, name).await?, document(1, name.as_bytes()))?;
    }
    Ok(())
}

async fn a_write_of_an_earlier_term_is_fenced(stage: &Stage<'_>) -> Check {
    let (_, held) = stage.holder("a").await?;
    let past = Some(held.epoch);
    same("a write of the term", write(stage, "d", b"1", Any, past).await?, Written(1))?;
    stage.expire().await;
    let taken = stage.peer("b").await.take(Claim::Expired).await?;
    for precondition in [Any, Version(1)] {
        let late = write(stage, "d", b"x", precondition, past).await?;
        same("a write after the term", late, Fenced)?;
    }
    let late = write(stage, "new", b"x", Absent, past).await?;
    same("a first write after the term", late, Fenced)?;
    same("what stands", read(stage, "d").await?, document(1, b"1"))?;
    same("what was never there", read(stage, "new").await?, None)?;
    let present = write(stage, "d", b"2", Version(1), Some(taken.epoch)).await?;
    same("a write of the new term", present, Written(2))?;
    let unfenced = write(stage, "d", b"3", Version(2), None).await?;
    same("a write without a fence", unfenced, Written(3))
}

async fn the_fence_stands_after_a_release(stage: &Stage<'_>) -> Check {
    let (mut holder, held) = stage.holder_at(2).await?;
    holder.resign(held).await?;
    let late = write(stage, "d", b"x", Any, Some(Epoch(1))).await?;
    same("a write of an earlier term", late, Fenced)?;
    let last = write(stage, "d", b"x", Any, Some(held.epoch)).await?;
    same("a write of the last term", last, Written(1))
}
