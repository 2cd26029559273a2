//! `baton partitions`: who owns which partition.
//!
//! ```text
//!   store, read only ──► view and assignment documents ──► status: a map of the cluster
//! ```

mod map;
mod status;

use crate::error::{CommandError, Exit};

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Show who owns which partition: a line for each node, and a map of each task list.
    Status(status::Arguments),
}

pub async fn run(command: &Command) -> Result<Exit, CommandError> {
    match command {
        Command::Status(arguments) => arguments.run().await,
    }
}
