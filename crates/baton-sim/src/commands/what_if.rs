//! To be written.

use super::CommandError;

/// Arguments.
#[derive(clap::Args)]
pub struct WhatIfArguments {}

/// Runs.
pub fn run(_: &WhatIfArguments) -> Result<(), CommandError> {
    Err(CommandError::Input("not yet".to_owned()))
}
