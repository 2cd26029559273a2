//! Asking the leader to go, and waiting until another node leads. `transfer` and `resign`.
//!
//! The request is written beside the lease, under its epoch, so that it reaches that term and no
//! other. The nudge over the lifeline only makes the leader look sooner.

use std::time::Duration;

use baton_core::ids::{Epoch, NodeId, Nonce};
use baton_core::protocol::{Ask, Hint, LeaseSnapshot, Outcome, Wish};
use baton_core::time::whole_ms;
use baton_store::StoreError;
use baton_store::clock::{Clock, SystemClock};
use serde::Serialize;

use crate::error::CommandError;
use crate::look::Looks;
use crate::output::times::span_ms;
use crate::output::{json, say};
use crate::place::Place;
use crate::snapshot::{Coordinator, Snapshot};

/// Time between two looks at the lease.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Handover {
    /// Who led.
    pub previous: NodeId,
    /// Until which epoch.
    pub previous_epoch: u64,
    /// Who leads now.
    pub leader: NodeId,
    /// In which epoch.
    pub epoch: u64,
    /// From the request until the new term was seen, in milliseconds.
    pub took_ms: u64,
}

impl Handover {
    /// Prints it.
    pub fn print(&self, as_json: bool) {
        if as_json {
            return json::document(self);
        }
        let Self { previous, previous_epoch, leader, epoch, took_ms } = self;
        let again = if previous == leader { " again: no other node was ready" } else { "" };
        say::line(&format!(
            "{leader} leads{again}, epoch {epoch}, after {previous} (epoch {previous_epoch}); \
             it took {}",
            span_ms(*took_ms)
        ));
    }
}

/// Whoever leads, or why nobody can be asked.
pub fn leader(snapshot: &Snapshot) -> Result<&Coordinator, CommandError> {
    snapshot.coordinator.as_ref().ok_or_else(|| CommandError::NobodyLeads {
        namespace: snapshot.namespace.clone(),
        because: match &snapshot.lapsed {
            Some(node) => format!(": the lease of {node} is over"),
            None => String::new(),
        },
    })
}

/// Asks, nudges, and waits for another epoch.
pub async fn hand_over(
    place: &Place,
    snapshot: &Snapshot,
    wish: Wish,
    timeout: Duration,
) -> Result<Handover, CommandError> {
    let previous = leader(snapshot)?;
    let asked_at = SystemClock.now();
    ask(place, snapshot, &previous.node, wish).await?;
    if let Some(address) = &previous.nudged_at {
        // A hint may be lost: the leader looks at its next beat anyway.
        let _ = baton::lifeline::send_hint(address, place.namespace(), &Hint::Asked).await;
    }
    let lease = next_term(place, snapshot.epoch, &previous.node, timeout).await?;
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
    place: &Place,
    snapshot: &Snapshot,
    node: &NodeId,
    wish: Wish,
) -> Result<(), CommandError> {
    // Whoever asks is no process of the cluster, but draws like one.
    let ask = Ask { nonce: Nonce { boot: baton::fresh_boot()?, attempt: 1 }, wish };
    let epoch = Epoch(snapshot.epoch);
    let outcome = place.store.ask(place.namespace(), epoch, ask.clone()).await;
    let applied = match outcome {
        Ok(Outcome::Applied) => true,
        Ok(Outcome::Conflict) => false,
        // Read back, never assume.
        Ok(Outcome::Unknown) | Err(StoreError::Unknown { .. }) => {
            look(place).await?.is_some_and(|lease| lease.asked == Some(ask))
        }
        Err(problem) => return Err(place.trouble(problem)),
    };
    match applied {
        true => Ok(()),
        false => Err(CommandError::Overtaken { node: node.clone(), epoch: snapshot.epoch }),
    }
}

async fn next_term(
    place: &Place,
    epoch: u64,
    node: &NodeId,
    waited: Duration,
) -> Result<LeaseSnapshot, CommandError> {
    let mut released = false;
    let mut looks = Looks::new(LOOK_EVERY, waited);
    while looks.again().await {
        let lease = look(place).await?;
        released = lease.as_ref().is_some_and(|lease| lease.holder.is_none());
        if let Some(lease) = lease.filter(|lease| lease.version.epoch.0 > epoch && !released) {
            return Ok(lease);
        }
    }
    let node = node.clone();
    Err(match released {
        true => CommandError::NoSuccessor { node, waited },
        false => CommandError::NotInTime { node, waited },
    })
}

async fn look(place: &Place) -> Result<Option<LeaseSnapshot>, CommandError> {
    let seen = place.store.inspect(place.namespace()).await;
    Ok(seen.map_err(|problem| place.trouble(problem))?.lease)
}
