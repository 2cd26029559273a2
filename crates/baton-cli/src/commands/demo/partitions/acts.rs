//! The three acts: a crash, a drain, a join.

use std::time::Duration;

use baton::NodeId;
use baton_store::clock::{Clock, SystemClock};
use serde::Serialize;

use super::session::Session;
use super::{NEWCOMER, NODES, PARTITIONS};
use crate::cluster::owners::EventMoves;
use crate::commands::demo::node;
use crate::commands::demo::summary::show_failover;
use crate::error::CommandError;

/// Time between two acts.
const BETWEEN_ACTS: Duration = Duration::from_millis(1_500);

/// What happens to a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Act {
    Kill,
    /// It gives its partitions to the others, and takes no more.
    Drain,
    /// A new one starts.
    Join,
}

impl Act {
    /// What is done, in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill -9",
            Self::Drain => "drain",
            Self::Join => "join",
        }
    }
}

/// The result of an act.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    pub act: Act,
    pub node: NodeId,
    /// How many partitions were given to another process.
    pub moved: usize,
    /// No fewer moves would have left every partition owned and the loads even.
    pub fewest: usize,
    /// From the act until every partition had an owner again.
    pub owned_after_ms: f64,
    /// Longest time that one partition had no owner.
    pub longest_gap_ms: f64,
}

/// Starts the nodes and plays all acts.
pub async fn perform(session: &mut Session) -> Result<Vec<Outcome>, CommandError> {
    for name in NODES {
        session.start(&node(name))?;
    }
    session.until_settled().await?;
    let loads = session.loads();
    session.journal.note(&format!("all {PARTITIONS} partitions have an owner: {loads}"));
    session.print_map();
    session.rest(BETWEEN_ACTS).await?;
    let mut outcomes = Vec::new();
    for act in [Act::Kill, Act::Drain, Act::Join] {
        outcomes.push(play(session, act).await?);
        session.print_map();
        session.rest(BETWEEN_ACTS).await?;
    }
    Ok(outcomes)
}

async fn play(session: &mut Session, act: Act) -> Result<Outcome, CommandError> {
    // The death of the leader is the harder case: another node has to lead first.
    let victim = session.place(act == Act::Kill).await?;
    let fewest = match act {
        Act::Kill | Act::Drain => session.cluster.fewest_moves(Some(victim), 0),
        Act::Join => session.cluster.fewest_moves(None, 1),
    };
    let node = match act {
        Act::Kill | Act::Drain => session.cluster.processes[victim].name().clone(),
        Act::Join => node(NEWCOMER),
    };
    let now = SystemClock.now();
    let (since, text) = match act {
        Act::Kill => {
            let killed_at = session.cluster.kill(victim)?;
            let text =
                format!("killed {node}, which led, with -9: {fewest} partitions lose their owner");
            (killed_at, text)
        }
        Act::Drain => {
            session.cluster.drain(victim)?;
            (now, format!("drained {node}: it gives its {fewest} partitions away"))
        }
        Act::Join => {
            session.start(&node)?;
            (now, format!("started {node}: a new node, whose share is {fewest} partitions"))
        }
    };
    session.journal.record(since, Some((act, node.clone())), &text);
    session.until_settled().await?;
    let moves = EventMoves::since(&session.cluster.history.works, since);
    let outcome = Outcome {
        act,
        node,
        moved: moves.moved,
        fewest,
        owned_after_ms: moves.owned_after.as_secs_f64() * 1e3,
        longest_gap_ms: moves.longest_gap().as_secs_f64() * 1e3,
    };
    let (owned_after, loads) = (show_failover(outcome.owned_after_ms), session.loads());
    let moved = outcome.moved;
    let text = format!("{moved} moved, all have an owner after {owned_after}: {loads}");
    session.journal.record(since + moves.owned_after, None, &text);
    Ok(outcome)
}
