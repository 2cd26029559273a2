//! A record that is not one of ours: a clear error, it is left as it is, and no node takes over.

use std::fmt::Debug;

use baton_core::protocol::{Claim, ReleaseReason};

use super::case::{Check, arranged, cases, holds};
use super::stage::Stage;
use crate::error::StoreError;

cases! { "corrupt":
    a_foreign_record_is_reported_and_not_taken_over,
    a_foreign_record_spoils_no_other_namespace,
}

fn is_reported<T: Debug>(what: &str, found: &Result<T, StoreError>) -> Check {
    let test = matches!(found, Err(StoreError::Corrupt { .. }));
    holds(what, found, "the error Corrupt", test)
}

async fn a_foreign_record_is_reported_and_not_taken_over(stage: &Stage<'_>) -> Check {
    let (mut holder, held) = stage.holder("a").await?;
    let mut rival = stage.peer("b").await;
    let seen = rival.look().await?;
    let spoilt = stage.subject.corrupt(&stage.namespace).await;
    arranged("overwriting the record", spoilt)?;
    stage.expire().await;
    let boot = holder.boot();
    for claim in [Claim::Expired, Claim::Vacant, Claim::Dead { boot }] {
        is_reported("a claim", &rival.claim(&seen, claim).await)?;
    }
    is_reported("a renewal", &holder.renew(held).await)?;
    let released = holder.release(held, None, ReleaseReason::Resigned).await;
    is_reported("a release", &released)?;
    let mut newcomer = stage.peer("c").await;
    is_reported("a look, still", &newcomer.look().await)
}

async fn a_foreign_record_spoils_no_other_namespace(stage: &Stage<'_>) -> Check {
    stage.holder("a").await?;
    let spoilt = stage.subject.corrupt(&stage.namespace).await;
    arranged("overwriting the record", spoilt)?;
    let other = stage.subject.namespace("corrupt_other");
    let mut peer = stage.peer_in(&other, "a").await;
    peer.take(Claim::Vacant).await?;
    Ok(())
}
