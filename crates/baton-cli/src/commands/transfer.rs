//! `baton transfer`: leadership goes to a named node.

use std::time::Duration;

use baton::lifeline::probe;
use baton_core::ids::NodeId;
use baton_core::protocol::Wish;
use baton_core::settings::Settings;
use baton_core::time::whole_ms;
use baton_core::{LifelineReport, TransferRefusal, foresee_refusal};
use baton_store::StoreError;

use super::handover::{hand_over, leader};
use crate::config::{ConfigError, PlaceFlags};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::place::Place;
use crate::snapshot::{MemberState, Snapshot, State};

/// The most nodes that are offered instead of one that cannot lead.
const OFFERED: usize = 5;

/// Where, to whom, and how long to wait.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    place: PlaceFlags,
    /// The node that is to lead.
    #[arg(long, value_name = "NODE")]
    to: String,
    /// How long to wait until it does.
    #[arg(long, value_name = "SPAN", default_value = "10s", value_parser = super::span)]
    timeout: Duration,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Asks the leader to hand over.
pub fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    let to = NodeId::new(&arguments.to)
        .map_err(|problem| ConfigError::Name { place: "--to".to_owned(), problem })?;
    super::block_on(async {
        let place = Place::to_change(&arguments.place.0).await?;
        let snapshot = place.snapshot().await?;
        leader(&snapshot)?;
        check_target(&place, &snapshot, &to).await?;
        let wish = Wish::Transfer(to.clone());
        let handover = hand_over(&place, &snapshot, wish, arguments.timeout).await?;
        if handover.leader != to {
            let (leads, epoch) = (handover.leader, handover.epoch);
            return Err(CommandError::WentElsewhere { leads, epoch, meant: to });
        }
        handover.print(arguments.json);
        Ok(Exit::Done)
    })
}

/// Says why the leader would refuse this node. It would tell its own node alone, and not this
/// command.
async fn check_target(place: &Place, snapshot: &Snapshot, to: &NodeId) -> Result<(), CommandError> {
    match foresee(place, to).await.map_err(|problem| place.trouble(problem))? {
        None => Ok(()),
        Some(reason) => Err(not_a_target(place, snapshot, to, reason).await),
    }
}

async fn foresee(place: &Place, to: &NodeId) -> Result<Option<TransferRefusal>, StoreError> {
    let seen = place.store.inspect(place.namespace()).await?;
    let members = place.store.members(place.namespace()).await?;
    Ok(foresee_refusal(to, seen.lease.as_ref(), &members, &place.config.settings))
}

async fn not_a_target(
    place: &Place,
    snapshot: &Snapshot,
    to: &NodeId,
    reason: TransferRefusal,
) -> CommandError {
    let remedy = match reason {
        TransferRefusal::NotEligible => "start it without --eligible false".to_owned(),
        TransferRefusal::LeadsAlready => "there is nothing to do".to_owned(),
        _ => choose(&live_candidates(snapshot, &place.config.settings).await),
    };
    CommandError::NotATarget { to: to.clone(), reason, remedy }
}

/// The first few nodes that leadership can be handed to. A record outlives its process by a while,
/// so a node is offered only if it is a successor, has beaten lately, and its port is not closed.
async fn live_candidates<'a>(snapshot: &'a Snapshot, settings: &Settings) -> Vec<&'a str> {
    // The store may leave out every second record that says nothing new.
    let lately = whole_ms(2 * (settings.heartbeat_interval + settings.heartbeat_jitter));
    let is_successor = |member: &&MemberState| {
        member.state == State::Candidate && snapshot.successors.contains(&member.node)
    };
    let beats = |member: &&MemberState| member.silent_ms.is_none_or(|silent| silent <= lately);
    let mut live = Vec::new();
    for member in snapshot.members.iter().filter(is_successor).filter(beats) {
        if live.len() < OFFERED && !is_closed(member).await {
            live.push(member.node.as_str());
        }
    }
    live
}

/// Does the node's port refuse, or belong to another process by now?
async fn is_closed(member: &MemberState) -> bool {
    let Some(address) = &member.lifeline else { return false };
    match probe(address).await {
        LifelineReport::Refused => true,
        LifelineReport::OtherBoot(boot) => boot != member.boot,
        _ => false,
    }
}

fn choose(names: &[&str]) -> String {
    match names.is_empty() {
        true => "there is no other candidate: start one".to_owned(),
        false => format!("candidates are {}", names.join(", ")),
    }
}
