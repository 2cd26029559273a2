//! `baton sim`: the simulator's own command line.

use baton_sim::commands::{Arguments, CommandError as SimulatorError};

use crate::error::CommandError;
use crate::exit::Exit;

/// Hands everything to the simulator.
pub fn run(arguments: Arguments) -> Result<Exit, CommandError> {
    match baton_sim::commands::run(arguments) {
        Ok(()) => Ok(Exit::Done),
        // The simulator has told what broke.
        Err(SimulatorError::Broken) => Ok(Exit::Failed),
        Err(SimulatorError::Input(problem)) => Err(CommandError::Simulator(problem)),
    }
}
