//! `baton transfer`: leadership goes to a named node.

use std::time::Duration;

use baton_core::ids::NodeId;
use baton_core::protocol::Wish;

use super::handover::{hand_over, leader};
use crate::config::{ConfigError, PlaceFlags};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::place::Place;
use crate::snapshot::{Snapshot, State};

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
        let place = Place::to_look_at(&arguments.place.0).await?;
        let snapshot = place.snapshot().await?;
        leader(&snapshot)?;
        check_target(&snapshot, &to)?;
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

/// Can this node lead? The coordinator would refuse too, but nobody would hear of it here.
fn check_target(snapshot: &Snapshot, to: &NodeId) -> Result<(), CommandError> {
    let member = snapshot.members.iter().find(|member| member.node == *to);
    let (why, remedy) = match member.map(|member| member.state) {
        Some(State::Candidate) => return Ok(()),
        Some(State::Leader) => ("leads already", "there is nothing to do".to_owned()),
        Some(State::Observer) => ("may not lead", "start it without --eligible false".to_owned()),
        Some(State::Draining) => ("is on its way out", choose(snapshot)),
        Some(State::Silent) => ("has fallen silent", choose(snapshot)),
        None => ("is not registered", choose(snapshot)),
    };
    Err(CommandError::NotATarget { to: to.to_string(), why, remedy })
}

fn choose(snapshot: &Snapshot) -> String {
    let candidates = snapshot.members.iter().filter(|member| member.state == State::Candidate);
    let names: Vec<&str> = candidates.map(|member| member.node.as_str()).take(5).collect();
    match names.is_empty() {
        true => "there is no other candidate: start one".to_owned(),
        false => format!("candidates are {}", names.join(", ")),
    }
}
