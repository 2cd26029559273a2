//! `baton tick`: the job of the demo, the tests and the benches. Writes a line for each slot of
//! time into a log, in the epoch that its environment names.

use std::path::PathBuf;
use std::time::Duration;

use crate::cluster::tick_along;
use crate::error::CommandError;
use crate::exit::Exit;

/// Where, and how often.
#[derive(Debug, clap::Parser)]
#[command(name = "baton tick", about = "Tick into a log: the job of the demo")]
pub struct Arguments {
    /// The log.
    #[arg(long)]
    log: PathBuf,
    /// How long a slot is.
    #[arg(long, default_value = "100ms", value_parser = super::span)]
    every: Duration,
    /// The epoch to tick in.
    #[arg(long, env = "BATON_EPOCH")]
    epoch: u64,
    /// The node to tick for.
    #[arg(long, env = "BATON_NODE_ID")]
    node: String,
}

/// Ticks until it is ended.
pub fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    super::block_on(async {
        let Arguments { log, every, epoch, node } = arguments;
        tick_along(log, *every, *epoch, node).await?;
        Ok(Exit::Done)
    })
}
