//! Counters: many tasks, few appends, each change once; consolidated by the leader.

use std::sync::Arc;
use std::time::Duration;

use baton::plugins::counters::{
    CountError, Counters, CountersConfig, CountersPlugin, PluginConfig,
};
use baton::{Namespace, Store};
use baton_store::clock::SystemClock;
use baton_store::memory::MemoryStore;
use baton_store::wrap::{CallFault, Faults, Record, Wrapped};
use baton_store::{Capability, Class, Declaration, ExpiryClock, StoreError};
use tokio::task::JoinSet;

use crate::cluster::{builder, soon, store as without_counters};

const SOON: Duration = Duration::from_secs(20);

fn store() -> Arc<dyn Store> {
    let declaration = Declaration {
        name: "memory".to_owned(),
        class: Class::SingleServer,
        expiry: ExpiryClock::Store,
        capabilities: Capability::ALL.into(),
    };
    Arc::new(MemoryStore::new(declaration, Arc::new(SystemClock)))
}

fn namespace() -> Namespace {
    Namespace::new("default").expect("it is a name")
}

fn quick(store: Arc<dyn Store>) -> Counters {
    let deadline = Duration::from_millis(100);
    Counters::with_config(
        store,
        namespace(),
        CountersConfig::default().tune(|it| it.deadline = deadline),
    )
}

/// Never by itself, only when asked.
fn on_request() -> CountersPlugin {
    let (every, look_every) = (Duration::from_secs(3_600), Duration::from_millis(5));
    CountersPlugin::new(PluginConfig::default().tune(|it| {
        it.every = every;
        it.look_every = look_every;
    }))
}

fn recorded(inner: Arc<dyn Store>) -> Arc<Wrapped<Record>> {
    Arc::new(Record::around(inner, Arc::new(SystemClock), 10_000))
}

#[tokio::test]
async fn what_many_tasks_count_travels_together() {
    let recorded = recorded(store());
    let counters = Counters::new(recorded.clone(), namespace());
    let mut tasks = JoinSet::new();
    for task in 0..200 {
        let counters = counters.clone();
        tasks.spawn(async move {
            for _ in 0..5 {
                counters.add("hits", 2).await?;
                counters.sub(if task % 2 == 0 { "even" } else { "odd" }, 1).await?;
            }
            Ok::<(), CountError>(())
        });
    }
    while let Some(ended) = tasks.join_next().await {
        assert_eq!(ended.expect("no task panics"), Ok(()));
    }
    assert_eq!(counters.get("hits").await, Ok(2_000));
    assert_eq!(counters.get("even").await, Ok(-500));
    assert_eq!(counters.get("odd").await, Ok(-500));
    assert_eq!(counters.get("never").await, Ok(0));
    let appends = recorded.layer().entries().iter().filter(|it| it.kind == "append").count();
    assert!(appends < 500, "2,000 changes took {appends} appends");
}

#[tokio::test]
async fn an_append_whose_answer_is_lost_is_repeated_and_counts_once() {
    let script = [
        ("append", CallFault::ReplyLost),
        ("append", CallFault::RequestLost),
        ("append", CallFault::Unreachable),
        ("append", CallFault::Doubled),
    ];
    let counters = Counters::new(Arc::new(Faults::scripted(store(), script)), namespace());
    for _ in 0..3 {
        assert_eq!(counters.add("hits", 1).await, Ok(()));
    }
    assert_eq!(counters.set("level", 9).await, Ok(()));
    assert_eq!(counters.get("hits").await, Ok(3));
    assert_eq!(counters.get("level").await, Ok(9));
}

#[tokio::test]
async fn the_deadline_tells_what_is_not_counted_from_what_is_not_known() {
    let never = |fault| Faults::scripted(store(), vec![("append", fault); 1_000]);
    let unreachable = quick(Arc::new(never(CallFault::Unreachable)));
    let outcome = unreachable.add("hits", 1).await;
    assert!(matches!(outcome, Err(CountError::NotCounted { .. })), "{outcome:?}");
    assert_eq!(unreachable.get("hits").await, Ok(0));
    let silent = quick(Arc::new(never(CallFault::ReplyLost)));
    let outcome = silent.add("hits", 1).await;
    assert!(matches!(outcome, Err(CountError::Unknown { .. })), "{outcome:?}");
    assert_eq!(silent.get("hits").await, Ok(1));
    // The next one goes on with a number of its own.
    let outcome = silent.add("hits", 1).await;
    assert!(matches!(outcome, Err(CountError::Unknown { .. })), "{outcome:?}");
    assert_eq!(silent.get("hits").await, Ok(2));
}

#[tokio::test]
async fn a_store_without_counters_refuses_at_once_and_costs_no_leadership() {
    let bare = without_counters();
    let node = builder(&bare, "a").plugin(on_request()).build().expect("it starts");
    let term = soon("leadership", node.leadership()).await.expect("it stays");
    let refused = Err(CountError::Store(StoreError::Unsupported(Capability::Counters)));
    assert_eq!(node.counters().add("hits", 1).await, refused);
    assert_eq!(node.counters().consolidate_now(Duration::from_millis(50)).await, Ok(false));
    assert!(term.is_leader());
}

#[tokio::test]
async fn an_overflow_is_an_error_until_the_counter_is_set() {
    let counters = Counters::new(store(), namespace());
    counters.set("top", i64::MAX).await.expect("memory answers");
    counters.add("top", 1).await.expect("it is appended");
    let over = counters.get("top").await.expect_err("it does not fit").to_string();
    assert!(over.starts_with("top overflowed 64 bits and stands at 92233720"), "{over}");
    counters.set("top", 0).await.expect("memory answers");
    assert_eq!(counters.get("top").await, Ok(0));
    let far = counters.sub("top", i64::MIN).await.expect_err("it has no opposite").to_string();
    assert!(far.starts_with("top cannot be lowered by -92233720"), "{far}");
    assert!(matches!(counters.add("", 1).await, Err(CountError::Name(_))));
}

#[tokio::test]
async fn a_dropped_future_takes_nothing_back_while_the_handle_lives() {
    let counters = Counters::new(store(), namespace());
    {
        let mut dropped = std::pin::pin!(counters.add("hits", 1));
        let begun = std::future::poll_fn(|context| {
            std::task::Poll::Ready(dropped.as_mut().poll(context).is_ready())
        });
        assert!(!begun.await, "it is gathered for a while");
    }
    counters.flush().await.expect("memory answers");
    assert_eq!(counters.get("hits").await, Ok(1));
}

#[tokio::test]
async fn the_leader_consolidates_at_first_and_when_asked() {
    let store = store();
    let counters = Counters::new(store.clone(), namespace());
    counters.add("hits", 1).await.expect("memory answers");
    assert_eq!(counters.consolidate_now(Duration::ZERO).await, Ok(false), "no node leads");
    let first = builder(&store, "a").plugin(on_request()).build().expect("it starts");
    soon("the first", async {
        while counters.get_consolidated("hits").await != Ok(1) {
            tokio::task::yield_now().await;
        }
    })
    .await;
    for more in 2..20 {
        counters.add("hits", 1).await.expect("memory answers");
        assert_eq!(counters.consolidate_now(SOON).await, Ok(true));
        assert_eq!(counters.get_consolidated("hits").await, Ok(more));
    }
    let second = builder(&store, "b").plugin(on_request()).build().expect("it starts");
    counters.add("hits", 1).await.expect("memory answers");
    first.leave().await;
    assert_eq!(counters.consolidate_now(SOON).await, Ok(true));
    assert_eq!(counters.get_consolidated("hits").await, Ok(20));
    second.leave().await;
}

#[tokio::test]
async fn steps_are_small_and_silent_writers_are_forgotten() {
    let store = recorded(store());
    let counters = Counters::new(store.clone(), namespace());
    for _ in 0..30 {
        counters.add("hits", 1).await.expect("memory answers");
    }
    let config = PluginConfig::default().tune(|it| it.step_max = 7);
    let plain: Arc<dyn Store> = store.clone();
    let node = builder(&plain, "a").plugin(CountersPlugin::new(config)).build().expect("it starts");
    assert_eq!(counters.consolidate_now(SOON).await, Ok(true));
    let made = |kind: &str| {
        let entries = store.layer().entries();
        entries.iter().filter(|it| it.kind == kind).map(|it| it.call.clone()).collect::<Vec<_>>()
    };
    assert!(made("consolidate").len() >= 5, "{:?}", made("consolidate"));
    assert!(made("consolidate").iter().all(|call| call.contains("limit: 7")));
    soon("forgetting", async {
        while made("collect").is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert!(made("collect")[0].contains("silent_for: 3600s"), "{:?}", made("collect"));
    node.leave().await;
}
