//! Changing counters, and asking for a consolidation.

use std::time::Duration;

use baton_core::settings::show_span;
use serde::Serialize;

use super::CountersClient;
use crate::commands::StoreArguments;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::{json, log};

#[derive(Debug, clap::Args)]
pub struct Change {
    /// Name of the counter: 1 to 200 bytes, without control characters.
    name: String,
    /// Amount, or the value to set: a whole number, which may be negative.
    #[arg(allow_negative_numbers = true)]
    n: i64,
    /// How long to retry while the store does not answer.
    #[arg(
        long, value_name = "DURATION", default_value = "10s",
        value_parser = crate::commands::duration
    )]
    timeout: Duration,
    #[command(flatten)]
    store: StoreArguments,
}

#[derive(Serialize)]
struct Changed<'a> {
    counter: &'a str,
    change: &'a str,
    by: i64,
}

#[derive(Serialize)]
struct Consolidated {
    consolidated: bool,
}

impl Change {
    /// Changes the counter. Without --json the exit code alone says that it was changed.
    pub(super) async fn run(&self, change: &str) -> Result<Exit, CommandError> {
        let client = CountersClient::to_write(&self.store, self.timeout).await?;
        let Self { name, n, .. } = self;
        let changed = match change {
            "add" => client.counters.add(name, *n).await,
            "sub" => client.counters.sub(name, *n).await,
            _ => client.counters.set(name, *n).await,
        };
        changed.map_err(|problem| client.error(problem))?;
        if self.store.json {
            json::document(&Changed { counter: name, change, by: *n });
        }
        Ok(Exit::Done)
    }
}

#[derive(Debug, clap::Args)]
pub struct Consolidate {
    /// How long to wait until the leader has consolidated.
    #[arg(
        long, value_name = "DURATION", default_value = "10s",
        value_parser = crate::commands::duration
    )]
    timeout: Duration,
    #[command(flatten)]
    store: StoreArguments,
}

impl Consolidate {
    pub(super) async fn run(&self) -> Result<Exit, CommandError> {
        let client = CountersClient::to_write(&self.store, self.timeout).await?;
        let asked = client.counters.consolidate_now(self.timeout).await;
        let consolidated = asked.map_err(|problem| client.error(problem))?;
        if self.store.json {
            json::document(&Consolidated { consolidated });
        }
        if consolidated {
            return Ok(Exit::Done);
        }
        let waited = show_span(self.timeout);
        log::info(&format!(
            "nothing was consolidated within {waited}; is there a leader with the counters plugin?"
        ));
        Ok(Exit::TimedOut)
    }
}
