//! `chaos --partitions`: storms of kills, pauses, leaves, joins and drains over processes that own
//! partitions; after each one all must be owned and balanced within a bound.
//!
//! ```text
//!   storm: a fault every half second, killed nodes started again, paused ones go on
//!     └► calm: all faults are taken back ── L2: owned and balanced within the bound ──► storm …
//!   at the end: double owners, tokens, writes of late owners that were taken: none
//! ```

mod storm;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use baton::partitions::TaskList;
use baton::{Namespace, Profile};
use baton_cli::cluster::owners::{Findings, OwnerCluster, OwnerPlan};
use baton_core::rng::Rng;
use baton_store::clock::{Clock, SystemClock};
use tokio::task::JoinSet;

use super::check::{Writes, add_to_report, must_be_none};
use super::cluster::{start_all, writes};
use crate::cli;
use crate::error::BenchError;
use crate::fixture::{Fixture, StoreKind, chosen};
use crate::percentiles::{Percentiles, ms};
use crate::report::{Report, TextTable, number};
use crate::sandbox::Sandbox;
use storm::{FaultDeck, FaultKind, Storm};

/// L2: within this time after the last fault was taken back, all is owned and balanced. Two leases
/// with their margins, one for the leader and one for the owners of which a new leader knows
/// nothing; three beats; and a second for processes that start.
const BOUND: Duration = Duration::from_secs(11);

/// How long a cluster may take to be balanced when it starts, and after the bound was missed.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long a storm lasts, at least and at most, in milliseconds.
const STORM_MS: (u64, u64) = (5_000, 12_000);

/// How often a process writes for one of its partitions.
const WRITES_EVERY: &str = "20ms";

/// The numbers of partitions of the lists.
const LISTS: [u32; 3] = [64, 31, 1];

const HEAD: [&str; 8] =
    ["STORE", "STORMS", "FAULTS", "OWNERS", "WRITES", "REFUSED", "SETTLED P50 s", "MAX s"];

/// What came of the storms on a store.
#[derive(Default)]
struct Outcome {
    faults: BTreeMap<FaultKind, u32>,
    settled_ms: Vec<f64>,
    /// What was wrong when the bound was over.
    missed: Vec<String>,
    owners: usize,
    writes: Writes,
    findings: Findings,
}

/// Runs storms on all stores side by side.
pub async fn run(
    sandbox: &Arc<Sandbox>,
    options: &cli::Chaos,
    bars: bool,
) -> Result<Report, BenchError> {
    let mut report = Report::new("chaos --partitions", bars);
    // Any 20 of the 128 bits, short enough to be typed again.
    let seed = match options.seed {
        Some(seed) => seed,
        None => (baton::fresh_boot()?.0 % 1_000_000) as u64,
    };
    eprintln!("seed {seed}, {} nodes, {} s", options.nodes, options.lasts().as_secs());
    let mut at_work = JoinSet::new();
    for kind in chosen(&options.store) {
        let (sandbox, options) = (Arc::clone(sandbox), options.clone());
        at_work.spawn(async move { (kind, run_store(&sandbox, kind, &options, seed).await) });
    }
    let mut outcomes = BTreeMap::new();
    while let Some(done) = at_work.join_next().await {
        let (kind, outcome) = done?;
        outcomes.insert(kind, outcome?);
    }
    report.note(format!("seed {seed}"));
    report_all(&outcomes, &mut report);
    Ok(report)
}

async fn run_store(
    sandbox: &Sandbox,
    kind: StoreKind,
    options: &cli::Chaos,
    seed: u64,
) -> Result<Outcome, BenchError> {
    let fixture = Fixture::new(kind).await?;
    let folder = sandbox.room(&format!("{kind}-partitions"))?;
    let list = |(number, partitions): (usize, u32)| {
        let id = format!("list-{number}").parse().expect("a plain name");
        TaskList::new(id, partitions)
    };
    let mut cluster = OwnerCluster::new(OwnerPlan {
        program: sandbox.owner().to_owned(),
        command: ["owner", "--writes-every", WRITES_EVERY].map(str::to_owned).into(),
        store: fixture.url(&folder),
        namespace: Namespace::new("chaos").expect("a plain name"),
        folder,
        profile: Profile::Fast,
        lists: LISTS.into_iter().enumerate().map(list).collect(),
    })
    .await?;
    start_all(&mut cluster, 1, options.nodes)?;
    cluster.balanced(PATIENCE).await?;
    let mut outcome = Outcome::default();
    let mut random = Rng::new(seed).fork(kind as u64);
    let mut faults = FaultDeck::default();
    let ends_at = SystemClock.now() + options.lasts();
    let mut joined = options.nodes;
    while SystemClock.now() < ends_at {
        let lasts = random.between(STORM_MS.0, STORM_MS.1);
        let mut storm = Storm::new(&mut cluster, (&mut random, &mut faults), options.nodes, joined);
        storm.blow(Duration::from_millis(lasts)).await?;
        storm.end()?;
        joined = storm.joined();
        for (fault, count) in storm.counts() {
            *outcome.faults.entry(*fault).or_default() += count;
        }
        let calm_since = SystemClock.now();
        if let Err(problem) = cluster.settled(BOUND).await {
            eprintln!("{kind}: {problem}");
            outcome.missed.push(problem.to_string());
            cluster.settled(PATIENCE).await?;
        }
        let settled_ms = ms(SystemClock.now().since(calm_since));
        eprintln!("{kind}: settled {} s after a storm", number(settled_ms / 1e3));
        outcome.settled_ms.push(settled_ms);
    }
    cluster.stop().await?;
    outcome.owners = cluster.history.works.len();
    outcome.writes = writes(&cluster)?;
    outcome.findings = Findings::of(&cluster.history);
    Ok(outcome)
}

fn report_all(outcomes: &BTreeMap<StoreKind, Outcome>, report: &mut Report) {
    let title = format!("partitions {LISTS:?}, fast profile, storms of up to 12 s");
    let mut table = TextTable::new(title, &HEAD);
    let mut faults = TextTable::new("faults", &["FAULT", "COUNT"]);
    for (kind, outcome) in outcomes {
        let settled = Percentiles::of(&outcome.settled_ms);
        let seconds = |of: fn(Percentiles) -> f64| {
            settled.map_or("-".to_owned(), |settled| number(of(settled) / 1e3))
        };
        table.row([
            kind.name().to_owned(),
            outcome.settled_ms.len().to_string(),
            outcome.faults.values().sum::<u32>().to_string(),
            outcome.owners.to_string(),
            outcome.writes.acknowledged.len().to_string(),
            outcome.writes.refused.to_string(),
            seconds(|it| it.median),
            seconds(|it| it.max),
        ]);
        add_to_report(&outcome.findings, kind.name(), report);
        must_be_none(&format!("{kind}: late writes taken"), &outcome.writes.late(), report);
        let missed = outcome.missed.len();
        let bound = BOUND.as_secs();
        report.must_be_none(&format!("{kind}: not owned and balanced within {bound} s"), missed);
        for problem in &outcome.missed {
            report.note(format!("{kind}: {problem}"));
        }
        let writes = outcome.writes.acknowledged.len();
        let (has_some, found) = (writes > 0, writes.to_string());
        report.must(&format!("{kind}: writes for partitions"), has_some, found, "some");
    }
    for fault in FaultKind::ALL {
        let count = |outcome: &Outcome| outcome.faults.get(&fault).copied().unwrap_or(0);
        let count: u32 = outcomes.values().map(count).sum();
        faults.row([fault.title().to_owned(), count.to_string()]);
        report.must(&format!("{}: struck", fault.title()), count > 0, count.to_string(), "some");
    }
    report.table(table);
    report.table(faults);
}
