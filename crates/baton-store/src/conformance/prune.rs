//! Old records go, and only those: fenced, bounded, never a live node's, never the open term.

use std::time::Duration;

use baton_core::ids::Epoch;
use baton_core::protocol::Registration;

use super::case::{CaseError, Check, cases, same};
use super::peer::Peer;
use super::stage::Stage;
use crate::capability::Capability;
use crate::prune::{Prune, PruneOutcome};

cases! { "prune":
    a_silent_node_is_forgotten_and_a_live_one_is_not,
    a_forgotten_node_comes_back,
    old_terms_go_and_the_open_one_stays,
    no_more_go_at_once_than_were_asked_for,
    a_prune_of_an_earlier_term_is_fenced,
}

/// Longer than any node was silent.
const NEVER: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// A store that tells no ages looks at whole seconds, or has to see a silence itself.
const COARSE: Duration = Duration::from_secs(2);

async fn prune(
    stage: &Stage<'_>,
    by: &Peer,
    epoch: Epoch,
    prune: Prune,
) -> Result<PruneOutcome, CaseError> {
    Ok(by.store.prune(&stage.namespace, epoch, prune).await?)
}

fn pruned(records: u32) -> PruneOutcome {
    PruneOutcome::Pruned { records }
}

/// A prune may be so late on a busy machine, and the holder that has just beaten is not silent.
const BUSY: Duration = Duration::from_secs(1);

/// Two fall silent, while the holder goes on. They are looked at once before.
async fn silent(stage: &Stage<'_>) -> Result<(Peer, Epoch, Prune), CaseError> {
    let (mut holder, held) = stage.holder("holder").await?;
    stage.peer("gone-1").await.look().await?;
    stage.peer("gone-2").await.look().await?;
    let dead_for = stage.settings.ttl + BUSY;
    let wanted = Prune { dead_for, keep_terms: 1_000, limit: 100 };
    same("no node is silent yet", prune(stage, &holder, held.epoch, wanted).await?, pruned(0))?;
    let tells = stage.declaration.has(Capability::MemberAge);
    let coarse = if tells { Duration::ZERO } else { COARSE };
    stage.pass(dead_for + stage.settings.lateness + coarse).await;
    holder.look().await?;
    Ok((holder, held.epoch, wanted))
}

async fn a_silent_node_is_forgotten_and_a_live_one_is_not(stage: &Stage<'_>) -> Check {
    let (mut holder, epoch, wanted) = silent(stage).await?;
    same("the silent", prune(stage, &holder, epoch, wanted).await?, pruned(2))?;
    let names = stage.member_names(&stage.namespace).await?;
    same("who is left", names, vec!["holder".to_owned()])?;
    holder.look().await?;
    same("no other node", prune(stage, &holder, epoch, wanted).await?, pruned(0))
}

async fn a_forgotten_node_comes_back(stage: &Stage<'_>) -> Check {
    let (mut holder, epoch, wanted) = silent(stage).await?;
    same("the silent", prune(stage, &holder, epoch, wanted).await?, pruned(2))?;
    holder.look().await?;
    let mut again = stage.peer("gone-1").await;
    for _ in 0..2 {
        let reply = again.look().await?;
        same("the registration", reply.registration, Registration::Registered)?;
    }
    same("it is not silent", prune(stage, &holder, epoch, wanted).await?, pruned(0))?;
    let names = stage.member_names(&stage.namespace).await?;
    same("who is there", names, vec!["gone-1".to_owned(), "holder".to_owned()])
}

async fn epochs(stage: &Stage<'_>) -> Result<Vec<u64>, CaseError> {
    Ok(stage.terms().await?.iter().map(|term| term.epoch.0).collect())
}

async fn old_terms_go_and_the_open_one_stays(stage: &Stage<'_>) -> Check {
    let (holder, held) = stage.holder_at(6).await?;
    let keep = |keep_terms| Prune { dead_for: NEVER, keep_terms, limit: 100 };
    same("all are kept", prune(stage, &holder, held.epoch, keep(6)).await?, pruned(0))?;
    same("two go", prune(stage, &holder, held.epoch, keep(4)).await?, pruned(2))?;
    same("the terms", epochs(stage).await?, vec![6, 5, 4, 3])?;
    same("all but the open one", prune(stage, &holder, held.epoch, keep(0)).await?, pruned(3))?;
    same("the open term", epochs(stage).await?, vec![6])?;
    same("its end", stage.last_term().await?.ended, None)?;
    same("never that one", prune(stage, &holder, held.epoch, keep(0)).await?, pruned(0))
}

async fn no_more_go_at_once_than_were_asked_for(stage: &Stage<'_>) -> Check {
    let (mut holder, epoch, wanted) = silent(stage).await?;
    let one = Prune { limit: 1, ..wanted };
    same("the first", prune(stage, &holder, epoch, one).await?, pruned(1))?;
    same("the second", prune(stage, &holder, epoch, one).await?, pruned(1))?;
    holder.look().await?;
    let (last, held) = (holder, epoch);
    let none = Prune { limit: 0, keep_terms: 0, ..wanted };
    same("nothing at all", prune(stage, &last, held, none).await?, pruned(0))?;
    let names = stage.member_names(&stage.namespace).await?;
    same("who is left", names, vec!["holder".to_owned()])
}

async fn a_prune_of_an_earlier_term_is_fenced(stage: &Stage<'_>) -> Check {
    let (holder, held) = stage.holder_at(3).await?;
    let all = Prune { dead_for: NEVER, keep_terms: 1, limit: 100 };
    let late = prune(stage, &holder, Epoch(2), all).await?;
    same("a prune of epoch 2", late, PruneOutcome::Fenced)?;
    same("the terms", epochs(stage).await?, vec![3, 2, 1])?;
    same("a prune of epoch 3", prune(stage, &holder, held.epoch, all).await?, pruned(2))
}
