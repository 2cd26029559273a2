//! `baton counters`: count from a script, and read what was counted.
//!
//! ```text
//!   add, sub, set ──► change   one durable append each
//!   get, list     ──► show     consolidated, pending, and the sum of both
//!   consolidate   ──► change   asks the leader, and waits
//! ```

mod change;
mod show;

use std::time::Duration;

use baton::plugins::counters::{CountError, Counters, CountersConfig};

use super::StoreArguments;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::open_store::OpenStore;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Add to a counter.
    Add(change::Change),
    /// Subtract from a counter.
    Sub(change::Change),
    /// Set a counter to a value.
    Set(change::Change),
    /// Show counters by name: consolidated value, pending changes, and the sum of both.
    Get(show::Get),
    /// List all counters, or those with a prefix.
    List(show::List),
    /// Ask the leader to add the pending changes to the consolidated values now.
    Consolidate(change::Consolidate),
}

pub fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    super::block_on(async {
        match &arguments.command {
            Command::Add(arguments) => arguments.run("add").await,
            Command::Sub(arguments) => arguments.run("sub").await,
            Command::Set(arguments) => arguments.run("set").await,
            Command::Get(arguments) => arguments.run().await,
            Command::List(arguments) => arguments.run().await,
            Command::Consolidate(arguments) => arguments.run().await,
        }
    })
}

/// A client for the counters of an open store.
struct CountersClient {
    opened: OpenStore,
    counters: Counters,
}

impl CountersClient {
    async fn to_read(store: &StoreArguments) -> Result<Self, CommandError> {
        Ok(Self::new(store.open_to_read().await?, Duration::ZERO))
    }

    async fn to_write(store: &StoreArguments, deadline: Duration) -> Result<Self, CommandError> {
        Ok(Self::new(store.open_to_write().await?, deadline))
    }

    fn new(opened: OpenStore, deadline: Duration) -> Self {
        // A single change does not wait for others to share its request.
        let config = CountersConfig::default().tune(|config| {
            config.linger = Duration::ZERO;
            config.deadline = deadline;
        });
        let (store, namespace) = (opened.store.clone(), opened.namespace().clone());
        Self { counters: Counters::with_config(store, namespace, config), opened }
    }

    fn error(&self, problem: CountError) -> CommandError {
        match problem {
            CountError::Store(problem) => self.opened.error(problem),
            problem => CommandError::Count(problem),
        }
    }
}
