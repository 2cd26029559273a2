//! `baton status`: the leader, its successors, and the registered nodes.

use super::StoreArguments;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::{json, stdout};
use crate::snapshot::render;

pub fn run(arguments: &StoreArguments) -> Result<Exit, CommandError> {
    super::block_on(async {
        let snapshot = arguments.open_to_read().await?.snapshot().await?;
        json::or_text(arguments.json, &snapshot, || render(&snapshot, stdout::width()));
        Ok(Exit::Done)
    })
}
