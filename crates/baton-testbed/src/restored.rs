//! An older copy of a store's data is put back in place: the same questions to every store.
//!
//! ```text
//!   Restorable: a handle, a copy, that copy put back under the same server; a restart
//!     ├─ nodes_that_remember   one that saw more notices; with a lineage it tells all others
//!     ├─ lost_renewals         the term goes on in a new lineage, and no other node claims it
//!     ├─ nodes_that_do_not     what a node finds that saw nothing
//!     └─ a_restart             goes on where it was: no lineage begins and no epoch leaps
//! ```
//!
//! The answers stand in `docs/guarantees.md`, store by store.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use baton_core::election::observed_lease::{Freshness, ObservedLease};
use baton_core::ids::{Epoch, Lineage, Namespace};
use baton_core::lease::LeaseTerms;
use baton_core::protocol::{BeatReply, Claim, Outcome};
use baton_core::time::Moment;
use baton_store::{Capability, Store};

use crate::contender::{Contender, fresh_namespace, held_in};
use crate::wait::until;

/// A store whose data can be copied and put back, and which looks the same afterwards.
#[async_trait]
pub trait Restorable: Send + Sync {
    /// A handle of its own.
    async fn open(&self) -> Arc<dyn Store>;

    /// Keeps a copy of the data, in place of the last one.
    async fn keep(&self, namespace: &Namespace);

    /// Puts the copy back.
    async fn put_back(&self, namespace: &Namespace);

    /// Stops the store and starts it again with the data that it has.
    async fn restart(&self);
}

/// What a node that saw nothing before can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fresh {
    /// That the data went back.
    Notices,
    /// Nothing: the data looks as it did then.
    CannotTell,
}

async fn node(store: &dyn Restorable, namespace: &Namespace, boot: u128) -> Contender {
    Contender::new(&store.open().await, namespace, boot)
}

fn has_lineage(node: &Contender) -> bool {
    node.store.declaration().capabilities.contains(&Capability::Lineage)
}

fn epoch(reply: &BeatReply) -> Epoch {
    held_in(reply).epoch
}

/// One term comes and goes, a copy is kept, and another node is granted the next epoch.
async fn lost_grant(store: &dyn Restorable, namespace: &Namespace) -> (Contender, BeatReply) {
    let (x, y) = (node(store, namespace, 1).await, node(store, namespace, 2).await);
    let held = x.take(Claim::Vacant).await;
    assert_eq!((held.epoch, x.release(held).await), (Epoch(1), Outcome::Applied));
    store.keep(namespace).await;
    assert_eq!(y.take(Claim::Vacant).await.epoch, Epoch(2));
    let seen = y.look().await;
    (y, seen)
}

/// The data went back behind nodes that go on running. One that saw the lost grant, or got it,
/// notices: a store that declares a lineage begins a new one, which every node sees, one that saw
/// nothing too. On any other store the answer counts as stale for a lease, and no epoch comes back.
///
/// # Panics
///
/// If that is not so.
pub async fn nodes_that_remember(store: &dyn Restorable) {
    for holder_comes_first in [true, false] {
        let namespace = fresh_namespace("remember");
        let mut watcher = node(store, &namespace, 3).await;
        watcher.look().await;
        let (y, before) = lost_grant(store, &namespace).await;
        let lost = held_in(&before);
        assert_eq!(epoch(&watcher.look().await), lost.epoch);
        watcher.floor = lost.epoch;
        store.put_back(&namespace).await;

        if holder_comes_first {
            let late = until("an answer", async || y.renew(lost).await.ok()).await;
            assert_eq!(late.outcome, Some(Outcome::Conflict), "{late:?}");
            assert_eq!(late.lineage > before.lineage, has_lineage(&y), "{late:?}");
        }
        let after = watcher.look_until_answered().await;
        assert_eq!(epoch(&after), Epoch(1), "it went back");
        if !has_lineage(&watcher) {
            counts_as_stale(&before, &after);
            assert!(watcher.take(Claim::Vacant).await.epoch > lost.epoch);
            continue;
        }
        assert!(after.lineage > before.lineage, "{after:?} after {before:?}");
        let fresh = node(store, &namespace, 4).await;
        let shown = fresh.look().await;
        assert_eq!(shown.lineage, after.lineage);
        let written_in = shown.lease.expect("there is a lease").lineage;
        assert!(written_in < after.lineage, "every node waits until a lost term is over");
        let next = fresh.take(Claim::Vacant).await;
        assert!(next.epoch.0 > 1 + Epoch::LEAP, "{next:?} after {lost:?}");
    }
}

/// A core that saw the first reply ignores the second one for a lease, and then knows why.
fn counts_as_stale(before: &BeatReply, after: &BeatReply) {
    assert_eq!(after.lineage, before.lineage, "the store cannot tell");
    let second = Duration::from_secs(1);
    let ttl = 15 * second;
    let terms = LeaseTerms { ttl, drift_ppm: 10_000, margin: second / 2, stop_grace: second };
    let mut sight = ObservedLease::new(terms);
    let start = Moment::from_micros(0) + second;
    assert_eq!(sight.look(start, start, before), Freshness::Fresh);
    for (waited, look) in
        [(second, Freshness::Stale), (ttl, Freshness::Stale), (2 * ttl, Freshness::WentBack)]
    {
        assert_eq!(sight.look(start + waited, start + waited, after), look, "after {waited:?}");
    }
    assert!(sight.highest() > epoch(after), "the floor of its next claim");
}

/// Renewals of a term were lost, and nothing else. No node takes the lease for one that ran out
/// long ago: a new lineage begins, in which its holder goes on.
///
/// # Panics
///
/// If that is not so.
pub async fn lost_renewals(store: &dyn Restorable) {
    let namespace = fresh_namespace("renewals");
    let (holder, watcher) = (node(store, &namespace, 1).await, node(store, &namespace, 2).await);
    let mut held = holder.take(Claim::Vacant).await;
    store.keep(&namespace).await;
    let kept = held;
    for _ in 0..3 {
        held = holder.goes_on(held).await;
    }
    let before = watcher.look().await;
    store.put_back(&namespace).await;
    let after = watcher.look_until_answered().await;
    assert_eq!(held_in(&after), kept, "it went back");
    assert!(after.lineage > before.lineage, "{after:?} after {before:?}");
    assert!(after.lease.expect("there is one").lineage < after.lineage);
    let late = until("an answer", async || holder.renew(held).await.ok()).await;
    assert_eq!(late.outcome, Some(Outcome::Conflict), "{late:?}");
    assert_eq!(holder.goes_on(kept).await.epoch, kept.epoch);
}

/// The data went back, and no node is left that saw more. Says what a new one can tell.
///
/// # Panics
///
/// If it notices and does not leap, or cannot tell and still does not go on as it would have.
pub async fn nodes_that_do_not(store: &dyn Restorable) -> Fresh {
    let namespace = fresh_namespace("fresh");
    let before: Lineage = {
        let (_, seen) = lost_grant(store, &namespace).await;
        seen.lineage
    };
    store.put_back(&namespace).await;
    let z = node(store, &namespace, 4).await;
    let after = z.look_until_answered().await;
    assert_eq!(epoch(&after), Epoch(1), "it went back");
    let taken = z.take(Claim::Vacant).await.epoch;
    if after.lineage == before {
        assert_eq!(taken, Epoch(2), "the lost epoch, once more");
        return Fresh::CannotTell;
    }
    assert!(after.lineage > before, "{after:?} after {before:?}");
    assert!(taken.0 > 1 + Epoch::LEAP, "{taken:?}");
    Fresh::Notices
}

/// A restart that lost nothing costs nothing: the lease goes on, for nodes that saw it before and
/// for one that did not.
///
/// # Panics
///
/// If that is not so.
pub async fn a_restart(store: &dyn Restorable) {
    let namespace = fresh_namespace("restart");
    let holder = node(store, &namespace, 1).await;
    let mut held = holder.take(Claim::Vacant).await;
    let before = holder.look().await.lineage;
    for time in 1..=2 {
        store.restart().await;
        if time == 1 {
            let fresh = node(store, &namespace, 2).await;
            let seen = fresh.look_until_answered().await;
            assert_eq!((held_in(&seen), seen.lineage), (held, before));
        }
        let seen = holder.look_until_answered().await;
        assert_eq!((held_in(&seen), seen.lineage), (held, before), "time {time}");
        held = holder.goes_on(held).await;
    }
    assert_eq!(holder.release(held).await, Outcome::Applied);
    let next = node(store, &namespace, 3).await.take(Claim::Vacant).await;
    assert_eq!(next.epoch, held.epoch.next(), "nothing leaps");
}
