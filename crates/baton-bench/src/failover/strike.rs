//! One trial: something is done to the leader, and the next job's first line ends it.

use std::time::Duration;

use baton::clock::Moment;
use baton_cli::cluster::{LeaderLease, Signal};
use baton_store::clock::{Clock, SystemClock};
use tokio::sync::Mutex;

use crate::error::BenchError;
use crate::log_reader::LogReader;
use crate::sandbox::Stage;

/// How long the next job may take to come: well beyond lease, beat and delays.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a paused process stays so after another has taken over.
const A_MOMENT: Duration = Duration::from_millis(500);

/// The result of one trial.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    /// From just before the strike to the next job's first line.
    pub took: Duration,
    /// The epoch of the leader that was struck.
    pub epoch: u64,
    /// When the next job's first line was written.
    pub next_at: Moment,
    /// When the struck leader's lease ended, if it was left to expire.
    pub lease_ends: Option<Moment>,
}

/// Kills the leader, and starts it again when another has taken over.
pub async fn kill(stage: &mut Stage, exclusive: Option<&Mutex<()>>) -> Result<Trial, BenchError> {
    let lead = stage.settled().await?;
    let at_work = match exclusive {
        Some(exclusive) => Some(exclusive.lock().await),
        None => None,
    };
    let mut log = LogReader::from_now(&stage.cluster.log())?;
    let before = SystemClock.now();
    stage.cluster.member(&lead.node)?.kill()?;
    let next = log.next_term(epoch_of(&lead), PATIENCE).await?;
    let past = stage.start_again(&lead.node).await?;
    drop(at_work);
    stage.known_again(&lead.node, past).await?;
    Ok(trial(&lead, before, next.at))
}

/// Asks the leader to end, as a deploy does, and starts it again when it has.
pub async fn terminate(stage: &mut Stage, exclusive: &Mutex<()>) -> Result<Trial, BenchError> {
    let lead = stage.settled().await?;
    let at_work = exclusive.lock().await;
    let mut log = LogReader::from_now(&stage.cluster.log())?;
    let before = SystemClock.now();
    stage.cluster.member(&lead.node)?.signal(Signal::TERM)?;
    let next = log.next_term(epoch_of(&lead), PATIENCE).await?;
    stage.cluster.member(&lead.node)?.ended().await?;
    let past = stage.start_again(&lead.node).await?;
    drop(at_work);
    stage.known_again(&lead.node, past).await?;
    Ok(trial(&lead, before, next.at))
}

/// Has the leader resign.
pub async fn resign(stage: &mut Stage, exclusive: &Mutex<()>) -> Result<Trial, BenchError> {
    let lead = stage.settled().await?;
    let _exclusive = exclusive.lock().await;
    let mut log = LogReader::from_now(&stage.cluster.log())?;
    let before = SystemClock.now();
    stage.cluster.member(&lead.node)?.signal(Signal::USR1)?;
    let next = log.next_term(epoch_of(&lead), PATIENCE).await?;
    Ok(trial(&lead, before, next.at))
}

/// Asks the leader to resign: the request beside the lease, the nudge over its lifeline.
pub async fn ask(stage: &mut Stage, exclusive: &Mutex<()>) -> Result<Trial, BenchError> {
    let lead = stage.settled().await?;
    let epoch = epoch_of(&lead);
    let _exclusive = exclusive.lock().await;
    let mut log = LogReader::from_now(&stage.cluster.log())?;
    let before = SystemClock.now();
    // A lost nudge shows as a slow trial.
    stage.cluster.ask_to_resign(&lead).await?;
    let next = log.next_term(epoch, PATIENCE).await?;
    Ok(trial(&lead, before, next.at))
}

/// Pauses the leader past its lease, and lets it go on when another has taken over.
pub async fn pause(stage: &mut Stage) -> Result<Trial, BenchError> {
    let lead = stage.settled().await?;
    let mut log = LogReader::from_now(&stage.cluster.log())?;
    let before = SystemClock.now();
    stage.cluster.member(&lead.node)?.signal(Signal::STOP)?;
    // No process renews it any more.
    let left = stage.cluster.leader().await?.and_then(|lead| lead.lease.expiry.left());
    let lease_ends = left.map(|left| SystemClock.now() + left);
    let next = log.next_term(epoch_of(&lead), PATIENCE).await;
    SystemClock.sleep(A_MOMENT).await;
    stage.cluster.member(&lead.node)?.signal(Signal::CONT)?;
    Ok(Trial { lease_ends, ..trial(&lead, before, next?.at) })
}

/// The epoch of a lease.
pub fn epoch_of(lead: &LeaderLease) -> u64 {
    lead.lease.version.epoch.0
}

fn trial(lead: &LeaderLease, before: Moment, next_at: Moment) -> Trial {
    let took = next_at.since(before);
    Trial { took, epoch: epoch_of(lead), next_at, lease_ends: None }
}
