//! Trial beats and a trial lease, in a namespace of their own.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, Lineage, Namespace, NodeId, Nonce};
use baton_core::protocol::{
    Acquire, BeatReply, BeatRequest, Claim, Expiry, LeaseIntent, NodeProfile, NodeRecord, Outcome,
    Recording, Release, ReleaseReason, Renew, Version, ViewVersion,
};
use baton_core::settings::show_span;
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Store, StoreError};

use super::Finding;
use crate::error::CommandError;

/// The doctor's own namespace. Always the same, so that no trial adds a lease to the store.
pub(super) const NAMESPACE: &str = "baton-doctor";

/// How many beats are tried.
const BEATS: u64 = 200;

/// Length of a trial lease: another doctor waits no longer than this.
const TTL: Duration = Duration::from_secs(2);

/// How long the store's clock is watched.
const WATCHED: Duration = Duration::from_millis(400);

fn show(span: Duration) -> String {
    format!("{} ms", span.as_millis())
}

/// A node that only tries.
pub struct Trial {
    store: Arc<dyn Store>,
    namespace: Namespace,
    node: NodeRecord,
}

/// The record of a node that may not lead.
pub(super) fn observer(id: NodeId, boot: BootId) -> NodeRecord {
    let (seen, profile) = (Epoch::NONE, Arc::new(NodeProfile::default()));
    let (beat, eligible, draining, load) = (0, false, false, 0);
    NodeRecord { id, boot, beat, eligible, draining, load, seen, partitions: None, profile }
}

/// A beat that writes this record.
pub(super) fn observer_beat(node: NodeRecord, lease: LeaseIntent) -> BeatRequest {
    let known_view = ViewVersion::default();
    BeatRequest { node, recording: Recording::Write, replaces: None, lease, known_view }
}

impl Trial {
    /// A node with a name of its own.
    pub fn new(store: Arc<dyn Store>) -> Result<Self, CommandError> {
        let boot = baton::fresh_boot()?;
        let id = NodeId::new(&format!("doctor-{boot}")).expect("letters, digits and a dash");
        let namespace = Namespace::new(NAMESPACE).expect("letters and a dash");
        Ok(Self { store, namespace, node: observer(id, boot) })
    }

    async fn beat(&self, beat: u64, lease: LeaseIntent) -> Result<BeatReply, StoreError> {
        let node = NodeRecord { beat, ..self.node.clone() };
        self.store.beat(&self.namespace, observer_beat(node, lease)).await
    }

    /// Beats one after another: is the store fast enough for the settings?
    pub async fn beats(&self, request_timeout: Duration) -> Result<Finding, StoreError> {
        let mut took = Vec::new();
        for beat in 1..=BEATS {
            let sent_at = SystemClock.now();
            self.beat(beat, LeaseIntent::Observe).await?;
            took.push(SystemClock.now().since(sent_at));
        }
        took.sort_unstable();
        let (median, slow) = (took[took.len() / 2], took[took.len() * 99 / 100]);
        let [p50, p99] = [median, slow].map(|span| span.as_secs_f64() * 1e3);
        let detail = format!("{BEATS} trial beats: p50 {p50:.2} ms, p99 {p99:.2} ms");
        let limit = show_span(request_timeout);
        if slow >= request_timeout {
            let remedy = format!("request_timeout is {limit}: lengthen it, or use another store");
            return Ok(Finding::fail("beats", detail, remedy));
        }
        if slow * 4 >= request_timeout {
            let remedy = format!("close to request_timeout ({limit}): lengthen it and the lease");
            return Ok(Finding::warn("beats", detail, remedy));
        }
        Ok(Finding::ok("beats", detail))
    }

    /// Does the store's clock, which judges leases, run as ours does?
    pub async fn pace(&self) -> Result<Finding, StoreError> {
        let busy =
            || Finding::warn("pace", "another process holds the trial lease", "run doctor again");
        let (expect, lineage) = self.free().await?;
        let Some(held) = self.acquire(6, expect, lineage).await? else { return Ok(busy()) };
        let (from, first) = (SystemClock.now(), self.left().await?);
        SystemClock.sleep(WATCHED).await;
        let (passed, second) = (SystemClock.now().since(from), self.left().await?);
        self.release(held, 7).await?;
        let counted = first.saturating_sub(second);
        let detail = format!("{} passed, the store counted {}", show(passed), show(counted));
        let off = passed.abs_diff(counted);
        if off > WATCHED / 2 {
            let remedy = "the server's clock is unstable or was just set: slew it, do not step it";
            return Ok(Finding::warn("pace", detail, remedy));
        }
        Ok(Finding::ok("pace", detail))
    }

    /// What the store says is left of the trial lease.
    async fn left(&self) -> Result<Duration, StoreError> {
        let lease = self.store.inspect(&self.namespace).await?.lease;
        Ok(lease.and_then(|lease| lease.expiry.left()).unwrap_or_default())
    }

    /// Takes a lease, renews it, gives it up, and takes it again.
    pub async fn lease(&self) -> Result<Finding, StoreError> {
        let remedy = "this store breaks its contract: report it with the output of --json";
        let broken = |what: &str| Ok(Finding::fail("lease", what, remedy));
        let (expect, lineage) = self.free().await?;
        let before = expect.map_or(Epoch::NONE, |version| version.epoch);
        let Some(first) = self.acquire(1, expect, lineage).await? else {
            let detail = "another process holds the trial lease";
            return Ok(Finding::warn(
                "lease",
                detail,
                "another doctor is running: run doctor again",
            ));
        };
        if first.epoch <= before {
            return broken("a new term did not get a higher epoch");
        }
        let (nonce, ttl) = (self.nonce(2), TTL);
        let renew = LeaseIntent::Renew(Renew { expect: first, lineage, nonce, ttl });
        let renewed = Version { epoch: first.epoch, nonce };
        if self.beat(BEATS + 2, renew).await?.outcome != Some(Outcome::Applied) {
            return broken("a lease could not be renewed");
        }
        let Some(left) = self.release(renewed, 3).await? else {
            return broken("a lease could not be released");
        };
        let Some(second) = self.acquire(4, Some(left), lineage).await? else {
            return broken("a released lease could not be taken again");
        };
        if second.epoch <= first.epoch || self.release(second, 5).await?.is_none() {
            return broken("a second term did not get a higher epoch");
        }
        let detail = format!(
            "taken, renewed, released, taken again: epoch {} → {}",
            first.epoch, second.epoch
        );
        Ok(Finding::ok("lease", detail))
    }

    /// The version to claim. A trial that did not end well has left one that is soon over.
    async fn free(&self) -> Result<(Option<Version>, Lineage), StoreError> {
        let seen = self.store.inspect(&self.namespace).await?;
        let Some(lease) = seen.lease else {
            return Ok((None, seen.lineage));
        };
        if let (Some(_), Expiry::Left(left)) = (&lease.holder, lease.expiry) {
            SystemClock.sleep(left.min(TTL)).await;
        }
        Ok((Some(lease.version), seen.lineage))
    }

    async fn acquire(
        &self,
        attempt: u64,
        expect: Option<Version>,
        lineage: Lineage,
    ) -> Result<Option<Version>, StoreError> {
        for claim in [Claim::Vacant, Claim::Expired] {
            let nonce = self.nonce(attempt);
            let floor = Epoch::NONE;
            let intent =
                LeaseIntent::Acquire(Acquire { expect, claim, lineage, floor, nonce, ttl: TTL });
            let reply = self.beat(BEATS + attempt, intent).await?;
            if reply.outcome == Some(Outcome::Applied) {
                return Ok(reply.lease.map(|lease| lease.version));
            }
        }
        Ok(None)
    }

    /// Gives the lease up; the version left behind.
    async fn release(&self, held: Version, attempt: u64) -> Result<Option<Version>, StoreError> {
        let nonce = self.nonce(attempt);
        let reason = ReleaseReason::Resigned;
        let release = Release { expect: held, nonce, successor: None, reason };
        let outcome = self.store.release(&self.namespace, release).await?;
        Ok((outcome == Outcome::Applied).then_some(Version { epoch: held.epoch, nonce }))
    }

    fn nonce(&self, attempt: u64) -> Nonce {
        Nonce { boot: self.node.boot, attempt }
    }

    /// Takes the node record out again.
    pub async fn leave(&self) -> Result<(), StoreError> {
        self.store.leave(&self.namespace, &self.node.id, self.node.boot).await.map(|_| ())
    }
}
