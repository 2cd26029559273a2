//! `baton tick`: the job of the demo, the tests and the benches. Appends a line to a log for each
//! interval, in the epoch that its environment names.

use std::path::PathBuf;
use std::time::Duration;

use crate::cluster::tick_along;
use crate::error::{CommandError, Exit};

#[derive(Debug, clap::Parser)]
#[command(
    name = "baton tick",
    about = "Append a line to a log for each interval: the job of the demo"
)]
pub struct Arguments {
    /// File to append to.
    #[arg(long)]
    log: PathBuf,
    /// Length of an interval.
    #[arg(long, default_value = "100ms", value_parser = super::duration)]
    every: Duration,
    /// Epoch that each line names.
    #[arg(long, env = "BATON_EPOCH")]
    epoch: u64,
    /// Node that each line names.
    #[arg(long, env = "BATON_NODE_ID")]
    node: String,
}

pub fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    super::block_on(async {
        let Arguments { log, every, epoch, node } = arguments;
        tick_along(log, *every, *epoch, node).await?;
        Ok(Exit::DONE)
    })
}
