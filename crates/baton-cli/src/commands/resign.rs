//! `baton resign`: the leader steps down, and the policy decides who is next.

use std::time::Duration;

use baton_core::protocol::Wish;

use super::handover::hand_over;
use crate::config::PlaceFlags;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::place::Place;

/// Where, and how long to wait.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    place: PlaceFlags,
    /// How long to wait for the next leader.
    #[arg(long, value_name = "SPAN", default_value = "10s", value_parser = super::span)]
    timeout: Duration,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Asks the leader to resign.
pub fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    super::block_on(async {
        let place = Place::to_change(&arguments.place.0).await?;
        let snapshot = place.snapshot().await?;
        let handover = hand_over(&place, &snapshot, Wish::Resign, arguments.timeout).await?;
        handover.print(arguments.json);
        Ok(Exit::Done)
    })
}
