//! What every sweep must do, whatever it sweeps: played on real records of a real server.
//!
//! ```text
//!   Records: put at a moment, move, list; the server's own time
//!     ├─ none_early_and_none_left   every second of two minutes, the edges of minutes and hours
//!     ├─ a_backlog_goes_in_bounded_batches
//!     ├─ an_update_saves_a_record
//!     └─ a_later_epoch_ends_it
//! ```

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use baton_core::ids::Epoch;
use baton_store::StaleEpoch;
use baton_store::clock::{Clock, SystemClock};
use baton_store::sweep::{Sweep, SweepError};

use crate::wait::PATIENCE;

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;

/// Records that expire, and the clock that says when.
#[async_trait]
pub trait Records: Send + Sync {
    /// The server's time, in milliseconds since 1970, not later than it is.
    async fn now_ms(&self) -> i64;

    /// Puts records with these expiries, or gives those that are there a new one.
    async fn put(&self, expiries: &BTreeMap<u32, i64>);

    /// Which ones are there, sorted.
    async fn left(&self) -> Vec<u32>;
}

async fn swept(sweep: &dyn Sweep, limit: u32) -> u32 {
    let mut gone = 0;
    loop {
        let batch = sweep.batch(Epoch(1), limit).await.expect("nothing is in its way");
        assert!(batch.records <= limit, "{} of at most {limit}", batch.records);
        gone += batch.records;
        if !batch.more {
            return gone;
        }
    }
}

/// Everything that has expired goes, and nothing goes before.
///
/// # Panics
///
/// If that is not so.
pub async fn none_early_and_none_left(records: &dyn Records, sweep: &dyn Sweep) {
    let now = records.now_ms().await;
    let (minute, hour) = (now - now % MINUTE, now - now % HOUR);
    let seconds = (0..120).map(|second| now - second * SECOND);
    let edges = [-1, 0, 1].into_iter().flat_map(|by| {
        let minutes = (1..4).map(move |back| minute - back * MINUTE + by);
        minutes.chain((1..4).map(move |back| hour - back * HOUR + by))
    });
    let past: Vec<i64> = seconds.chain(edges).collect();
    let soon: Vec<i64> = (0..10).map(|step| now + 700 + step * 90).collect();
    let late = [now + HOUR, now + 24 * HOUR];
    let all: BTreeMap<u32, i64> =
        (0..).zip(past.iter().chain(&soon).chain(&late).copied()).collect();
    records.put(&all).await;

    let mut gone = 0;
    let ends = SystemClock.now() + PATIENCE;
    loop {
        gone += swept(sweep, 50).await;
        let left = records.left().await;
        let now = records.now_ms().await;
        let early = all.iter().find(|(id, at)| **at > now && !left.contains(id));
        assert_eq!(early, None, "it went before its time; now is {now}");
        if left.len() == late.len() {
            break;
        }
        assert!(SystemClock.now() < ends, "{left:?} are still there");
        SystemClock.sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(gone as usize, past.len() + soon.len(), "each was counted once");
}

/// A long backlog goes, and no batch has more than it may.
///
/// # Panics
///
/// If that is not so.
pub async fn a_backlog_goes_in_bounded_batches(records: &dyn Records, sweep: &dyn Sweep) {
    let now = records.now_ms().await;
    records.put(&(0..250).map(|id| (id, now - HOUR + i64::from(id))).collect()).await;
    for (wanted, more) in [(100, true), (100, true), (50, false)] {
        let oldest = records.left().await[0];
        let batch = sweep.batch(Epoch(1), 100).await.expect("nothing is in its way");
        assert_eq!((batch.records, batch.more), (wanted, more));
        assert!(!records.left().await.contains(&oldest), "the oldest go first");
    }
    assert_eq!(records.left().await, Vec::<u32>::new());
}

/// A record whose expiry was moved in time stays.
///
/// # Panics
///
/// If that is not so.
pub async fn an_update_saves_a_record(records: &dyn Records, sweep: &dyn Sweep) {
    let now = records.now_ms().await;
    let due = now + 300;
    records.put(&[(1, due), (2, due)].into()).await;
    records.put(&[(1, now + HOUR)].into()).await;
    let ends = SystemClock.now() + PATIENCE;
    while records.left().await != [1] {
        assert!(SystemClock.now() < ends, "{:?} are still there", records.left().await);
        swept(sweep, 10).await;
    }
    assert!(records.now_ms().await >= due);
    assert_eq!(records.left().await, [1]);
}

/// Once a later epoch was here, an earlier one removes nothing.
///
/// # Panics
///
/// If that is not so.
pub async fn a_later_epoch_ends_it(records: &dyn Records, sweep: &dyn Sweep) {
    let now = records.now_ms().await;
    records.put(&(0..4).map(|id| (id, now - HOUR)).collect()).await;
    let first = sweep.batch(Epoch(7), 2).await.expect("the fence is new");
    assert_eq!((first.records, first.more), (2, true));
    let late = sweep.batch(Epoch(6), 2).await.expect_err("7 was here");
    let is_behind = matches!(
        late,
        SweepError::StaleEpoch(StaleEpoch { given: Epoch(6), highest: Epoch(7), ref resource })
            if resource.starts_with("ttl:")
    );
    assert!(is_behind, "{late:?}");
    assert_eq!(records.left().await.len(), 2, "nothing went");
    let again = sweep.batch(Epoch(8), 10).await.expect("it is the latest");
    assert_eq!(again.records, 2);
}
