//! `baton transfer` and `baton resign`: asking the leader to step down, and waiting until another
//! node leads.
//!
//! The request is written beside the lease, under its epoch, so that it reaches that term and no
//! other. The hint over the lifeline only makes the leader read it sooner.

use std::time::Duration;

use baton::lifeline::probe;
use baton_core::ids::{Epoch, NodeId, Nonce};
use baton_core::protocol::{Ask, HandoverKind, Hint, LeaseSnapshot, Outcome};
use baton_core::settings::Settings;
use baton_core::time::whole_ms;
use baton_core::{LifelineReport, TransferRefusal, foresee_refusal};
use baton_store::StoreError;
use baton_store::clock::{Clock, SystemClock};
use serde::Serialize;

use super::StoreArguments;
use crate::attempts::Attempts;
use crate::config::ConfigError;
use crate::error::{CommandError, Exit};
use crate::open_store::OpenStore;
use crate::output::stdout;
use crate::output::times::span_ms;
use crate::snapshot::{Coordinator, MemberState, Snapshot, State};

/// Time between two reads of the lease.
const READ_EVERY: Duration = Duration::from_millis(10);

/// The most nodes that an error names instead of one that cannot lead.
const SUGGESTED_MAX: usize = 5;

#[derive(Debug, clap::Args)]
pub struct HandoverArguments {
    #[command(flatten)]
    store: StoreArguments,
    /// How long to wait until the next leader is elected.
    #[arg(
        long, value_name = "DURATION", default_value = "10s", value_parser = super::duration
    )]
    timeout: Duration,
}

#[derive(Debug, clap::Args)]
pub struct TransferArguments {
    /// Id of the node that is to lead.
    #[arg(long, value_name = "NODE")]
    to: String,
    #[command(flatten)]
    handover: HandoverArguments,
}

/// A change of leader that was asked for.
#[derive(Serialize)]
struct Handover {
    previous: NodeId,
    previous_epoch: u64,
    leader: NodeId,
    epoch: u64,
    /// From the request until the new term was seen.
    took_ms: u64,
}

impl Handover {
    fn print(&self, as_json: bool) {
        stdout::json_or_text(as_json, self, || {
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

/// Leadership goes to a named node.
pub async fn transfer(arguments: &TransferArguments) -> Result<Exit, CommandError> {
    let to = NodeId::new(&arguments.to);
    let to = to.map_err(|problem| ConfigError::refused("--to", &problem))?;
    let HandoverArguments { store, timeout } = &arguments.handover;
    let opened = store.open_to_write().await?;
    let snapshot = opened.snapshot().await?;
    leader(&snapshot)?;
    check_target(&opened, &snapshot, &to).await?;
    let handover =
        hand_over(&opened, &snapshot, HandoverKind::Transfer(to.clone()), *timeout).await?;
    if handover.leader != to {
        let (leads, epoch) = (handover.leader, handover.epoch);
        return Err(CommandError::WentElsewhere { leads, epoch, meant: to });
    }
    handover.print(store.json);
    Ok(Exit::DONE)
}

/// The leader steps down, and the policy decides which node is next.
pub async fn resign(arguments: &HandoverArguments) -> Result<Exit, CommandError> {
    let opened = arguments.store.open_to_write().await?;
    let snapshot = opened.snapshot().await?;
    let handover = hand_over(&opened, &snapshot, HandoverKind::Resign, arguments.timeout).await?;
    handover.print(arguments.store.json);
    Ok(Exit::DONE)
}

/// The leader, or why no node can be asked.
fn leader(snapshot: &Snapshot) -> Result<&Coordinator, CommandError> {
    snapshot.coordinator.as_ref().ok_or_else(|| CommandError::NoLeader {
        namespace: snapshot.namespace.clone(),
        because: match &snapshot.lapsed {
            Some(node) => format!(": the lease of {node} has expired"),
            None => String::new(),
        },
    })
}

/// Asks the leader, sends it a hint, and waits for another epoch.
async fn hand_over(
    opened: &OpenStore,
    snapshot: &Snapshot,
    wish: HandoverKind,
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
    wish: HandoverKind,
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
    let mut attempts = Attempts::new(READ_EVERY, waited);
    while attempts.next().await {
        let lease = opened.lease().await?;
        released = lease.as_ref().is_some_and(|lease| lease.holder.is_none());
        if let Some(next) = lease.filter(|it| it.version.epoch.0 > epoch && !released) {
            return Ok(next);
        }
    }
    let node = node.clone();
    Err(match released {
        true => CommandError::NoSuccessor { node, waited },
        false => CommandError::NotInTime { node, waited },
    })
}

/// Says why the leader would refuse this node: it reports a refusal to its own log only.
async fn check_target(
    opened: &OpenStore,
    snapshot: &Snapshot,
    to: &NodeId,
) -> Result<(), CommandError> {
    let lease = opened.lease().await?;
    let members = opened.ask(opened.store.members(opened.namespace())).await?;
    let settings = &opened.config.settings;
    let Some(reason) = foresee_refusal(to, lease.as_ref(), &members, settings) else {
        return Ok(());
    };
    let remedy = match reason {
        TransferRefusal::NotEligible => "start it without --eligible false".to_owned(),
        TransferRefusal::LeadsAlready => "there is nothing to do".to_owned(),
        _ => match live_candidates(snapshot, settings).await.as_slice() {
            [] => "there is no other candidate: start one".to_owned(),
            names => format!("candidates are {}", names.join(", ")),
        },
    };
    Err(CommandError::NotATarget { to: to.clone(), reason, remedy })
}

/// The first few nodes that leadership can be handed to. A record outlives its process by a while,
/// so only a successor is named that has beaten lately and whose port is not closed.
async fn live_candidates<'a>(snapshot: &'a Snapshot, settings: &Settings) -> Vec<&'a str> {
    // The store may leave out every second record that says nothing new.
    let lately = whole_ms(2 * (settings.heartbeat_interval + settings.heartbeat_jitter));
    let is_live_successor = |member: &&MemberState| {
        member.state == State::Candidate
            && snapshot.successors.contains(&member.node)
            && member.silent_ms.is_none_or(|silent| silent <= lately)
    };
    let mut live = Vec::new();
    for member in snapshot.members.iter().filter(is_live_successor) {
        if live.len() < SUGGESTED_MAX && !is_closed(member).await {
            live.push(member.node.as_str());
        }
    }
    live
}

/// Whether the node's port refuses connections or belongs to another process by now.
async fn is_closed(member: &MemberState) -> bool {
    let Some(address) = &member.lifeline else { return false };
    match probe(address).await {
        LifelineReport::Refused => true,
        LifelineReport::OtherBoot(boot) => boot != member.boot,
        _ => false,
    }
}
