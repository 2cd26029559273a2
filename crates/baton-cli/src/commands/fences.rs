//! `baton fences`: which writes to the user's own data are fenced, and up to which epoch.

use std::io::{BufRead as _, IsTerminal as _};

use baton_drivers::fences::{self, FencesError, StoredFence};
use serde::Serialize;

use crate::config::{Config, PlaceFlags};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::table::{Lean, Table};
use crate::output::{json, say};
use crate::place;

/// What to do.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Show the fences, each with the highest epoch that wrote.
    ///
    /// A fence refuses writes of an earlier epoch to data of your own: a table, a key, an object,
    /// or what a `[[ttl]]` table sweeps. --store names the database that holds this data.
    List(List),
    /// Reset a fence, so that it admits any epoch again.
    ///
    /// Needed after epochs began anew: the service moved to another namespace, or to a new store,
    /// and its writes are refused as those of an earlier epoch. Before you do, make sure that no
    /// instance of the old namespace or store is running or paused: it could write again.
    Reset(Reset),
}

/// Where, and how to print.
#[derive(Debug, clap::Args)]
struct List {
    #[command(flatten)]
    place: PlaceFlags,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Which one.
#[derive(Debug, clap::Args)]
struct Reset {
    /// The resource of the fence, as `baton fences list` and the error show it.
    name: String,
    /// Do not ask for confirmation.
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    place: PlaceFlags,
}

/// Looks, or resets.
pub fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    super::block_on(async {
        match &arguments.what {
            What::List(it) => it.run().await,
            What::Reset(it) => it.run().await,
        }
    })
}

#[derive(Serialize)]
struct Line<'a> {
    resource: &'a str,
    epoch: u64,
}

impl<'a> Line<'a> {
    fn of(fence: &'a StoredFence) -> Self {
        Self { resource: &fence.resource, epoch: fence.epoch.0 }
    }
}

async fn found(config: &Config) -> Result<Vec<StoredFence>, CommandError> {
    let found = fences::list(config.store.with_secrets(), &config.namespace).await;
    found.map_err(|problem| trouble(config, problem))
}

fn trouble(config: &Config, problem: FencesError) -> CommandError {
    match problem {
        FencesError::Open(problem) => CommandError::Open(problem),
        FencesError::Store(problem) => CommandError::Store { url: config.store.clone(), problem },
        problem => CommandError::Fences(problem),
    }
}

impl List {
    async fn run(&self) -> Result<Exit, CommandError> {
        let config = place::load_existing(&self.place.0)?;
        let fences = found(&config).await?;
        if self.json {
            let lines = fences.iter().map(Line::of);
            json::document(&lines.collect::<Vec<_>>());
        } else if fences.is_empty() {
            say::line(&format!("there are no fences at {}", config.store));
        } else {
            let mut table = Table::new(&[("FENCE", Lean::Left), ("EPOCH", Lean::Right)]);
            for fence in &fences {
                table.row([fence.resource.as_str().into(), fence.epoch.to_string().into()]);
            }
            say::text(&table.render(say::width()));
        }
        Ok(Exit::Done)
    }
}

impl Reset {
    async fn run(&self) -> Result<Exit, CommandError> {
        let config = place::load_existing(&self.place.0)?;
        let (name, store) = (self.name.clone(), config.store.clone());
        if !self.yes {
            if !std::io::stdin().is_terminal() {
                return Err(CommandError::Unconfirmed { name });
            }
            let question = format!(
                "Reset fence {name} at {store}? It will admit any epoch: an old leader that still \
                 runs could write again. [y/N]"
            );
            if !agreed(&question) {
                say::aside("nothing was reset");
                return Ok(Exit::Failed);
            }
        }
        let reset = fences::reset(store.with_secrets(), &config.namespace, &name).await;
        match reset.map_err(|problem| trouble(&config, problem))? {
            Some(epoch) => {
                say::line(&format!("fence {name} is reset; the highest epoch was {epoch}"));
                Ok(Exit::Done)
            }
            None => Err(CommandError::NoFence { name, store }),
        }
    }
}

/// Asks at the terminal.
fn agreed(question: &str) -> bool {
    say::aside(question);
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}
