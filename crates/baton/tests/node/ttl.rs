//! The TTL plugin: rounds of batches, one after another, and no failure stops what is not its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use baton::plugins::ttl::{InvalidTtl, OwnRecords, Ttl};
use baton::{Epoch, Event, Sweep, SweepError, Swept, async_trait};

use crate::cluster::{builder, event, soon, store, until};

/// Something to sweep, without a server behind it.
struct Heap {
    name: &'static str,
    left: AtomicU32,
    batches: Arc<AtomicU32>,
    epoch: Arc<AtomicU64>,
    is_wrong: bool,
}

impl Heap {
    fn of(name: &'static str, left: u32) -> Self {
        let (batches, epoch) = (Arc::default(), Arc::default());
        Self { name, left: AtomicU32::new(left), batches, epoch, is_wrong: false }
    }
}

#[async_trait]
impl Sweep for Heap {
    fn name(&self) -> &str {
        self.name
    }

    async fn examine(&self) -> Result<(), SweepError> {
        Ok(())
    }

    async fn batch(&self, epoch: Epoch, limit: u32) -> Result<Swept, SweepError> {
        self.batches.fetch_add(1, Ordering::SeqCst);
        self.epoch.store(epoch.0, Ordering::SeqCst);
        if self.is_wrong {
            let (target, detail) = (self.name.to_owned(), "it is not there".to_owned());
            return Err(SweepError::Rejected { target, detail });
        }
        let records = self.left.load(Ordering::SeqCst).min(limit);
        self.left.fetch_sub(records, Ordering::SeqCst);
        Ok(Swept { records, more: records == limit })
    }
}

fn ttl() -> Ttl {
    Ttl::new().every(Duration::from_millis(20)).pause(Duration::from_millis(1)).batch(10)
}

#[tokio::test]
async fn a_backlog_goes_in_batches_and_a_wrong_target_stops_nothing_else() {
    let (small, large) = (Heap::of("small", 5), Heap::of("large", 95));
    let batches = large.batches.clone();
    let wrong = Heap { is_wrong: true, ..Heap::of("wrong", 1) };
    let ttl = ttl().sweep(wrong).sweep(large).sweep(small);
    let counts = ttl.counts();
    let store = store();
    let (node, mut events) =
        builder(&store, "a").plugin(ttl).build_with_events().expect("it starts");
    until("everything to go", || counts.total() == 100).await;
    let failed =
        event(&mut events, "the failure", |event| matches!(event, Event::PluginFailed { .. }));
    let Event::PluginFailed { plugin, error, .. } = failed.await.event.clone() else {
        unreachable!("it was asked for");
    };
    assert_eq!(
        (plugin.as_str(), error.as_str()),
        ("ttl", "wrong cannot be swept: it is not there")
    );
    let swept = [("wrong", 0), ("large", 95), ("small", 5)];
    assert_eq!(counts.swept(), swept.map(|(name, count)| (name.to_owned(), count)));
    assert!(batches.load(Ordering::SeqCst) >= 10, "95 in batches of 10");
    assert!(node.is_leader(), "a failing sweep is no reason for another leader");
    soon("the node to leave", node.leave()).await;
}

/// What is removed is told once a round, and counted from the first term on.
#[tokio::test]
async fn what_was_removed_is_told_and_measured_for_each_target() {
    let store = store();
    let old = builder(&store, "old").build().expect("it starts");
    drop(soon("a term", old.leadership()).await.expect("it leads"));
    soon("the node to leave", old.leave()).await;
    let own = OwnRecords { keep_terms: 1, ..OwnRecords::default() };
    let ttl = ttl().sweep(Heap::of("sessions", 25)).sweep(Heap::of("none", 0)).own_records(own);
    let (node, mut events) =
        builder(&store, "a").plugin(ttl.named("tidy")).build_with_events().expect("it starts");
    let mut told = std::collections::BTreeMap::new();
    while told.len() < 2 {
        let swept = |event: &Event| matches!(event, Event::PluginSwept { .. });
        let stamped = event(&mut events, "something removed", swept).await;
        let Event::PluginSwept { plugin, target, records } = stamped.event.clone() else {
            unreachable!("it was asked for");
        };
        assert_eq!(plugin, "tidy");
        *told.entry(target).or_insert(0) += records;
    }
    assert_eq!(
        told.into_iter().collect::<Vec<_>>(),
        [("baton's own records".to_owned(), 1), ("sessions".to_owned(), 25)]
    );
    let metrics = node.node_metrics();
    let measured = |target: &str| {
        metrics.value("baton_ttl_swept_total", &[("plugin", "tidy"), ("target", target)])
    };
    let measured = ["sessions", "baton's own records", "none", "other"].map(measured);
    assert_eq!(measured, [Some(25.0), Some(1.0), Some(0.0), None]);
    soon("the node to leave", node.leave()).await;
}

#[tokio::test]
async fn no_batch_begins_once_the_term_was_told_to_stop() {
    let endless = Heap::of("endless", u32::MAX);
    let (batches, epoch) = (endless.batches.clone(), endless.epoch.clone());
    let store = store();
    let node = builder(&store, "a").plugin(ttl().sweep(endless)).build().expect("it starts");
    until("some batches", || batches.load(Ordering::SeqCst) > 3).await;
    assert_eq!(epoch.load(Ordering::SeqCst), 1);
    soon("the node to leave", node.leave()).await;
    let after = batches.load(Ordering::SeqCst);
    drop(node);
    // The next leader goes on where this one stopped, under its own epoch.
    let next = builder(&store, "b").build().expect("it starts");
    soon("the next leader", next.leadership()).await.expect("it leads");
    assert_eq!(batches.load(Ordering::SeqCst), after, "nothing began after the term");
}

#[tokio::test]
async fn old_terms_go_and_the_present_one_stays() {
    let store = store();
    for _ in 0..3 {
        let node = builder(&store, "a").build().expect("it starts");
        drop(soon("a term", node.leadership()).await.expect("it leads"));
        soon("the node to leave", node.leave()).await;
    }
    let own = OwnRecords { keep_terms: 2, ..OwnRecords::default() };
    let ttl = ttl().own_records(own);
    let counts = ttl.counts();
    let node = builder(&store, "b").plugin(ttl).build().expect("it starts");
    until("old terms to go", || counts.own_records() == 2).await;
    let terms = store.history(node.namespace(), 100).await.expect("it is there");
    let epochs: Vec<u64> = terms.iter().map(|term| term.epoch.0).collect();
    assert_eq!(epochs, [4, 3]);
    assert_eq!(terms[0].ended, None);
    soon("the node to leave", node.leave()).await;
}

#[test]
fn what_cannot_work_is_refused_with_its_numbers() {
    assert_eq!(ttl().check(), Ok(()));
    assert_eq!(ttl().batch(0).check(), Err(InvalidTtl::Batch));
    assert_eq!(ttl().every(Duration::ZERO).check(), Err(InvalidTtl::Every));
    let own = OwnRecords { forget_dead_after: Duration::from_secs(5), ..OwnRecords::default() };
    let refused = ttl().own_records(own).check().expect_err("too short").to_string();
    assert_eq!(
        refused,
        "forget_dead_after is 5s; give at least 60s, or a slow node would be forgotten"
    );
}
