//! The baton command.

use std::process::ExitCode;

use baton_cli::cli::Cli;
use baton_cli::exit::Exit;
use baton_cli::output::say;
use baton_cli::{commands, complaint};
use clap::Parser;
use clap::error::ErrorKind;

fn main() -> ExitCode {
    // The guard starts with every term, and has no use for a parser.
    if std::env::args_os().nth(1).is_some_and(|argument| argument == "guard") {
        return baton_cli::guard::run();
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
