//! Requests to the embedded store: a real file, one request at a time.

use std::sync::Arc;

use baton::{Precondition, Store};
use baton_core::ids::{BootId, Epoch, Lineage, NodeId, Nonce};
use baton_core::protocol::{
    Acquire, BeatRequest, Claim, LeaseIntent, LeaseSnapshot, NodeProfile, NodeRecord, Outcome,
    Recording, Renew, ViewVersion,
};
use baton_core::settings::Settings;
use baton_store::clock::{Clock, SystemClock};

use super::namespace;
use crate::error::BenchError;
use crate::fixture::Fixture;
use crate::percentiles::{Percentiles, us};
use crate::report::{Bar, Report};
use crate::sandbox::Sandbox;

/// Requests of each kind that count, after as many as warm up.
const REQUESTS: u64 = 2_000;
const WARM_UP: u64 = 200;

/// What a beat may take, in microseconds.
const BEAT_US: f64 = 1_000.0;

/// The size of a document.
const BODY_BYTES: usize = 1_024;

/// Measures each kind of request.
pub async fn measure(sandbox: &Sandbox, report: &mut Report) -> Result<(), BenchError> {
    let store = baton_drivers::open(&Fixture::files().url(&sandbox.room("requests")?)).await?;
    let space = namespace();
    let mut holder = Holder::take(&*store, baton::fresh_boot()?).await?;
    let (mut beats, mut inspections) = (Vec::new(), Vec::new());
    let (mut writes, mut reads) = (Vec::new(), Vec::new());
    for number in 0..WARM_UP + REQUESTS {
        let counts = number >= WARM_UP;
        let note = |values: &mut Vec<f64>, before| {
            values.extend(counts.then(|| us(SystemClock.now().since(before))));
        };
        let before = SystemClock.now();
        holder.renew(&*store).await?;
        note(&mut beats, before);
        let before = SystemClock.now();
        store.inspect(&space).await?;
        note(&mut inspections, before);
        let body = vec![b'x'; BODY_BYTES];
        let fence = Some(holder.lease.version.epoch);
        let before = SystemClock.now();
        store.write_document(&space, "bench", body, Precondition::Any, fence).await?;
        note(&mut writes, before);
        let before = SystemClock.now();
        store.read_document(&space, "bench").await?;
        note(&mut reads, before);
    }
    report.measured("beat, renewing", "us", &beats, &[Bar::median(BEAT_US)]);
    report.measured("inspect", "us", &inspections, &[]);
    report.measured("write document", "us", &writes, &[]);
    report.measured("read document", "us", &reads, &[]);
    let p99 = Percentiles::of(&beats).map_or(f64::NAN, |spread| spread.p99);
    report.note(format!("beat, p99: {p99:.0} us"));
    Ok(())
}

/// The holder of the lease.
struct Holder {
    node: NodeRecord,
    lease: LeaseSnapshot,
    lineage: Lineage,
    attempt: u64,
}

impl Holder {
    async fn take(store: &dyn Store, boot: BootId) -> Result<Self, BenchError> {
        let node = NodeRecord {
            id: NodeId::new("node-1").expect("a plain name"),
            boot,
            beat: 1,
            eligible: true,
            draining: false,
            load: 0,
            seen: Epoch(0),
            partitions: None,
            profile: Arc::new(NodeProfile::default()),
        };
        let lineage = store.inspect(&namespace()).await?.lineage;
        let (nonce, ttl) = (Nonce { boot, attempt: 1 }, Settings::default().lease_timeout);
        let claim = Claim::Vacant;
        let floor = Epoch(0);
        let acquire =
            LeaseIntent::Acquire(Acquire { expect: None, claim, lineage, floor, nonce, ttl });
        let (lease, lineage) = beat(store, &node, acquire).await?;
        Ok(Self { node, lease, lineage, attempt: 1 })
    }

    async fn renew(&mut self, store: &dyn Store) -> Result<(), BenchError> {
        self.attempt += 1;
        self.node.beat += 1;
        let renew = LeaseIntent::Renew(Renew {
            expect: self.lease.version,
            lineage: self.lineage,
            nonce: Nonce { boot: self.node.boot, attempt: self.attempt },
            ttl: self.lease.ttl,
        });
        (self.lease, self.lineage) = beat(store, &self.node, renew).await?;
        Ok(())
    }
}

async fn beat(
    store: &dyn Store,
    node: &NodeRecord,
    lease: LeaseIntent,
) -> Result<(LeaseSnapshot, Lineage), BenchError> {
    let (node, known_view) = (node.clone(), ViewVersion::default());
    let request =
        BeatRequest { node, recording: Recording::Write, replaces: None, lease, known_view };
    let reply = store.beat(&namespace(), request).await?;
    match (reply.outcome, reply.lease) {
        (Some(Outcome::Applied), Some(lease)) => Ok((lease, reply.lineage)),
        (outcome, _) => {
            Err(BenchError::Answer { what: "a beat of the holder", answer: format!("{outcome:?}") })
        }
    }
}
