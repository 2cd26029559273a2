//! One number of schedules on one store: without them, with them, and without them again.

use std::time::Duration;

use baton::Namespace;
use baton_store::clock::{Clock, SystemClock};

use super::cluster::Cluster;
use super::fires::{FireFigures, SECOND_MS};
use super::leader_calls::PageCounts;
use crate::beats::ServerCounter;
use crate::error::BenchError;
use crate::fixture::Fixture;
use crate::percentiles::Percentiles;
use crate::sandbox::Sandbox;

/// From when schedules are declared until their slots count.
const STARTS_AFTER_MS: u64 = 5 * SECOND_MS;

/// How long a slot may take to be started and not count as missed.
const ENDS_AFTER_MS: u64 = 3 * SECOND_MS;

/// From when schedules are gone until beats count.
const CALMS_AFTER: Duration = Duration::from_secs(2);

/// What is put on a store.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// How many schedules of every second.
    pub schedules: u32,
    /// How long.
    pub lasts: Duration,
    /// Do pages go through the handle of the beats?
    pub one_handle: bool,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Where.
    pub store: String,
    /// Are there bars for it?
    pub is_judged: bool,
    /// How many schedules.
    pub schedules: u32,
    /// What was started.
    pub fires: FireFigures,
    /// Beats of the leader without the schedules and with them; no beats for a peer.
    pub beats: Option<(Percentiles, Percentiles)>,
    /// Requests beside those without the schedules, by the server's count.
    pub counted: Option<f64>,
    /// The leader's calls for pages.
    pub pages: PageCounts,
}

impl Measured {
    /// The figures of a peer.
    pub fn of_peer(fires: FireFigures, schedules: u32) -> Self {
        Self {
            store: "(lock a fire)".to_owned(),
            is_judged: false,
            schedules,
            fires,
            beats: None,
            counted: None,
            pages: PageCounts::default(),
        }
    }
}

/// What was counted up to a moment, and what beats took since the last one.
struct Reading {
    counted: Option<u64>,
    pages: PageCounts,
    beats_ms: Vec<f64>,
}

impl Reading {
    async fn take(cluster: &Cluster, counter: &mut ServerCounter) -> Result<Self, BenchError> {
        let counted = counter.count().await?;
        Ok(Self { counted, pages: cluster.calls.read(), beats_ms: cluster.beats.take() })
    }
}

/// Measures on nodes of its own.
pub async fn run(sandbox: &Sandbox, fixture: &Fixture, load: Load) -> Result<Measured, BenchError> {
    let (kind, Load { schedules, lasts, one_handle }) = (fixture.kind(), load);
    eprintln!("{kind}: {schedules} schedules, {} s with them and without", lasts.as_secs());
    let name = format!("cron-{schedules}");
    let url = fixture.url(&sandbox.room(&format!("{kind}-{name}"))?);
    let namespace = Namespace::new(&name).expect("a plain name");
    let mut counter = ServerCounter::at(fixture).await?;
    let cluster = Cluster::start(&url, &namespace, one_handle).await?;
    let calm_before = Reading::take(&cluster, &mut counter).await?;
    let mut calm = half(&cluster, &mut counter, lasts).await?;

    cluster.declare(schedules)?;
    let from_ms = (SystemClock.wall_ms() + STARTS_AFTER_MS).next_multiple_of(SECOND_MS);
    let to_ms = from_ms + lasts.as_secs() * SECOND_MS;
    sleep_until(from_ms - SECOND_MS / 2).await;
    let before = Reading::take(&cluster, &mut counter).await?;
    sleep_until(to_ms - SECOND_MS / 2).await;
    let after = Reading::take(&cluster, &mut counter).await?;
    sleep_until(to_ms + ENDS_AFTER_MS).await;
    let fires = FireFigures::of(&cluster.log.take(), schedules, (from_ms, to_ms));

    cluster.withdraw(schedules);
    SystemClock.sleep(CALMS_AFTER).await;
    drop(cluster.beats.take());
    let calm_after = half(&cluster, &mut counter, lasts).await?;
    cluster.leave().await;
    let calm_requests = requests(&calm_before, &calm).map(|half| 2.0 * half);
    calm.beats_ms.extend(calm_after.beats_ms);
    let beats = Percentiles::of(&calm.beats_ms).zip(Percentiles::of(&after.beats_ms));
    Ok(Measured {
        store: kind.name().to_owned(),
        is_judged: !super::climbs(kind),
        schedules,
        fires,
        beats,
        counted: requests(&before, &after).zip(calm_requests).map(|(with, calm)| with - calm),
        pages: after.pages.since(before.pages),
    })
}

/// Half of the time without schedules.
async fn half(
    cluster: &Cluster,
    counter: &mut ServerCounter,
    lasts: Duration,
) -> Result<Reading, BenchError> {
    SystemClock.sleep(lasts / 2).await;
    Reading::take(cluster, counter).await
}

/// What the server counted in between.
fn requests(before: &Reading, after: &Reading) -> Option<f64> {
    let (before, after) = before.counted.zip(after.counted)?;
    Some(after.saturating_sub(before) as f64)
}

async fn sleep_until(wall_ms: u64) {
    let left_ms = wall_ms.saturating_sub(SystemClock.wall_ms());
    SystemClock.sleep(Duration::from_millis(left_ms)).await;
}
