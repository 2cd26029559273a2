//! `failover`: how long it takes until another node's job runs.
//!
//! ```text
//!   arm ── its trials, shared out ──► cluster 1: settle ► strike ► the next epoch's first line ► …
//!                                 ├─► cluster 2: settle …
//!                                 └─► …          one strike at a time where milliseconds count
//! ```
//!
//! What is measured begins just before the strike. A coordinator that has only just beaten does not
//! look again for a fiftieth of a beat: some resignations take up to 100 ms more for that.
//!
//! A cluster has settled when everybody is in the view and has beaten since: then the successors
//! watch the coordinator's lifeline. After each trial whoever was killed is started again.

mod arm;
mod pause;
mod strike;

use std::sync::Arc;

use baton_cli::cluster::Ticks;
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use crate::cli::Failover;
use crate::error::BenchError;
use crate::judge::Judged;
use crate::progress::Progress;
use crate::report::Report;
use crate::site::Site;
use crate::spread::ms;
pub use arm::Arm;
use arm::{NODES, TICK_EVERY};
use pause::Paused;
use strike::Trial;

/// What one cluster did.
struct Served {
    trials: Vec<Trial>,
    ticks: Ticks,
}

/// Runs every arm, one after another.
pub async fn run(site: &Arc<Site>, options: &Failover, bars: bool) -> Result<Report, BenchError> {
    let mut report = Report::new("failover", bars);
    let mut judged = Judged::default();
    let mut arms = options.arms.clone();
    arms.sort();
    arms.dedup();
    for arm in arms {
        let served = try_arm(site, arm, options).await?;
        let logs = served.iter().map(|served| Judged::of(&served.ticks));
        judged = logs.fold(judged, Judged::and);
        let trials = served.iter().flat_map(|served| &served.trials);
        let times: Vec<f64> = trials.map(|trial| ms(trial.took)).collect();
        report.measured(arm.title(), "ms", &times, &arm.bars());
        if arm == Arm::Pause {
            let all = served.iter().map(|served| Paused::of(&served.trials, &served.ticks));
            all.fold(Paused::default(), Paused::and).tell(&mut report);
        }
    }
    judged.tell(&mut report);
    Ok(report)
}

async fn try_arm(
    site: &Arc<Site>,
    arm: Arm,
    options: &Failover,
) -> Result<Vec<Served>, BenchError> {
    let clusters = arm.clusters(options.clusters).min(options.trials);
    let progress = Arc::new(Progress::new(arm.title(), options.trials));
    let floor = Arc::new(Mutex::new(()));
    let mut at_work = JoinSet::new();
    for number in 0..clusters {
        let trials = share(options.trials, clusters, number);
        let (site, floor, progress) = (site.clone(), floor.clone(), progress.clone());
        at_work.spawn(serve(site, arm, number, trials, floor, progress));
    }
    let mut served = Vec::new();
    while let Some(done) = at_work.join_next().await {
        served.push(done??);
    }
    Ok(served)
}

/// One cluster's share of the trials.
async fn serve(
    site: Arc<Site>,
    arm: Arm,
    number: u32,
    trials: u32,
    floor: Arc<Mutex<()>>,
    progress: Arc<Progress>,
) -> Result<Served, BenchError> {
    let name = format!("{}-{number}", arm.name());
    let mut stage = site.cluster(&name, NODES, TICK_EVERY, arm.flags()).await?;
    let mut done = Vec::new();
    for _ in 0..trials {
        done.push(arm.strike(&mut stage, &floor).await?);
        progress.step();
    }
    if arm == Arm::Pause {
        // Whoever was paused last has gone on: what it does then counts too.
        stage.settled().await?;
    }
    stage.cluster.stop().await?;
    Ok(Served { trials: done, ticks: stage.cluster.ticks()? })
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
