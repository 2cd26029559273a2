//! One file a command. Each has its arguments and a `run`.

pub(crate) mod completions;
pub(crate) mod counters;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod fences;
pub(crate) mod handover;
pub(crate) mod health;
pub(crate) mod history;
pub(crate) mod man;
pub(crate) mod namespaces;
pub(crate) mod plugins;
pub(crate) mod resign;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod settings;
pub(crate) mod sim;
pub(crate) mod status;
pub(crate) mod tick;
pub(crate) mod transfer;
pub(crate) mod watch;

use std::future::Future;

use crate::cli::{Cli, Command};
use crate::config::StoreFlags;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::open_store::OpenStore;

/// Arguments of a command that reads or changes one namespace of a store.
#[derive(Debug, clap::Args)]
pub struct StoreArguments {
    #[command(flatten)]
    flags: StoreFlags,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl StoreArguments {
    async fn open_to_read(&self) -> Result<OpenStore, CommandError> {
        OpenStore::to_read(&self.flags.0).await
    }

    async fn open_to_write(&self) -> Result<OpenStore, CommandError> {
        OpenStore::to_write(&self.flags.0).await
    }
}

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
        Command::Namespaces(arguments) => namespaces::run(&arguments),
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

/// Runs a command that waits, on this thread. Blocking work that it has given up is not awaited.
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
pub fn duration(text: &str) -> Result<std::time::Duration, String> {
    let advice = |_| "not a length of time, write 500ms, 5s or 2m".to_owned();
    humantime::parse_duration(text).map_err(advice)
}

/// Waits for SIGINT or SIGTERM.
pub async fn interrupted() -> Result<(), CommandError> {
    let no_signals = |problem| CommandError::System { what: "no signals", problem };
    baton::shutdown::signalled().await.map(|_| ()).map_err(no_signals)
}
