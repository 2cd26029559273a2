//! A store that an earlier version wrote is opened by this one: nothing of it is lost.
//!
//! ```text
//!   fill  ── what a fixture holds ──► two terms, both released; the records of two nodes
//!                                     a view, a document, counters of which some are pending
//!   check ── the fixture, opened ───► all of that is there, and the next epoch is higher; what
//!                                     later versions added can be written
//! ```
//!
//! A fixture is made once, by the version that it stands for; [`fill`] shows what is in it.

use std::sync::Arc;

use baton_core::ids::{BootId, Epoch, Namespace};
use baton_core::partition::{AssignmentVersion, PartitionReport};
use baton_core::protocol::{Claim, Outcome, ReleaseReason, TermEnd, View, ViewMember, ViewVersion};
use baton_store::{
    BatchOutcome, Capability, Change, CounterAnswer, CounterCall, CounterName, CounterValue, Delta,
    Document, DocumentWrite, Precondition, Store, WriteOutcome,
};

use crate::contender::{Contender, namespace};

/// The resource whose fence a fixture holds, raised to [`LAST`].
pub const RESOURCE: &str = "invoices";

/// The epoch of the last term in a fixture.
pub const LAST: Epoch = Epoch(2);

const DOCUMENT: (&str, &[u8]) = ("settings", b"colour = \"blue\"");

/// The namespace of a fixture.
pub fn space() -> Namespace {
    namespace("web")
}

fn view(node: &Contender) -> View {
    let member =
        |id, boot| ViewMember { id, boot, candidate: true, draining: false, assignment: None };
    let first = Contender::new(&node.store, &node.namespace, 1);
    View {
        version: ViewVersion { epoch: LAST, number: 1 },
        coordinator: node.id(),
        members: vec![member(first.id(), first.boot()), member(node.id(), node.boot())],
        successors: vec![first.id()],
        certain: 1,
    }
}

fn hits() -> CounterName {
    CounterName::new("hits").expect("it is a name")
}

async fn append(store: &dyn Store, number: u64, amount: i64) {
    let deltas = vec![Delta { counter: hits(), change: Change::Add(amount) }];
    let call = CounterCall::Append { writer: BootId(7), number, deltas };
    assert_eq!(store.counters(&space(), call).await, Ok(CounterAnswer::Appended));
}

async fn consolidate(store: &dyn Store, fence: Epoch) {
    let done = store.counters(&space(), CounterCall::Consolidate { fence, limit: 10 }).await;
    assert_eq!(done, Ok(CounterAnswer::Consolidated { applied: 1, more: false }));
}

/// What the counter stands at: consolidated, and with what is pending.
async fn counted(store: &dyn Store) -> (i64, i64) {
    let call = CounterCall::Read { counters: vec![hits()] };
    match store.counters(&space(), call).await {
        Ok(CounterAnswer::Readings(readings)) => {
            let value = |value: CounterValue| value.value;
            assert_eq!(readings.len(), 1, "{readings:?}");
            (value(readings[0].consolidated), value(readings[0].current))
        }
        other => unreachable!("a reading is answered by readings: {other:?}"),
    }
}

fn keeps_counters(store: &dyn Store) -> bool {
    store.declaration().capabilities.contains(&Capability::Counters)
}

/// Writes what a fixture holds, but for the fence of [`RESOURCE`], into an empty store.
///
/// # Panics
///
/// If the store refuses any of it.
pub async fn fill(store: &Arc<dyn Store>) {
    let space = space();
    let (first, last) = (Contender::new(store, &space, 1), Contender::new(store, &space, 2));
    let held = first.take(Claim::Vacant).await;
    assert_eq!(first.release(held).await, Outcome::Applied);
    let held = last.take(Claim::Vacant).await;
    assert_eq!(held.epoch, LAST);
    let published = store.publish_view(&space, LAST, Arc::new(view(&last))).await;
    assert_eq!(published, Ok(Outcome::Applied));
    let (name, body) = DOCUMENT;
    for version in [1, 2] {
        let any = Precondition::Any;
        let written = store.write_document(&space, name, body.to_vec(), any, Some(LAST)).await;
        assert_eq!(written, Ok(WriteOutcome::Written(version)));
    }
    if keeps_counters(&**store) {
        append(&**store, 1, 5).await;
        consolidate(&**store, LAST).await;
        append(&**store, 2, 2).await;
    }
    assert_eq!(last.release(held).await, Outcome::Applied);
}

/// Everything of the fixture is there, and the store goes on: a higher epoch is granted, and the
/// last one is fenced off.
///
/// # Panics
///
/// If that is not so.
pub async fn check(store: &Arc<dyn Store>) {
    let space = space();
    let (last, mut next) = (Contender::new(store, &space, 2), Contender::new(store, &space, 3));
    let seen = store.inspect(&space).await.expect("the store answers");
    let lease = seen.lease.expect("a lease was written");
    assert_eq!((lease.version.epoch, lease.holder), (LAST, None));
    assert_eq!(seen.view.as_deref(), Some(&view(&last)));

    let members = store.members(&space).await.expect("the store answers");
    let said = members.into_iter().map(|member| (member.record.boot, member.record.partitions));
    assert_eq!(said.collect::<Vec<_>>(), [(BootId(1), None), (BootId(2), None)]);

    let terms = store.history(&space, 10).await.expect("the store answers");
    let ends = terms.iter().map(|term| (term.epoch, term.boot, term.ended.map(|ended| ended.1)));
    let released = Some(TermEnd::Released(ReleaseReason::Resigned));
    let expected = [(LAST, BootId(2), released), (Epoch(1), BootId(1), released)];
    assert_eq!(ends.collect::<Vec<_>>(), expected);

    let (name, body) = DOCUMENT;
    let document = Document { version: 2, body: body.to_vec() };
    assert_eq!(store.read_document(&space, name).await, Ok(Some(document)));
    if keeps_counters(&**store) {
        assert_eq!(counted(&**store).await, (5, 7), "2 are pending");
    }

    let acked = AssignmentVersion { slot: 1, version: 2 };
    let report = Arc::new(PartitionReport { acked, ..PartitionReport::default() });
    next.record.partitions = Some(Arc::clone(&report));
    let epoch = next.take(Claim::Vacant).await.epoch;
    assert!(epoch > LAST, "{epoch} was granted after {LAST}");
    let present = Precondition::Version(2);
    let late = store.write_document(&space, name, Vec::new(), present, Some(LAST)).await;
    assert_eq!(late, Ok(WriteOutcome::Fenced));
    let write = |name: &str, precondition| DocumentWrite {
        name: name.to_owned(),
        body: Vec::new(),
        precondition,
    };
    let batch = vec![write("later", Precondition::Absent), write(name, present)];
    let written = store.write_documents(&space, batch, Some(epoch)).await;
    assert_eq!(written, Ok(BatchOutcome::Written(vec![1, 3])));
    let members = store.members(&space).await.expect("the store answers");
    let said: Vec<_> = members.into_iter().map(|member| member.record.partitions).collect();
    assert_eq!(said, [None, None, Some(report)]);
    if keeps_counters(&**store) {
        append(&**store, 2, 1_000).await;
        consolidate(&**store, epoch).await;
        assert_eq!(counted(&**store).await, (7, 7), "an append that was repeated counts once");
    }
}
