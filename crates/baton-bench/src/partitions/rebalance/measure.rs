//! One store: nodes at rest, then one event after the other.

use std::time::Duration;

use baton::Namespace;
use baton::partitions::TaskList;
use baton_cli::cluster::owners::{EventMoves, Findings, OwnerCluster, OwnerPlan};
use baton_store::clock::{Clock, SystemClock};

use crate::beats::ServerCounter;
use crate::error::BenchError;
use crate::fixture::Fixture;
use crate::partitions::cluster::{calls, node_name, start_all};
use crate::partitions::options::Rebalance;
use crate::partitions::owner::CallTotals;
use crate::percentiles::{Percentiles, ms};
use crate::sandbox::Sandbox;

/// How long a cluster may take to be owned and balanced.
const PATIENCE: Duration = Duration::from_secs(120);

/// From one event to the next, in beats.
const RESTS_FOR: u32 = 4;

/// Before requests at rest are counted: PostgreSQL counts those of a session that has nothing to do
/// up to ten seconds later.
const COUNTS_AFTER: Duration = Duration::from_secs(12);

/// What is done to a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveEvent {
    /// A node is killed with -9.
    Killed,
    /// A node is drained.
    Drained,
    /// A node leaves.
    Left,
    /// A node joins.
    Joined,
    /// The leader is killed with -9.
    LeaderKilled,
}

impl MoveEvent {
    /// In the order in which they happen.
    pub const ALL: [Self; 5] =
        [Self::Killed, Self::Drained, Self::Left, Self::Joined, Self::LeaderKilled];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Killed => "killed",
            Self::Drained => "drained",
            Self::Left => "left",
            Self::Joined => "joined",
            Self::LeaderKilled => "leader killed",
        }
    }
}

/// What came of an event.
#[derive(Clone, Debug)]
pub struct EventFigures {
    pub event: MoveEvent,
    /// Until the last partition had an owner again, in milliseconds.
    pub owned_ms: f64,
    /// How long each partition that moved had no owner, in milliseconds.
    pub gaps_ms: Option<Percentiles>,
    pub moves: usize,
    /// No fewer moves are possible.
    pub least: usize,
    /// Calls of all processes meanwhile, of those that were there before and after.
    pub calls: CallTotals,
    /// Requests meanwhile, by the server's count, beats and looks included.
    pub counted: Option<u64>,
}

/// Requests of a cluster at rest, each second.
#[derive(Clone, Copy, Debug, Default)]
pub struct RestFigures {
    pub calls: f64,
    pub beats: f64,
    /// Requests that are no beats, not in a second but in all.
    pub besides: u64,
    pub counted: Option<f64>,
}

/// What was measured on a store.
pub struct Measured {
    pub without: RestFigures,
    pub with: RestFigures,
    pub placed_ms: f64,
    pub events: Vec<EventFigures>,
    pub findings: Findings,
}

/// Measures on a store.
pub async fn run(
    sandbox: &Sandbox,
    fixture: &Fixture,
    options: &Rebalance,
) -> Result<Measured, BenchError> {
    let kind = fixture.kind();
    let mut counter = ServerCounter::at(fixture).await?;
    eprintln!("{kind}: {} nodes without partitions", options.nodes);
    let mut plain = OwnerCluster::new(plan(sandbox, fixture, options, false)?).await?;
    start_all(&mut plain, 1, options.nodes)?;
    plain.all_in_view(PATIENCE).await?;
    let without = at_rest(&mut plain, &mut counter, options).await?;
    plain.stop().await?;

    let mut cluster = OwnerCluster::new(plan(sandbox, fixture, options, true)?).await?;
    eprintln!("{kind}: the same with {} partitions", cluster.partitions());
    let from = SystemClock.now();
    start_all(&mut cluster, 1, options.nodes)?;
    cluster.balanced(PATIENCE).await?;
    let placed_ms = ms(EventMoves::since(&cluster.history.works, from).owned_after);
    cluster.all_in_view(PATIENCE).await?;
    let with = at_rest(&mut cluster, &mut counter, options).await?;
    let mut events = Vec::new();
    for event in MoveEvent::ALL {
        eprintln!("{kind}: {}", event.name());
        events.push(happen(&mut cluster, &mut counter, event).await?);
        SystemClock.sleep(RESTS_FOR * options.profile.settings().heartbeat_interval).await;
    }
    cluster.stop().await?;
    let findings = Findings::of(&cluster.history);
    Ok(Measured { without, with, placed_ms, events, findings })
}

fn plan(
    sandbox: &Sandbox,
    fixture: &Fixture,
    options: &Rebalance,
    with: bool,
) -> Result<OwnerPlan, BenchError> {
    let name = if with { "partitions" } else { "plain" };
    let folder = sandbox.room(&format!("{}-{name}", fixture.kind()))?;
    let list = |number| {
        let id = format!("list-{number:02}").parse().expect("a plain name");
        TaskList::new(id, options.partitions)
    };
    Ok(OwnerPlan {
        program: sandbox.owner().to_owned(),
        command: vec!["owner".to_owned()],
        store: fixture.url(&folder),
        namespace: Namespace::new(name).expect("a plain name"),
        folder,
        profile: options.profile,
        lists: (1..=options.lists).filter(|_| with).map(list).collect(),
    })
}

/// The requests of a cluster to which nothing happens.
async fn at_rest(
    cluster: &mut OwnerCluster,
    counter: &mut ServerCounter,
    options: &Rebalance,
) -> Result<RestFigures, BenchError> {
    SystemClock.sleep(COUNTS_AFTER).await;
    let before = (counter.count().await?, calls(cluster).await?, SystemClock.now());
    SystemClock.sleep(Duration::from_secs(options.seconds.into())).await;
    let after = (counter.count().await?, calls(cluster).await?, SystemClock.now());
    let seconds = after.2.since(before.2).as_secs_f64();
    let mut spent = CallTotals::default();
    for (process, after) in &after.1 {
        spent.add_since(&before.1.get(process).copied().unwrap_or_default(), after);
    }
    let counted = before.0.zip(after.0).map(|(before, after)| after.saturating_sub(before));
    let counted = counted.map(|count| count as f64 / seconds);
    Ok(RestFigures {
        calls: spent.all as f64 / seconds,
        beats: spent.beats as f64 / seconds,
        besides: spent.all - spent.beats,
        counted,
    })
}

/// Lets it happen, and waits until everything is owned and balanced again.
async fn happen(
    cluster: &mut OwnerCluster,
    counter: &mut ServerCounter,
    event: MoveEvent,
) -> Result<EventFigures, BenchError> {
    let leader = cluster.leader().await?;
    let leads = leader.as_ref().and_then(|leader| cluster.place(leader)).unwrap_or(0);
    let mut others = (0..cluster.processes.len()).rev().filter(|at| *at != leads);
    let other = others.find(|at| !cluster.processes[*at].is_draining).unwrap_or(leads);
    let victim = if event == MoveEvent::LeaderKilled { leads } else { other };
    let least = match event {
        MoveEvent::Joined => cluster.fewest_moves(None, 1),
        _ => cluster.fewest_moves(Some(victim), 0),
    };
    let before = (counter.count().await?, calls(cluster).await?);
    let at = SystemClock.now();
    let since = match event {
        MoveEvent::Killed | MoveEvent::LeaderKilled => cluster.kill(victim)?,
        MoveEvent::Drained => cluster.drain(victim).map(|()| at)?,
        MoveEvent::Left => cluster.leave(victim).map(|()| at)?,
        MoveEvent::Joined => cluster.start(&node_name(999)).map(|()| at)?,
    };
    cluster.settled(PATIENCE).await?;
    let counted = before.0.zip(counter.count().await?);
    let after = calls(cluster).await?;
    let mut spent = CallTotals::default();
    for (process, before) in &before.1 {
        if let Some(after) = after.get(process) {
            spent.add_since(before, after);
        }
    }
    let moves = EventMoves::since(&cluster.history.works, since);
    let gaps: Vec<f64> = moves.gaps.into_iter().map(ms).collect();
    Ok(EventFigures {
        event,
        owned_ms: ms(moves.owned_after),
        gaps_ms: Percentiles::of(&gaps),
        moves: moves.moved,
        least,
        calls: spent,
        counted: counted.map(|(before, after)| after.saturating_sub(before)),
    })
}
