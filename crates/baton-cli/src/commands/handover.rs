//! Asking the leader to step down, and waiting until another node leads: `transfer` and `resign`.
//!
//! The request is written beside the lease, under its epoch, so that it reaches that term and no
//! other. The hint over the lifeline only makes the leader read it sooner.

use std::time::Duration;

use baton_core::ids::{Epoch, NodeId, Nonce};
use baton_core::protocol::{Ask, Hint, LeaseSnapshot, Outcome, Wish};
use baton_core::time::whole_ms;
use baton_store::StoreError;
use baton_store::clock::{Clock, SystemClock};
use serde::Serialize;

use super::StoreArguments;
use crate::attempts::poll_until;
use crate::error::CommandError;
use crate::open_store::OpenStore;
use crate::output::json;
use crate::output::times::span_ms;
use crate::snapshot::{Coordinator, Snapshot};

/// Time between two reads of the lease.
const READ_EVERY: Duration = Duration::from_millis(10);

#[derive(Debug, clap::Args)]
pub struct HandoverArguments {
    #[command(flatten)]
    pub store: StoreArguments,
    /// How long to wait until the next leader is elected.
    #[arg(
        long, value_name = "DURATION", default_value = "10s", value_parser = super::duration
    )]
    pub timeout: Duration,
}

/// A change of leader that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Handover {
    pub previous: NodeId,
    pub previous_epoch: u64,
    pub leader: NodeId,
    pub epoch: u64,
    /// From the request until the new term was seen.
    pub took_ms: u64,
}

impl Handover {
    pub fn print(&self, as_json: bool) {
        json::or_text(as_json, self, || {
            let Self { previous, previous_epoch, leader, epoch, took_ms } = self;
            let again = if previous == leader { " again: no other node was ready" } else { "" };
            format!(
                "{leader} leads{again}, epoch {epoch}, after {previous} (epoch {previous_epoch}); \
                 it took {}\n",
                span_ms(*took_ms)
            )
        });
    }
}

/// The leader, or why no node can be asked.
pub fn leader(snapshot: &Snapshot) -> Result<&Coordinator, CommandError> {
    snapshot.coordinator.as_ref().ok_or_else(|| CommandError::NoLeader {
        namespace: snapshot.namespace.clone(),
        because: match &snapshot.lapsed {
            Some(node) => format!(": the lease of {node} has expired"),
            None => String::new(),
        },
    })
}

/// Asks the leader, sends it a hint, and waits for another epoch.
pub async fn hand_over(
    opened: &OpenStore,
    snapshot: &Snapshot,
    wish: Wish,
    timeout: Duration,
) -> Result<Handover, CommandError> {
    let previous = leader(snapshot)?;
    let asked_at = SystemClock.now();
    ask(opened, snapshot, &previous.node, wish).await?;
    if let Some(address) = &previous.nudged_at {
        // A hint may be lost: the leader reads the request with its next beat anyway.
        let _ = baton::lifeline::send_hint(address, opened.namespace(), &Hint::Asked).await;
    }
    let lease = next_term(opened, snapshot.epoch, &previous.node, timeout).await?;
    let holder = lease.holder.expect("the wait ends only with a holder");
    Ok(Handover {
        previous: previous.node.clone(),
        previous_epoch: snapshot.epoch,
        leader: holder.node,
        epoch: lease.version.epoch.0,
        took_ms: whole_ms(SystemClock.now().since(asked_at)),
    })
}

async fn ask(
    opened: &OpenStore,
    snapshot: &Snapshot,
    node: &NodeId,
    wish: Wish,
) -> Result<(), CommandError> {
    // This process is no member of the cluster, but its request needs a nonce like a member's.
    let ask = Ask { nonce: Nonce { boot: baton::fresh_boot()?, attempt: 1 }, wish };
    let epoch = Epoch(snapshot.epoch);
    let is_applied = match opened.store.ask(opened.namespace(), epoch, ask.clone()).await {
        Ok(Outcome::Applied) => true,
        Ok(Outcome::Conflict) => false,
        // An unknown outcome is read back, never assumed.
        Ok(Outcome::Unknown) | Err(StoreError::Unknown { .. }) => {
            opened.lease().await?.is_some_and(|lease| lease.asked == Some(ask))
        }
        Err(problem) => return Err(opened.error(problem)),
    };
    match is_applied {
        true => Ok(()),
        false => Err(CommandError::Overtaken { node: node.clone(), epoch: snapshot.epoch }),
    }
}

async fn next_term(
    opened: &OpenStore,
    epoch: u64,
    node: &NodeId,
    waited: Duration,
) -> Result<LeaseSnapshot, CommandError> {
    let mut released = false;
    let next = poll_until(READ_EVERY, waited, async || {
        let lease = opened.lease().await?;
        released = lease.as_ref().is_some_and(|lease| lease.holder.is_none());
        Ok::<_, CommandError>(lease.filter(|it| it.version.epoch.0 > epoch && !released))
    });
    let node = node.clone();
    next.await?.ok_or(match released {
        true => CommandError::NoSuccessor { node, waited },
        false => CommandError::NotInTime { node, waited },
    })
}
