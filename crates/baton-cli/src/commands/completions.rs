//! `baton completions`: what a shell needs to finish a half-typed command.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::exit::Exit;
use crate::output::stdout;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Shell that the script is for.
    shell: Shell,
}

pub fn run(arguments: &Arguments) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "baton", &mut script);
    stdout::text(&String::from_utf8_lossy(&script));
    Exit::Done
}
