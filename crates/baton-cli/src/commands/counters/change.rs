//! Changing counters, and asking for a consolidation.

use std::time::Duration;

use baton_core::settings::show_span;
use serde::Serialize;

use super::{Desk, Shared};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::{json, say};

/// Which counter, and how much.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The counter: 1 to 200 bytes, without control characters.
    name: String,
    /// How much.
    #[arg(allow_negative_numbers = true)]
    n: i64,
    /// How long a store that does not answer is tried.
    #[arg(long, value_name = "SPAN", default_value = "10s", value_parser = crate::commands::span)]
    timeout: Duration,
    #[command(flatten)]
    shared: Shared,
}

#[derive(Serialize)]
struct Counted<'a> {
    counter: &'a str,
    change: &'static str,
    by: i64,
}

impl Arguments {
    pub(super) async fn add(&self) -> Result<Exit, CommandError> {
        let desk = Desk::to_change(&self.shared, self.timeout).await?;
        desk.counters.add(&self.name, self.n).await.map_err(|problem| desk.trouble(problem))?;
        Ok(self.tell("add"))
    }

    pub(super) async fn sub(&self) -> Result<Exit, CommandError> {
        let desk = Desk::to_change(&self.shared, self.timeout).await?;
        desk.counters.sub(&self.name, self.n).await.map_err(|problem| desk.trouble(problem))?;
        Ok(self.tell("sub"))
    }

    pub(super) async fn set(&self) -> Result<Exit, CommandError> {
        let desk = Desk::to_change(&self.shared, self.timeout).await?;
        desk.counters.set(&self.name, self.n).await.map_err(|problem| desk.trouble(problem))?;
        Ok(self.tell("set"))
    }

    /// A program is told what a person takes from the exit code.
    fn tell(&self, change: &'static str) -> Exit {
        if self.shared.json {
            json::document(&Counted { counter: &self.name, change, by: self.n });
        }
        Exit::Done
    }
}

/// How long to wait.
#[derive(Debug, clap::Args)]
pub struct Consolidate {
    /// How long to wait for the leader.
    #[arg(long, value_name = "SPAN", default_value = "10s", value_parser = crate::commands::span)]
    timeout: Duration,
    #[command(flatten)]
    shared: Shared,
}

#[derive(Serialize)]
struct Consolidated {
    consolidated: bool,
}

impl Consolidate {
    pub(super) async fn run(&self) -> Result<Exit, CommandError> {
        let desk = Desk::to_change(&self.shared, self.timeout).await?;
        let asked = desk.counters.consolidate_now(self.timeout).await;
        let consolidated = asked.map_err(|problem| desk.trouble(problem))?;
        if self.shared.json {
            json::document(&Consolidated { consolidated });
        }
        if consolidated {
            return Ok(Exit::Done);
        }
        let waited = show_span(self.timeout);
        say::aside(&format!(
            "nothing was consolidated within {waited}; does anybody lead, with the counters plugin?"
        ));
        Ok(Exit::TimedOut)
    }
}
