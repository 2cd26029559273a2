//! Many at once: exactly one wins, and no increment is lost.

use std::sync::Arc;

use baton_core::ids::{Epoch, Namespace};
use baton_core::protocol::{BeatReply, Claim, Outcome};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::case::{CaseError, Check, cases, present, same};
use super::peer::{Peer, shown};
use super::stage::Stage;
use crate::document::{Precondition, WriteOutcome};
use crate::election::Store;

cases! { "races":
    two_rivals_on_an_expired_epoch_three,
    five_rivals_on_an_expired_epoch_one,
    ten_create_the_lease_at_once,
    three_find_the_same_process_dead,
    four_take_up_a_released_lease,
    sixty_four_workers_lose_no_increment,
}

const WORKERS: u64 = 64;
const COUNTER: &str = "counter";

/// This many rivals claim what they all see; exactly one of them must get the epoch.
async fn race(stage: &Stage<'_>, rivals: usize, claim: Claim, epoch: u64) -> Check {
    let start = Arc::new(Barrier::new(rivals));
    let mut peers = Vec::new();
    for number in 0..rivals {
        let mut peer = stage.peer(&format!("rival-{number}")).await;
        let seen = peer.look().await?;
        peers.push((peer, seen));
    }
    let mut claims = JoinSet::new();
    for (mut peer, seen) in peers {
        let start = start.clone();
        claims.spawn(async move {
            start.wait().await;
            let reply = peer.claim(&seen, claim).await;
            (peer, reply)
        });
    }
    let mut replies: Vec<(Peer, BeatReply)> = Vec::new();
    for (peer, reply) in joined(claims).await? {
        replies.push((peer, reply?));
    }
    one_won(stage, &replies, Epoch(epoch)).await
}

async fn one_won(stage: &Stage<'_>, replies: &[(Peer, BeatReply)], epoch: Epoch) -> Check {
    let applied = |(_, reply): &&(Peer, BeatReply)| reply.outcome == Some(Outcome::Applied);
    let winners: Vec<_> = replies.iter().filter(applied).collect();
    same("how many won", winners.len(), 1)?;
    let (winner, _) = present("the winner", winners.first())?;
    for (_, reply) in replies {
        let lease = shown(reply)?;
        same("the epoch told to each", lease.version.epoch, epoch)?;
        same("the winner told to each", lease.is_held_by(winner.boot()), true)?;
    }
    let last = stage.last_term().await?;
    same("the term opened", (last.epoch, last.boot), (epoch, winner.boot()))
}

/// What all of them came to.
pub(super) async fn joined<T: 'static>(mut tasks: JoinSet<T>) -> Result<Vec<T>, CaseError> {
    let mut done = Vec::new();
    while let Some(result) = tasks.join_next().await {
        let broken = |error| CaseError::Wrong(format!("the store's code panicked: {error}"));
        done.push(result.map_err(broken)?);
    }
    Ok(done)
}

async fn two_rivals_on_an_expired_epoch_three(stage: &Stage<'_>) -> Check {
    stage.holder_at(3).await?;
    stage.expire().await;
    race(stage, 2, Claim::Expired, 4).await
}

async fn five_rivals_on_an_expired_epoch_one(stage: &Stage<'_>) -> Check {
    stage.holder_at(1).await?;
    stage.expire().await;
    race(stage, 5, Claim::Expired, 2).await
}

async fn ten_create_the_lease_at_once(stage: &Stage<'_>) -> Check {
    race(stage, 10, Claim::Vacant, 1).await
}

async fn three_find_the_same_process_dead(stage: &Stage<'_>) -> Check {
    let (dead, _) = stage.holder_at(1).await?;
    stage.bury(&dead).await?;
    race(stage, 3, Claim::Dead { boot: dead.boot() }, 2).await
}

async fn four_take_up_a_released_lease(stage: &Stage<'_>) -> Check {
    let (mut holder, held) = stage.holder_at(2).await?;
    holder.resign(held).await?;
    race(stage, 4, Claim::Vacant, 3).await
}

async fn sixty_four_workers_lose_no_increment(stage: &Stage<'_>) -> Check {
    let (_holder, held) = stage.holder("a").await?;
    let mut workers = JoinSet::new();
    for _ in 0..WORKERS {
        let (store, namespace) = (stage.subject.open().await, stage.namespace.clone());
        let increments = stage.settings.increments;
        workers.spawn(async move { count_up(&*store, &namespace, held.epoch, increments).await });
    }
    for worker in joined(workers).await? {
        worker?;
    }
    let store = stage.subject.open().await;
    let (version, count) = read_counter(&*store, &stage.namespace).await?;
    let wanted = WORKERS * stage.settings.increments;
    same("the counter and its version", (count, version), (wanted, wanted))
}

/// Adds one, `increments` times, each time to what it last knew. A worker that is behind reads and
/// tries again.
async fn count_up(
    store: &dyn Store,
    namespace: &Namespace,
    fence: Epoch,
    increments: u64,
) -> Check {
    let (mut version, mut count) = (0, 0_u64);
    let mut left = increments;
    while left > 0 {
        let precondition = match version {
            0 => Precondition::Absent,
            version => Precondition::Version(version),
        };
        let body = (count + 1).to_be_bytes().to_vec();
        let write = store.write_document(namespace, COUNTER, body, precondition, Some(fence));
        match write.await? {
            WriteOutcome::Written(at) => {
                (version, count) = (at, count + 1);
                left -= 1;
                // What this worker knows grows stale while the others have their turn.
                tokio::task::yield_now().await;
            }
            WriteOutcome::Conflict(_) => (version, count) = read_counter(store, namespace).await?,
            WriteOutcome::Fenced => same("a write of the present term", "fenced", "written")?,
        }
    }
    Ok(())
}

async fn read_counter(store: &dyn Store, namespace: &Namespace) -> Result<(u64, u64), CaseError> {
    let found = store.read_document(namespace, COUNTER).await?;
    let document = present("the counter", found)?;
    let bytes = <[u8; 8]>::try_from(document.body.as_slice());
    let count = present("eight bytes in the counter", bytes.ok())?;
    Ok((document.version, u64::from_be_bytes(count)))
}
