//! `baton transfer`: leadership goes to a named node.

use std::time::Duration;

use baton_core::ids::NodeId;
use baton_core::protocol::Wish;
use baton_core::{TransferRefusal, foresee_refusal};
use baton_store::StoreError;

use super::handover::{hand_over, leader};
use crate::config::{ConfigError, PlaceFlags};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::look::Looks;
use crate::place::Place;
use crate::snapshot::{Snapshot, State};

/// Time between two looks at whether the coordinator has heard a new node.
const LOOK_EVERY: Duration = Duration::from_millis(50);

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

/// Asks the coordinator to hand over.
pub fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    let to = NodeId::new(&arguments.to)
        .map_err(|problem| ConfigError::Name { place: "--to".to_owned(), problem })?;
    super::block_on(async {
        let place = Place::to_change(&arguments.place.0).await?;
        let snapshot = place.snapshot().await?;
        leader(&snapshot)?;
        check_target(&place, &to, arguments.timeout).await?;
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

/// Waits until the coordinator has heard the node, if it is new, and then says why it would refuse.
/// It would tell its own node alone, and nobody would hear of it here.
async fn check_target(place: &Place, to: &NodeId, patience: Duration) -> Result<(), CommandError> {
    let mut looks = Looks::new(LOOK_EVERY, patience);
    let mut refusal = None;
    while looks.again().await {
        refusal = foresee(place, to).await.map_err(|problem| place.trouble(problem))?;
        if refusal != Some(TransferRefusal::NotHeardYet) {
            break;
        }
    }
    match refusal {
        None => Ok(()),
        Some(reason) => Err(not_a_target(place, to, reason).await?),
    }
}

async fn foresee(place: &Place, to: &NodeId) -> Result<Option<TransferRefusal>, StoreError> {
    let seen = place.store.inspect(place.namespace()).await?;
    let members = place.store.members(place.namespace()).await?;
    let (lease, view) = (seen.lease.as_ref(), seen.view.as_deref());
    Ok(foresee_refusal(to, lease, view, &members, &place.config.settings))
}

async fn not_a_target(
    place: &Place,
    to: &NodeId,
    reason: TransferRefusal,
) -> Result<CommandError, CommandError> {
    let remedy = match reason {
        TransferRefusal::NotEligible => "start it without --eligible false".to_owned(),
        TransferRefusal::LeadsAlready => "there is nothing to do".to_owned(),
        TransferRefusal::NotHeardYet => "try again in a beat".to_owned(),
        _ => choose(&place.snapshot().await?),
    };
    Ok(CommandError::NotATarget { to: to.clone(), reason, remedy })
}

fn choose(snapshot: &Snapshot) -> String {
    let candidates = snapshot.members.iter().filter(|member| member.state == State::Candidate);
    let names: Vec<&str> = candidates.map(|member| member.node.as_str()).take(5).collect();
    match names.is_empty() {
        true => "there is no other candidate: start one".to_owned(),
        false => format!("candidates are {}", names.join(", ")),
    }
}
