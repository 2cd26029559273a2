//! `failover`: how long it takes until another node's job runs.
//!
//! ```text
//!   quick arms, store after store ──┐
//!   slow arms, all stores at once ──┴─► trials, shared out
//!      ├─► cluster 1: settle ► strike ► the next epoch's first line ► …
//!      ├─► cluster 2: settle …
//!      └─► …          one strike at a time where milliseconds count
//!   peers, on the same servers ──► the same strike on the lock of another system
//! ```
//!
//! What is measured begins just before the strike. A leader that has only just beaten does not
//! look again for a fiftieth of a beat: some resignations take up to 100 ms more for that.
//!
//! `--pattern succession` strikes clusters that have not settled: see `succession`.
//!
//! A cluster has settled when every node is in the view and has beaten since: then the successors
//! watch the leader's lifeline. After each trial the killed node is started again.

mod arm;
mod member;
mod pause;
mod strike;
mod succession;

use std::collections::BTreeMap;
use std::sync::Arc;

use baton_cli::cluster::Ticks;
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use crate::cli::{Failover, Pattern};
use crate::error::BenchError;
use crate::fixture::{Fixture, StoreKind, chosen};
use crate::log_findings::LogFindings;
use crate::peers;
use crate::percentiles::{Percentiles, ms};
use crate::progress::Progress;
use crate::report::Report;
use crate::sandbox::Sandbox;
use arm::NODES;
pub use arm::{Arm, TICK_EVERY};
pub use member::take_part;
use pause::PauseFindings;
use strike::{Trial, epoch_of};

/// The trials of one cluster, and what its jobs wrote.
struct ClusterTrials {
    trials: Vec<Trial>,
    ticks: Ticks,
}

/// The trials of all clusters, by store and arm.
type Results = BTreeMap<(StoreKind, Arm), Vec<ClusterTrials>>;

/// Runs every arm on every store.
pub async fn run(
    sandbox: &Arc<Sandbox>,
    options: &Failover,
    bars: bool,
) -> Result<Report, BenchError> {
    if options.pattern == Pattern::Succession {
        return succession::run(sandbox, options, bars).await;
    }
    let mut report = Report::new("failover", bars);
    let kinds = chosen(&options.store);
    let (quick, slow) = arms(options);
    let mut results = try_quick(sandbox, &kinds, &quick, options).await?;
    let mut fixtures = Vec::new();
    if !slow.is_empty() || options.peer_trials > 0 {
        for kind in kinds {
            fixtures.push(Arc::new(Fixture::new(kind).await?));
        }
    }
    results.extend(try_slow(sandbox, &fixtures, &slow, options).await?);
    let mut findings = LogFindings::default();
    for ((store, arm), served) in &results {
        let logs = served.iter().map(|served| LogFindings::of(&served.ticks));
        findings = logs.fold(findings, LogFindings::and);
        report.measured(
            &format!("{store} {}", arm.title()),
            "ms",
            &times(served),
            &arm.bars(*store),
        );
        if *arm == Arm::Pause {
            let all = served.iter().map(|served| PauseFindings::of(&served.trials, &served.ticks));
            all.fold(PauseFindings::default(), PauseFindings::and)
                .add_to_report(*store, &mut report);
        }
    }
    if options.peer_trials > 0 {
        peers::measure(sandbox, &fixtures, options, &mut report).await?;
    }
    findings.add_to_report(&mut report);
    Ok(report)
}

fn times(served: &[ClusterTrials]) -> Vec<f64> {
    served.iter().flat_map(|served| &served.trials).map(|trial| ms(trial.took)).collect()
}

/// Those where milliseconds count, and those that wait.
fn arms(options: &Failover) -> (Vec<Arm>, Vec<Arm>) {
    let mut arms = options.arms.clone();
    arms.sort();
    arms.dedup();
    arms.into_iter().partition(|arm| arm.is_quick())
}

/// One store after the other, each on a server that has the machine to itself.
async fn try_quick(
    sandbox: &Arc<Sandbox>,
    kinds: &[StoreKind],
    arms: &[Arm],
    options: &Failover,
) -> Result<Results, BenchError> {
    let mut results = Results::new();
    for kind in kinds.iter().filter(|_| !arms.is_empty()) {
        let fixture = Arc::new(Fixture::new(*kind).await?);
        for arm in arms {
            let served =
                try_arm(sandbox.clone(), fixture.clone(), *arm, options.clone(), 1).await?;
            results.insert((*kind, *arm), served);
        }
    }
    Ok(results)
}

/// Tries the slow arms, on all stores side by side.
async fn try_slow(
    sandbox: &Arc<Sandbox>,
    fixtures: &[Arc<Fixture>],
    arms: &[Arm],
    options: &Failover,
) -> Result<Results, BenchError> {
    let mut results = Results::new();
    for &arm in arms {
        let mut at_work = JoinSet::new();
        for fixture in fixtures {
            let (sandbox, fixture, options) = (sandbox.clone(), fixture.clone(), options.clone());
            let stores = fixtures.len();
            at_work.spawn(async move {
                let kind = fixture.kind();
                Ok::<_, BenchError>((kind, try_arm(sandbox, fixture, arm, options, stores).await?))
            });
        }
        while let Some(done) = at_work.join_next().await {
            let (kind, served) = done??;
            results.insert((kind, arm), served);
        }
    }
    Ok(results)
}

async fn try_arm(
    sandbox: Arc<Sandbox>,
    fixture: Arc<Fixture>,
    arm: Arm,
    options: Failover,
    stores: usize,
) -> Result<Vec<ClusterTrials>, BenchError> {
    let clusters = arm.clusters(options.clusters, stores).min(options.trials);
    let what = format!("{} {}", fixture.kind(), arm.title());
    let progress = Arc::new(Progress::new(&what, options.trials));
    let exclusive = Arc::new(Mutex::new(()));
    let mut at_work = JoinSet::new();
    for number in 0..clusters {
        let trials = share(options.trials, clusters, number);
        let (sandbox, fixture) = (sandbox.clone(), fixture.clone());
        let (exclusive, progress) = (exclusive.clone(), progress.clone());
        at_work.spawn(run_trials(sandbox, fixture, arm, number, trials, exclusive, progress));
    }
    let mut served = Vec::new();
    while let Some(done) = at_work.join_next().await {
        served.push(done??);
    }
    if let Some(spread) = Percentiles::of(&times(&served)) {
        eprintln!("{what}: median {:.1} ms, max {:.1} ms", spread.median, spread.max);
    }
    Ok(served)
}

/// Runs one cluster's share of the trials.
async fn run_trials(
    sandbox: Arc<Sandbox>,
    fixture: Arc<Fixture>,
    arm: Arm,
    number: u32,
    trials: u32,
    exclusive: Arc<Mutex<()>>,
    progress: Arc<Progress>,
) -> Result<ClusterTrials, BenchError> {
    let name = format!("{}-{number}", arm.name());
    let mut stage = sandbox.cluster(&fixture, &name, NODES, TICK_EVERY, arm.body()?).await?;
    let mut done = Vec::new();
    for _ in 0..trials {
        done.push(arm.strike(&mut stage, &exclusive).await?);
        progress.step();
    }
    if arm == Arm::Pause {
        // The process that was paused last has gone on: what it does then counts too.
        stage.settled().await?;
    }
    stage.cluster.stop().await?;
    Ok(ClusterTrials { trials: done, ticks: stage.cluster.ticks()? })
}

/// How many of the trials fall to this cluster.
fn share(trials: u32, clusters: u32, number: u32) -> u32 {
    trials / clusters + u32::from(number < trials % clusters)
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn every_trial_falls_to_one_cluster() {
        for (trials, clusters) in [(50, 10), (50, 7), (2, 2), (3, 1)] {
            let shares: Vec<u32> = (0..clusters).map(|at| share(trials, clusters, at)).collect();
            assert_eq!(shares.iter().sum::<u32>(), trials);
            let (least, most) = (shares.iter().min(), shares.iter().max());
            assert!(most.zip(least).is_some_and(|(most, least)| most - least <= 1));
        }
    }
}
