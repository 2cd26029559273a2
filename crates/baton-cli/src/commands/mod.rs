//! A file for each command, or for a few that are alike. Each has its arguments and a function that
//! carries it out.

pub(crate) mod counters;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod fences;
pub(crate) mod handover;
pub(crate) mod health;
pub(crate) mod history;
pub(crate) mod manuals;
pub(crate) mod namespaces;
pub(crate) mod once;
pub(crate) mod own;
pub(crate) mod partitions;
pub(crate) mod plugins;
pub(crate) mod run;
pub(crate) mod schedules;
pub(crate) mod serve;
pub(crate) mod settings;
pub(crate) mod tasklists;
pub(crate) mod tick;
pub(crate) mod watch;

use std::future::Future;
use std::time::Duration;

use baton_sim::commands as simulator;

use crate::cli::{Cli, Command};
use crate::config::StoreFlags;
use crate::error::{CommandError, Exit};
use crate::open_store::{self, OpenStore};
use crate::output::stdout;
use crate::snapshot::render;

/// Time limit of one request to the store, for a person who waits for the answer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

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

    /// For a command that writes a request or a counter.
    async fn open_to_write(&self) -> Result<OpenStore, CommandError> {
        let config = open_store::load(&self.flags.0)?;
        let store = open_store::open_existing(&config.store).await?;
        Ok(OpenStore { config, store })
    }
}

/// Runs the command.
pub fn run(cli: Cli) -> Result<Exit, CommandError> {
    block_on(async {
        match cli.command {
            Command::Demo(arguments) => demo::run(&arguments).await,
            Command::Run(arguments) => run::run(&arguments).await,
            Command::Once(arguments) => once::run(&arguments).await,
            Command::Serve(arguments) => serve::run(&arguments).await,
            Command::Status(arguments) => status(&arguments).await,
            Command::Watch(arguments) => watch::run(&arguments).await,
            Command::Health(arguments) => health::run(&arguments).await,
            Command::History(arguments) => history::run(&arguments).await,
            Command::Namespaces(arguments) => namespaces::run(&arguments).await,
            Command::Plugins(arguments) => plugins::run(&arguments).await,
            Command::Transfer(arguments) => handover::transfer(&arguments).await,
            Command::Resign(arguments) => handover::resign(&arguments).await,
            Command::Schedules(command) => schedules::run(&command).await,
            Command::Partitions(command) => partitions::run(&command).await,
            Command::Tasklists(command) => tasklists::run(&command).await,
            Command::Counters(command) => counters::run(&command).await,
            Command::Fences(command) => fences::run(&command).await,
            Command::Doctor(arguments) => doctor::run(&arguments).await,
            Command::Settings(arguments) => settings::run(&arguments),
            Command::Sim(arguments) => sim(*arguments),
            Command::Completions(arguments) => Ok(manuals::completions(&arguments)),
            Command::Man(arguments) => manuals::man(&arguments),
        }
    })
}

/// `baton status`: the leader, its successors, and the registered nodes.
async fn status(arguments: &StoreArguments) -> Result<Exit, CommandError> {
    let snapshot = arguments.open_to_read().await?.snapshot().await?;
    stdout::json_or_text(arguments.json, &snapshot, || render(&snapshot, stdout::width()));
    Ok(Exit::DONE)
}

/// `baton sim`: the simulator's own command line.
fn sim(arguments: simulator::Arguments) -> Result<Exit, CommandError> {
    match simulator::run(arguments) {
        Ok(()) => Ok(Exit::DONE),
        // The simulator has told what broke.
        Err(simulator::CommandError::Broken) => Ok(Exit::FAILED),
        Err(simulator::CommandError::Input(problem)) => Err(CommandError::Simulator(problem)),
    }
}

/// Runs a command that waits, on this thread. Blocking work that it has given up is not awaited.
pub fn block_on<F>(command: F) -> Result<Exit, CommandError>
where
    F: Future<Output = Result<Exit, CommandError>>,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(CommandError::system("no runtime"))?;
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
    baton::shutdown::signalled().await.map(|_| ()).map_err(CommandError::system("no signals"))
}
