//! `baton fences`: which writes to the user's own data are fenced, and up to which epoch.

use std::io::{BufRead as _, IsTerminal as _};

use baton_drivers::fences::{self, FencesError, StoredFence};

use crate::config::{Config, StoreFlags};
use crate::error::{CommandError, Exit};
use crate::output::table::Table;

use super::StoreArguments;
use crate::open_store;
use crate::output::{log, stdout};

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// List the fences, each with the highest epoch that has written.
    ///
    /// A fence refuses writes of an earlier epoch to data of your own: a table, a key, an object,
    /// or what a `[[ttl]]` table sweeps. --store names the database that holds this data.
    List(StoreArguments),
    /// Reset a fence, so that it accepts writes of any epoch again.
    ///
    /// Needed when the service has moved to another namespace or store: its epochs start from 1
    /// again, and the fence refuses its writes. Make sure first that no instance of the old
    /// namespace or store is running or paused: it could write again.
    Reset(ResetArguments),
}

#[derive(Debug, clap::Args)]
pub struct ResetArguments {
    /// Name of the fence, as `baton fences list` and the error of a refused write show it.
    name: String,
    /// Reset without asking for confirmation.
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    store: StoreFlags,
}

pub async fn run(command: &Command) -> Result<Exit, CommandError> {
    match command {
        Command::List(arguments) => list(arguments).await,
        Command::Reset(arguments) => arguments.run().await,
    }
}

fn error(config: &Config, problem: FencesError) -> CommandError {
    match problem {
        FencesError::Open(problem) => CommandError::Open(problem),
        FencesError::Store(problem) => CommandError::Store { url: config.store.clone(), problem },
        problem => CommandError::Fences(problem),
    }
}

async fn list(arguments: &StoreArguments) -> Result<Exit, CommandError> {
    let config = open_store::load_existing(&arguments.flags.0)?;
    let fences = fences::list(config.store.with_secrets(), &config.namespace).await;
    let fences = fences.map_err(|problem| error(&config, problem))?;
    stdout::json_or_text(arguments.json, &fences, || {
        if fences.is_empty() {
            return format!("there are no fences at {}\n", config.store);
        }
        let mut table = Table::new(&["FENCE", ">EPOCH"]);
        for StoredFence { resource, epoch } in &fences {
            table.row([resource.as_str().into(), epoch.to_string().into()]);
        }
        table.render(stdout::width())
    });
    Ok(Exit::DONE)
}

impl ResetArguments {
    async fn run(&self) -> Result<Exit, CommandError> {
        let config = open_store::load_existing(&self.store.0)?;
        let (name, store) = (self.name.clone(), config.store.clone());
        if !self.yes {
            if !std::io::stdin().is_terminal() {
                return Err(CommandError::Unconfirmed { name });
            }
            let question = format!(
                "Reset fence {name} at {store}? It will accept any epoch: an old leader that still \
                 runs could write again. [y/N]"
            );
            if !is_confirmed(&question) {
                log::info("nothing was reset");
                return Ok(Exit::FAILED);
            }
        }
        let reset = fences::reset(store.with_secrets(), &config.namespace, &name).await;
        match reset.map_err(|problem| error(&config, problem))? {
            Some(epoch) => {
                stdout::line(&format!("fence {name} is reset; the highest epoch was {epoch}"));
                Ok(Exit::DONE)
            }
            None => Err(CommandError::NoFence { name, store }),
        }
    }
}

fn is_confirmed(question: &str) -> bool {
    log::info(question);
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}
