//! `baton status`: who leads, and who else is there.

use crate::config::PlaceFlags;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::{json, say};
use crate::place::Place;
use crate::snapshot::render;

/// Where to look.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    place: PlaceFlags,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Looks once.
pub fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    super::block_on(async {
        let snapshot = Place::to_look_at(&arguments.place.0).await?.snapshot().await?;
        if arguments.json {
            json::document(&snapshot);
        } else {
            say::text(&render(&snapshot, say::width()));
        }
        Ok(Exit::Done)
    })
}
