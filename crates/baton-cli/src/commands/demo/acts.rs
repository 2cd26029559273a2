//! The three acts: a crash, a resignation, a pause.

use std::time::Duration;

use baton::NodeId;
use baton_store::clock::{Clock, SystemClock};
use serde::Serialize;

use super::session::{Session, WAIT_MAX};
use crate::cluster::{LeaderLease, Signal};
use crate::error::CommandError;

/// Time between two acts.
const BETWEEN_ACTS: Duration = Duration::from_millis(1_500);

/// A way in which a leader fails or leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Act {
    Kill,
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

/// The result of an act.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    pub act: Act,
    pub from: NodeId,
    pub to: NodeId,
    pub epoch: u64,
    /// From the act to the successor's first tick.
    pub failover_ms: f64,
}

/// Starts the nodes and plays all acts.
pub async fn perform(
    session: &mut Session,
    nodes: &[NodeId],
) -> Result<Vec<Outcome>, CommandError> {
    for node in nodes {
        session.cluster.start(node)?;
    }
    session.until_gathered(nodes.len()).await?;
    let lead = session.leader().await?;
    session.journal.note(&format!("{} leads in epoch {}", lead.node, epoch(&lead)));
    session.rest(BETWEEN_ACTS).await?;
    let mut outcomes = Vec::new();
    for act in [Act::Kill, Act::Resign, Act::Pause] {
        outcomes.push(play(session, act).await?);
        session.rest(BETWEEN_ACTS).await?;
    }
    Ok(outcomes)
}

fn epoch(lead: &LeaderLease) -> u64 {
    lead.lease.version.epoch.0
}

async fn play(session: &mut Session, act: Act) -> Result<Outcome, CommandError> {
    let lead = session.leader().await?;
    let from = lead.node.clone();
    let limit = session.lease * 2 + WAIT_MAX;
    let since = SystemClock.now();
    let text = match act {
        Act::Kill => {
            session.cluster.member(&from)?.kill()?;
            format!("killed {from} with -9")
        }
        Act::Resign => {
            session.cluster.ask_to_resign(&lead).await?;
            format!("asked {from} to resign")
        }
        Act::Pause => {
            session.cluster.member(&from)?.signal(Signal::STOP)?;
            session.paused = Some(from.clone());
            format!("paused {from}: its guard must stop its job before the lease ends")
        }
    };
    session.journal.record(since, Some((act, from.clone())), &text);
    let tick = session.until_term(since, epoch(&lead), limit).await?;
    let failover_ms = tick.at.since(since).as_secs_f64() * 1e3;
    let (to, epoch) = (super::node(&tick.node), tick.epoch);
    session.journal.note(&format!("{to} ticks in epoch {epoch} after {failover_ms:.1} ms"));
    recover(session, act, &from).await?;
    Ok(Outcome { act, from, to, epoch, failover_ms })
}

/// Restores three running nodes for the next act.
async fn recover(session: &mut Session, act: Act, node: &NodeId) -> Result<(), CommandError> {
    match act {
        Act::Kill => {
            session.rest(BETWEEN_ACTS).await?;
            session.cluster.start(node)?;
            session.journal.note(&format!("started {node} again"));
            session.until_gathered(super::NODES.len()).await
        }
        Act::Resign => Ok(()),
        Act::Pause => {
            session.rest(BETWEEN_ACTS).await?;
            session.resume(node)?;
            session.journal.note(&format!("resumed {node}: its term is over"));
            Ok(())
        }
    }
}
