//! Where the program begins.

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use crate::cli::Cli;
use crate::exit::Exit;
use crate::output::say;
use crate::{commands, complaint};

/// Does what the command line asks for.
pub fn main() -> ExitCode {
    // The guard starts with every term, and has no use for a parser.
    if std::env::args_os().nth(1).is_some_and(|argument| argument == "guard") {
        return crate::guard::run();
    }
    let exit = match Cli::try_parse() {
        Ok(cli) => commands::run(cli).unwrap_or_else(|problem| {
            say::aside(&problem.to_string());
            problem.exit()
        }),
        Err(answer) if complaint::is_answer(&answer) => {
            say::text(&answer.render().ansi().to_string());
            Exit::Done
        }
        Err(lost) if lost.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            eprint!("{}", lost.render());
            Exit::Usage
        }
        Err(mistake) => {
            say::aside(&complaint::one_line(&mistake));
            Exit::Usage
        }
    };
    ExitCode::from(exit.code())
}
