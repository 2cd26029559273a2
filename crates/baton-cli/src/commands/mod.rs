//! One file a command. Each has its arguments and a `run`.

pub mod completions;
pub mod counters;
pub mod demo;
pub mod doctor;
pub mod fences;
pub mod handover;
pub mod health;
pub mod history;
pub mod man;
pub mod plugins;
pub mod resign;
pub mod run;
pub mod serve;
pub mod settings;
pub mod sim;
pub mod status;
pub mod tick;
pub mod transfer;
pub mod watch;

use std::future::Future;

use crate::cli::{Cli, Command};
use crate::error::CommandError;
use crate::exit::Exit;

/// Carries out what was asked. A command that needs a runtime makes its own, so that one that
/// needs none starts faster.
pub fn run(cli: Cli) -> Result<Exit, CommandError> {
    match cli.command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Status(arguments) => status::run(&arguments),
        Command::Watch(arguments) => watch::run(&arguments),
        Command::Health(arguments) => health::run(&arguments),
        Command::History(arguments) => history::run(&arguments),
        Command::Plugins(arguments) => plugins::run(&arguments),
        Command::Transfer(arguments) => transfer::run(&arguments),
        Command::Resign(arguments) => resign::run(&arguments),
        Command::Counters(arguments) => counters::run(&arguments),
        Command::Fences(arguments) => fences::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Settings(arguments) => settings::run(&arguments),
        Command::Sim(arguments) => sim::run(*arguments),
        Command::Completions(arguments) => Ok(completions::run(&arguments)),
        Command::Man(arguments) => man::run(&arguments),
    }
}

/// Runs a command that waits, on this thread. What it gave up waiting for is not waited for here
/// either.
pub fn block_on<F>(command: F) -> Result<Exit, CommandError>
where
    F: Future<Output = Result<Exit, CommandError>>,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let no_runtime = |problem| CommandError::System { what: "no runtime", problem };
    let runtime = runtime.map_err(no_runtime)?;
    let done = runtime.block_on(command);
    runtime.shutdown_background();
    done
}

/// Reads a length of time on the command line.
pub fn span(text: &str) -> Result<std::time::Duration, String> {
    let advice = |_| "not a length of time, write 500ms, 5s or 2m".to_owned();
    humantime::parse_duration(text).map_err(advice)
}

/// Waits for SIGINT or SIGTERM.
pub async fn interrupted() -> Result<(), CommandError> {
    let no_signals = |problem| CommandError::System { what: "no signals", problem };
    baton::shutdown::signalled().await.map(|_| ()).map_err(no_signals)
}
