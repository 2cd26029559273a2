//! The three acts: a crash, a resignation, a pause.

use std::time::Duration;

use baton::NodeId;
use baton::clock::Moment;
use baton_store::clock::{Clock, SystemClock};
use serde::Serialize;

use super::stage::Stage;
use crate::cluster::Lead;
use crate::error::CommandError;

/// Looked at between two acts.
const BREATH: Duration = Duration::from_millis(1_500);

/// Waited for anything that is to come at once.
const SOON: Duration = Duration::from_secs(10);

/// A way to lose a leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Act {
    /// Its process is killed with -9.
    Kill,
    /// It is asked to resign.
    Resign,
    /// It is stopped until its lease is over, and then goes on.
    Pause,
}

impl Act {
    /// What is done, in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill -9",
            Self::Resign => "resign",
            Self::Pause => "pause past the lease",
        }
    }
}

/// How one act came out.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// What was done.
    pub act: Act,
    /// To whom.
    pub from: NodeId,
    /// Who took over.
    pub to: NodeId,
    /// In which epoch.
    pub epoch: u64,
    /// From the deed to the successor's first line, in milliseconds.
    pub failover_ms: f64,
}

/// Starts the nodes and plays all acts.
pub async fn perform(stage: &mut Stage, nodes: &[NodeId]) -> Result<Vec<Outcome>, CommandError> {
    for node in nodes {
        stage.start(node)?;
    }
    stage.until_gathered(nodes.len(), SOON).await?;
    let lead = stage.leader(SOON).await?;
    stage.note(None, &format!("{} leads in epoch {}", lead.node, epoch(&lead)));
    stage.rest(BREATH).await?;
    let mut outcomes = Vec::new();
    for act in [Act::Kill, Act::Resign, Act::Pause] {
        outcomes.push(play(stage, act).await?);
        stage.rest(BREATH).await?;
    }
    Ok(outcomes)
}

fn epoch(lead: &Lead) -> u64 {
    lead.lease.version.epoch.0
}

async fn play(stage: &mut Stage, act: Act) -> Result<Outcome, CommandError> {
    let lead = stage.leader(SOON).await?;
    let from = lead.node.clone();
    let patience = stage.lease() * 2 + SOON;
    let since = match act {
        Act::Kill => {
            let since = SystemClock.now();
            stage.member(&from)?.kill()?;
            stage.note(Some((act, &from)), &format!("killed {from} with -9"));
            since
        }
        Act::Resign => {
            let since = SystemClock.now();
            stage.ask_to_resign(&lead).await?;
            stage.note(Some((act, &from)), &format!("asked {from} to resign"));
            since
        }
        Act::Pause => {
            let since = SystemClock.now();
            stage.member(&from)?.pause()?;
            stage.paused = Some(from.clone());
            let said = format!("paused {from}: its guard must stop its job before the lease ends");
            stage.note(Some((act, &from)), &said);
            since
        }
    };
    let outcome = successor(stage, act, from, &lead, since, patience).await?;
    recover(stage, act, &outcome.from).await?;
    Ok(outcome)
}

async fn successor(
    stage: &mut Stage,
    act: Act,
    from: NodeId,
    lead: &Lead,
    since: Moment,
    patience: Duration,
) -> Result<Outcome, CommandError> {
    let tick = stage.until_term(since, epoch(lead), patience).await?;
    let took = tick.at.since(since);
    let failover_ms = took.as_secs_f64() * 1e3;
    let said = format!("{} ticks in epoch {} after {failover_ms:.1} ms", tick.node, tick.epoch);
    stage.note(None, &said);
    Ok(Outcome { act, from, to: super::node(&tick.node), epoch: tick.epoch, failover_ms })
}

/// Sets right what the act did, so that the next one finds three nodes.
async fn recover(stage: &mut Stage, act: Act, node: &NodeId) -> Result<(), CommandError> {
    match act {
        Act::Kill => {
            stage.rest(BREATH).await?;
            stage.start(node)?;
            stage.note(None, &format!("started {node} again"));
            stage.until_gathered(super::NODES.len(), SOON).await
        }
        Act::Resign => Ok(()),
        Act::Pause => {
            stage.rest(BREATH).await?;
            stage.member(node)?.resume()?;
            stage.paused = None;
            stage.note(None, &format!("resumed {node}: it finds its term over"));
            Ok(())
        }
    }
}
