//! The simulator's command line. Data goes to stdout, everything else to stderr.

use std::process::ExitCode;

use baton_sim::commands::{self, Arguments, CommandError};
use clap::Parser;

fn main() -> ExitCode {
    match commands::run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(CommandError::Broken) => ExitCode::from(1),
        Err(CommandError::Input(problem)) => {
            eprintln!("baton-sim: {problem}");
            ExitCode::from(2)
        }
    }
}
