//! A beat: the node record and the lease in one transaction. And what else is done to the lease.

use baton_core::ids::{Epoch, Namespace};
use baton_core::protocol::{
    Acquire, Ask, BeatReply, BeatRequest, LeaseIntent, Outcome, Registration, Release, Renew,
    TermEnd,
};
use baton_store::StoreError;

use super::engine::EtcdEngine;
use super::history;
use super::lease::{self, Grant};
use super::record::{LeaseRow, Record};
use super::registry;
use super::sight::{Life, Sight, unchanged};
use super::spare;
use super::step::{Committed, Step, TRIES, crowded};
use super::wire::{Compare, Op};

/// What is to become of the lease.
enum Ruling {
    /// It was only to be looked at.
    Look,
    /// The wish does not hold.
    Conflict,
    /// A term begins; the last one ends so.
    Begin(Acquire, Option<TermEnd>),
    /// The term goes on.
    GoOn(Renew),
}

fn rule(sight: &Sight, life: Life, intent: &LeaseIntent) -> Ruling {
    match intent {
        LeaseIntent::Observe => Ruling::Look,
        LeaseIntent::Acquire(acquire) => {
            match lease::claim_holds(sight, life.is_over(sight), acquire) {
                Some(ended) => Ruling::Begin(*acquire, ended),
                None => Ruling::Conflict,
            }
        }
        LeaseIntent::Renew(renew) if lease::renewal_holds(sight, renew) => Ruling::GoOn(*renew),
        LeaseIntent::Renew(_) => Ruling::Conflict,
    }
}

/// One beat, whole.
pub(super) async fn beat(
    engine: &EtcdEngine,
    namespace: &Namespace,
    beat: BeatRequest,
) -> Result<BeatReply, StoreError> {
    let step = Step::new(engine, namespace, Some(&beat.node.id), None);
    let (mut sight, mut fresh) = match step.remembered() {
        Some(sight) => (sight, false),
        None => (step.look().await?, true),
    };
    let mut granted: Option<Grant> = None;
    if let LeaseIntent::Acquire(claim) = &beat.lease
        && claim.expect != sight.row().map(LeaseRow::version)
    {
        // It knows better than this handle.
        (sight, fresh) = if engine.memories.has_spare(namespace, claim.ttl, step.now()) {
            (step.look().await?, true)
        } else {
            // Neither has to wait for the other.
            let (seen, grant) = tokio::join!(step.look(), step.grant(claim.ttl));
            granted = Some(grant?);
            (seen?, true)
        };
    }
    for _ in 0..TRIES {
        let registration = registry::admitted(sight.node.as_ref(), &beat);
        if registration != Registration::Registered {
            if fresh {
                return Ok(reply(&step, &sight, registration, None, &beat).await);
            }
            (sight, fresh) = (step.look().await?, true);
            continue;
        }
        let life = match beat.lease {
            LeaseIntent::Acquire(_) => step.life(&sight).await,
            _ => Life::default(),
        };
        let ruling = rule(&sight, life, &beat.lease);
        granted = match (granted, &ruling) {
            (None, Ruling::Begin(Acquire { ttl, .. }, _)) => Some(step.lease_at_hand(*ttl).await?),
            (None, Ruling::GoOn(Renew { ttl, .. })) => Some(step.grant(*ttl).await?),
            (granted, _) => granted,
        };
        let outcome = match ruling {
            Ruling::Look => None,
            Ruling::Conflict => Some(Outcome::Conflict),
            Ruling::Begin(..) | Ruling::GoOn(_) => Some(Outcome::Applied),
        };
        let (compare, writes) = plan(&step, &sight, &beat, &ruling, granted);
        match step.commit(compare, writes).await? {
            Committed::Done(after) => {
                if let (Ruling::Look, Some(due)) = (&ruling, spare::after_look(&after, &beat.node))
                {
                    step.leave(due);
                }
                return Ok(reply(&step, &after, Registration::Registered, outcome, &beat).await);
            }
            Committed::Stale(now) => (sight, fresh) = (*now, true),
        }
    }
    Err(crowded())
}

/// The comparisons that the ruling rests on, and the writes that carry it out.
fn plan(
    step: &Step<'_>,
    sight: &Sight,
    beat: &BeatRequest,
    ruling: &Ruling,
    granted: Option<Grant>,
) -> (Vec<Compare>, Vec<Op>) {
    let keys = step.keys();
    let node = keys.node(&beat.node.id);
    let mut compare = unchanged(&node, &sight.node);
    let known = sight.node.as_ref().is_some_and(|seen| seen.record.boot == beat.node.boot);
    let mut writes = Vec::new();
    if !(known && beat.is_mere_look()) {
        writes.push(Op::put(&node, beat.node.write()));
    }
    if !matches!(ruling, Ruling::Look) {
        compare.extend(unchanged(&keys.lease(), &sight.lease));
        compare.extend(unchanged(&keys.holder(), &sight.holder));
    }
    let row = match (ruling, granted, sight.row()) {
        (Ruling::Begin(acquire, ended), Some(grant), last) => {
            // The new epoch is above it.
            compare.extend(unchanged(&keys.fence(), &sight.fence));
            let row = lease::begin(sight, &beat.node, acquire, *ended, grant, step.wall());
            let closed = last.map(|last| (last.number, lease::ended(last, *ended, step.wall())));
            writes.extend(history::begun(keys, &row, closed));
            Some(row)
        }
        (Ruling::GoOn(renew), Some(grant), Some(row)) => {
            Some(lease::renewed(row, renew, grant, step.wall()))
        }
        _ => None,
    };
    if let Some(row) = row {
        let key = lease::holder_key(&row).write();
        writes.push(Op::put(&keys.lease(), row.write()));
        writes.push(Op::put_with(&keys.holder(), key, row.lease));
    }
    (compare, writes)
}

async fn reply(
    step: &Step<'_>,
    sight: &Sight,
    registration: Registration,
    outcome: Option<Outcome>,
    beat: &BeatRequest,
) -> BeatReply {
    let life = step.life(sight).await;
    let view = sight.view.as_ref().map(|seen| &seen.record);
    BeatReply {
        registration,
        lease: life.snapshot(sight, step.now()),
        outcome,
        lineage: super::LINEAGE,
        view: view.filter(|view| view.version > beat.known_view).cloned(),
    }
}

/// Gives the lease up.
pub(super) async fn release(
    engine: &EtcdEngine,
    namespace: &Namespace,
    release: Release,
) -> Result<Outcome, StoreError> {
    change(engine, namespace, |step, sight| {
        let row = lease::released(sight, &release, step.wall())?;
        let closed = history::closed(step.keys(), &row);
        Some((row, vec![Op::delete(&step.keys().holder()), closed]))
    })
    .await
}

/// Leaves a request beside the lease.
pub(super) async fn ask(
    engine: &EtcdEngine,
    namespace: &Namespace,
    epoch: Epoch,
    ask: Ask,
) -> Result<Outcome, StoreError> {
    change(engine, namespace, |_, sight| {
        let row = lease::asked(sight, epoch, ask.clone())?;
        Some((row, Vec::new()))
    })
    .await
}

/// Changes the record, if there is something to change; tells so only after having looked.
async fn change(
    engine: &EtcdEngine,
    namespace: &Namespace,
    next: impl Fn(&Step<'_>, &Sight) -> Option<(LeaseRow, Vec<Op>)>,
) -> Result<Outcome, StoreError> {
    let step = Step::new(engine, namespace, None, None);
    let (mut sight, mut fresh) = match step.remembered() {
        Some(sight) => (sight, false),
        None => (step.look().await?, true),
    };
    for _ in 0..TRIES {
        let Some((row, mut writes)) = next(&step, &sight) else {
            if fresh {
                return Ok(Outcome::Conflict);
            }
            (sight, fresh) = (step.look().await?, true);
            continue;
        };
        let lease = step.keys().lease();
        writes.push(Op::put(&lease, row.write()));
        match step.commit(unchanged(&lease, &sight.lease), writes).await? {
            Committed::Done(_) => return Ok(Outcome::Applied),
            Committed::Stale(now) => (sight, fresh) = (*now, true),
        }
    }
    Err(crowded())
}
