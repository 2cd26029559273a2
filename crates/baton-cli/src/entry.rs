//! Where the program begins.

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use crate::cli::Cli;
use crate::commands::tick;
use crate::exit::Exit;
use crate::output::log::{self, Format};
use crate::output::stdout;
use crate::{clap_error, commands};

/// Does what the command line asks for.
pub fn main() -> ExitCode {
    let arguments = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let variable = std::env::var("BATON_LOG_FORMAT").ok();
    log::begin(Format::guessed(arguments, variable.as_deref()));
    let first = std::env::args_os().nth(1);
    // The guard starts with every term, and has no use for a parser.
    if first.as_ref().is_some_and(|argument| argument == "guard") {
        return crate::guard::run();
    }
    // The job of a term whose start is measured does not read through all the other commands.
    let done = if first.is_some_and(|argument| argument == "tick") {
        tick::Arguments::try_parse_from(std::env::args_os().skip(1)).map(|ticks| tick::run(&ticks))
    } else {
        Cli::try_parse().map(commands::run)
    };
    let exit = match done {
        Ok(done) => done.unwrap_or_else(|problem| {
            log::error(&problem.to_string());
            problem.exit()
        }),
        Err(answer) if clap_error::is_help_or_version(&answer) => {
            stdout::text(&answer.render().ansi().to_string());
            Exit::Done
        }
        Err(lost) if lost.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            eprint!("{}", lost.render());
            Exit::Usage
        }
        Err(mistake) => {
            log::error(&clap_error::one_line(&mistake));
            Exit::Usage
        }
    };
    ExitCode::from(exit.code())
}
