//! A flood of commands and hints does not keep the node's thread from its renewals.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use baton::clock::{self, Moment};
use baton::lifeline::send_hint;
use baton::{Event, LifelineConfig, Namespace, Node, Store, StoreError, async_trait};
use baton_core::protocol::Hint;
use baton_store::wrap::{Layer, Wrapped};
use baton_store::{Answer, Backend, Call, Operation};

use crate::cluster::{builder, quick, soon, store, until};

/// The moments at which beats went out.
#[derive(Default)]
struct Beats(Mutex<Vec<Moment>>);

impl Beats {
    fn sent(&self) -> Vec<Moment> {
        self.0.lock().expect("no holder panics").clone()
    }
}

#[async_trait]
impl Layer for Beats {
    async fn call(
        &self,
        inner: &dyn Backend,
        namespace: &Namespace,
        call: Call,
    ) -> Result<Answer, StoreError> {
        if call.kind() == "renew" {
            self.0.lock().expect("no holder panics").push(clock::now());
        }
        inner.call(namespace, call).await
    }
}

/// Everything that an application may ask again and again without meaning to move leadership.
fn flood(node: &Node, calls: &AtomicU32, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        let call = calls.fetch_add(1, Ordering::Relaxed);
        node.set_load(call);
        node.set_healthy(true);
        node.ensure_coordinator(false, None);
        if call.is_multiple_of(16) {
            std::thread::yield_now();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_renews_in_time_while_four_threads_ask_and_hint_without_a_pause() {
    let ms = Duration::from_millis;
    let settings = quick().tune(|it| {
        it.lease_timeout = ms(4_000);
        it.heartbeat_interval = ms(250);
        it.heartbeat_jitter = Duration::ZERO;
        it.min_epoch_duration = ms(8_000);
    });
    let beats = Arc::new(Wrapped::new(store(), Beats::default()));
    let store: Arc<dyn Store> = beats.clone();
    let node = builder(&store, "a").settings(settings.clone()).lifeline(LifelineConfig::default());
    let node = node.build().expect("it starts");
    let term = soon("the term", node.leadership()).await.expect("it leads");
    let epoch = term.epoch();
    let lease = store.inspect(node.namespace()).await.expect("it answers").lease.expect("held");
    let lifeline = lease.holder.and_then(|holder| holder.lifeline).expect("it has one");
    let mut events = node.events();
    let (calls, is_over) = (AtomicU32::new(0), AtomicBool::new(false));
    let before = beats.layer().sent().len();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| flood(&node, &calls, &is_over));
        }
        let hints = async {
            let mut sent = 0_u32;
            while !is_over.load(Ordering::Relaxed) {
                let sending = send_hint(&lifeline, node.namespace(), &Hint::Look).await;
                sent += u32::from(sending.is_ok());
            }
            sent
        };
        let enough = until("renewals beside a flood", || {
            beats.layer().sent().len() >= before + 8 && calls.load(Ordering::Relaxed) > 1_000
        });
        let hinting = tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(async {
                tokio::join!(hints, async {
                    enough.await;
                    is_over.store(true, Ordering::Relaxed);
                })
            })
        });
        assert!(hinting.0 > 0, "the lifeline answers all the while");
    });
    assert!(node.is_leader() && term.is_leader());
    assert_eq!(term.epoch(), epoch);
    let sent = beats.layer().sent();
    let gaps = sent[before..].windows(2).map(|pair| pair[1].since(pair[0]));
    let longest = gaps.max().expect("there are eight");
    assert!(longest < 4 * settings.heartbeat_interval, "a renewal was {longest:?} after the last");
    while let Some(told) = events.try_next() {
        assert!(!matches!(told.event, Event::CoordinatorDemoted { .. }), "{told:?}");
    }
}

#[tokio::test]
async fn a_transfer_that_is_replaced_before_the_node_looked_is_refused_by_an_event() {
    let store = store();
    let node = builder(&store, "a").build().expect("it starts");
    let mut events = node.events();
    let names: Vec<_> = (0..100).map(|n| crate::cluster::id(&format!("n{n}"))).collect();
    names.iter().for_each(|name| node.transfer(name.clone()));
    let mut refused = 0;
    while refused < names.len() {
        let test = |event: &Event| matches!(event, Event::TransferRefused { .. });
        crate::cluster::event(&mut events, "every refusal", test).await;
        refused += 1;
    }
    assert_eq!(refused, 100, "replaced, or refused by the node: none is lost");
}
