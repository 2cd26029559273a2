//! To be written.

use super::CommandError;

/// Arguments.
#[derive(clap::Args)]
pub struct CostArguments {}

/// Runs.
pub fn run(_: &CostArguments) -> Result<(), CommandError> {
    Err(CommandError::Input("not yet".to_owned()))
}
