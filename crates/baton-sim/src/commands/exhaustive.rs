//! To be written.

use super::CommandError;

/// Arguments.
#[derive(clap::Args)]
pub struct ExhaustiveArguments {}

/// Runs.
pub fn run(_: &ExhaustiveArguments) -> Result<(), CommandError> {
    Err(CommandError::Input("not yet".to_owned()))
}
