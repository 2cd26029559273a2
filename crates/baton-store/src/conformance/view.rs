//! The published view: fenced by its epoch, ordered by its number, brought only when it is newer.

use std::sync::Arc;

use baton_core::ids::Epoch;
use baton_core::partition::AssignmentVersion;
use baton_core::protocol::{Claim, Outcome, View, ViewMember, ViewVersion};

use super::case::{CaseError, Check, cases, same};
use super::peer::Peer;
use super::stage::Stage;

cases! { "view":
    a_view_is_brought_only_when_it_is_newer,
    within_a_term_only_a_higher_number_replaces,
    a_view_of_an_earlier_term_is_fenced,
    a_new_term_counts_from_one,
}

fn view(by: &Peer, epoch: Epoch, number: u64) -> Arc<View> {
    let member = ViewMember {
        id: by.id().clone(),
        boot: by.boot(),
        candidate: true,
        draining: false,
        assignment: (number != 1).then_some(AssignmentVersion { slot: 3, version: number }),
    };
    Arc::new(View {
        version: ViewVersion { epoch, number },
        coordinator: by.id().clone(),
        members: vec![member],
        successors: vec![by.id().clone()],
        certain: 1,
    })
}

async fn publish(by: &Peer, epoch: Epoch, number: u64) -> Result<Outcome, CaseError> {
    let view = view(by, epoch, number);
    Ok(by.store.publish_view(&by.namespace, epoch, view).await?)
}

/// What a peer that knows this view is brought.
async fn brought(
    stage: &Stage<'_>,
    epoch: Epoch,
    number: u64,
) -> Result<Option<Arc<View>>, CaseError> {
    let mut reader = stage.peer(&format!("knows-{epoch}-{number}")).await;
    reader.known_view = ViewVersion { epoch, number };
    let reply = reader.look().await?;
    reader.store.leave(&stage.namespace, reader.id(), reader.boot()).await?;
    Ok(reply.view)
}

async fn a_view_is_brought_only_when_it_is_newer(stage: &Stage<'_>) -> Check {
    let (holder, held) = stage.holder("a").await?;
    let epoch = held.epoch;
    same("before any", brought(stage, Epoch::NONE, 0).await?, None)?;
    same("publishing", publish(&holder, epoch, 1).await?, Outcome::Applied)?;
    let first = Some(view(&holder, epoch, 1));
    same("to one who knows none", brought(stage, Epoch::NONE, 0).await?, first)?;
    same("to one who knows it", brought(stage, epoch, 1).await?, None)?;
    same("publishing", publish(&holder, epoch, 2).await?, Outcome::Applied)?;
    let second = Some(view(&holder, epoch, 2));
    same("to one who knows the last", brought(stage, epoch, 1).await?, second)?;
    same("to one who knows more", brought(stage, epoch.next(), 1).await?, None)
}

async fn within_a_term_only_a_higher_number_replaces(stage: &Stage<'_>) -> Check {
    let (holder, held) = stage.holder("a").await?;
    same("publishing", publish(&holder, held.epoch, 10).await?, Outcome::Applied)?;
    for number in [10, 9, 2] {
        let outcome = publish(&holder, held.epoch, number).await?;
        same("publishing no higher number", outcome, Outcome::Conflict)?;
    }
    let stands = Some(view(&holder, held.epoch, 10));
    same("what stands", brought(stage, Epoch::NONE, 0).await?, stands)
}

async fn a_view_of_an_earlier_term_is_fenced(stage: &Stage<'_>) -> Check {
    let (old, held) = stage.holder("a").await?;
    same("publishing", publish(&old, held.epoch, 1).await?, Outcome::Applied)?;
    stage.expire().await;
    let taken = stage.peer("b").await.take(Claim::Expired).await?;
    let late = publish(&old, held.epoch, 2).await?;
    same("publishing after the term", late, Outcome::Conflict)?;
    same("what stands", brought(stage, held.epoch, 1).await?, None)?;
    let fresh = publish(&old, taken.epoch, 1).await?;
    same("publishing in the new term", fresh, Outcome::Applied)
}

async fn a_new_term_counts_from_one(stage: &Stage<'_>) -> Check {
    let (mut old, held) = stage.holder("a").await?;
    same("publishing", publish(&old, held.epoch, 7).await?, Outcome::Applied)?;
    old.resign(held).await?;
    let (new, taken) = stage.holder("b").await?;
    same("publishing", publish(&new, taken.epoch, 1).await?, Outcome::Applied)?;
    let stands = Some(view(&new, taken.epoch, 1));
    same("to one who knows the old", brought(stage, held.epoch, 7).await?, stands)
}
