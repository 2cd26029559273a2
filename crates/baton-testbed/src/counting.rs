//! Everything that can be done to counters, in one go: for tests of rights and of upgrades.

use std::time::Duration;

use baton_core::ids::{BootId, Epoch, Namespace};
use baton_store::{Change, CounterAnswer, CounterCall, CounterName, Delta, Reading, Store};

/// Adds one to a counter, consolidates, forgets all writers, reads and lists. What it stands at.
///
/// # Panics
///
/// If the store refuses any of it, or a list shows something else than a reading.
pub async fn count_once(store: &dyn Store, namespace: &Namespace, fence: Epoch) -> i64 {
    let name = CounterName::new("hits").expect("it is a name");
    let deltas = vec![Delta { counter: name.clone(), change: Change::Add(1) }];
    let calls = [
        CounterCall::Append { writer: BootId(7), number: 1, deltas },
        CounterCall::Consolidate { fence, limit: 10 },
        CounterCall::Collect { fence, silent_for: Duration::ZERO, limit: 10 },
    ];
    let mut answers = Vec::new();
    for call in calls {
        answers.push(store.counters(namespace, call).await.expect("it may"));
    }
    let applied = CounterAnswer::Consolidated { applied: 1, more: false };
    assert_eq!(answers, [CounterAnswer::Appended, applied, CounterAnswer::Collected(1)]);
    let listed = CounterCall::List { prefix: "h".to_owned(), after: None, limit: 10 };
    let read = readings(store, namespace, CounterCall::Read { counters: vec![name] }).await;
    assert_eq!(read, readings(store, namespace, listed).await);
    let reading = read.first().expect("it was just counted");
    assert_eq!(reading.consolidated, reading.current);
    reading.consolidated.value
}

async fn readings(store: &dyn Store, namespace: &Namespace, call: CounterCall) -> Vec<Reading> {
    match store.counters(namespace, call).await.expect("it may") {
        CounterAnswer::Readings(readings) => readings,
        other => unreachable!("a reading came to {other:?}"),
    }
}
