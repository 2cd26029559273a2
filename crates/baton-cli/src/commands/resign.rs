//! `baton resign`: the leader steps down, and the policy decides which node is next.

use baton_core::protocol::Wish;

use super::handover::{HandoverArguments, hand_over};
use crate::error::CommandError;
use crate::exit::Exit;

pub fn run(arguments: &HandoverArguments) -> Result<Exit, CommandError> {
    super::block_on(async {
        let opened = arguments.store.open_to_write().await?;
        let snapshot = opened.snapshot().await?;
        let handover = hand_over(&opened, &snapshot, Wish::Resign, arguments.timeout).await?;
        handover.print(arguments.store.json);
        Ok(Exit::Done)
    })
}
