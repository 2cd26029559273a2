//! `baton counters`: count from a script, and read what was counted: consolidated, pending, and the
//! sum of both.

use std::collections::BTreeMap;
use std::time::Duration;

use baton::plugins::counters::{CountError, Counters, CountersConfig, Reading};
use baton_core::settings::show_span;
use serde::Serialize;

use super::StoreArguments;
use crate::error::{CommandError, Exit};
use crate::open_store::OpenStore;
use crate::output::style::Tone;
use crate::output::table::{Cell, Table};
use crate::output::{log, stdout};

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Add to a counter.
    Add(ChangeArguments),
    /// Subtract from a counter.
    Sub(ChangeArguments),
    /// Set a counter to a value.
    Set(ChangeArguments),
    /// Show counters by name: consolidated value, pending changes, and the sum of both.
    Get(GetArguments),
    /// List all counters, or those with a prefix.
    List(ListArguments),
    /// Ask the leader to add the pending changes to the consolidated values now.
    Consolidate(ConsolidateArguments),
}

pub async fn run(command: &Command) -> Result<Exit, CommandError> {
    match command {
        Command::Add(arguments) => arguments.run("add").await,
        Command::Sub(arguments) => arguments.run("sub").await,
        Command::Set(arguments) => arguments.run("set").await,
        Command::Get(arguments) => arguments.run().await,
        Command::List(arguments) => arguments.run().await,
        Command::Consolidate(arguments) => arguments.run().await,
    }
}

/// A client for the counters of an open store.
struct CountersClient {
    opened: OpenStore,
    counters: Counters,
}

impl CountersClient {
    /// The deadline is that of changes.
    fn new(opened: OpenStore, deadline: Duration) -> Self {
        // A single change does not wait for others to share its request.
        let config = CountersConfig::default().tune(|config| {
            config.linger = Duration::ZERO;
            config.deadline = deadline;
        });
        let (store, namespace) = (opened.store.clone(), opened.namespace().clone());
        Self { counters: Counters::with_config(store, namespace, config), opened }
    }

    async fn ask<T>(
        &self,
        request: impl Future<Output = Result<T, CountError>>,
    ) -> Result<T, CommandError> {
        request.await.map_err(|problem| match problem {
            CountError::Store(problem) => self.opened.error(problem),
            problem => CommandError::Count(problem),
        })
    }
}

#[derive(Debug, clap::Args)]
pub struct ChangeArguments {
    /// Name of the counter: 1 to 200 bytes, without control characters.
    name: String,
    /// Amount, or the value to set: a whole number, which may be negative.
    #[arg(allow_negative_numbers = true)]
    n: i64,
    /// How long to retry while the store does not answer.
    #[arg(
        long, value_name = "DURATION", default_value = "10s",
        value_parser = super::duration
    )]
    timeout: Duration,
    #[command(flatten)]
    store: StoreArguments,
}

#[derive(Serialize)]
struct ChangeReport<'a> {
    counter: &'a str,
    change: &'a str,
    by: i64,
}

impl ChangeArguments {
    /// Changes the counter. Without --json the exit code alone says that it was changed.
    async fn run(&self, change: &str) -> Result<Exit, CommandError> {
        let client = CountersClient::new(self.store.open_to_write().await?, self.timeout);
        let Self { name, n, .. } = self;
        match change {
            "add" => client.ask(client.counters.add(name, *n)).await?,
            "sub" => client.ask(client.counters.sub(name, *n)).await?,
            _ => client.ask(client.counters.set(name, *n)).await?,
        };
        if self.store.json {
            stdout::json(&ChangeReport { counter: name, change, by: *n });
        }
        Ok(Exit::DONE)
    }
}

#[derive(Debug, clap::Args)]
pub struct ConsolidateArguments {
    /// How long to wait until the leader has consolidated.
    #[arg(
        long, value_name = "DURATION", default_value = "10s",
        value_parser = super::duration
    )]
    timeout: Duration,
    #[command(flatten)]
    store: StoreArguments,
}

impl ConsolidateArguments {
    async fn run(&self) -> Result<Exit, CommandError> {
        let client = CountersClient::new(self.store.open_to_write().await?, self.timeout);
        let consolidated = client.ask(client.counters.consolidate_now(self.timeout)).await?;
        if self.store.json {
            stdout::json(&BTreeMap::from([("consolidated", consolidated)]));
        }
        if consolidated {
            return Ok(Exit::DONE);
        }
        let waited = show_span(self.timeout);
        log::info(&format!(
            "nothing was consolidated within {waited}; is there a leader with the counters plugin?"
        ));
        Ok(Exit::TIMED_OUT)
    }
}

#[derive(Debug, clap::Args)]
pub struct GetArguments {
    /// Names of the counters.
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    store: StoreArguments,
}

impl GetArguments {
    async fn run(&self) -> Result<Exit, CommandError> {
        let client = CountersClient::new(self.store.open_to_read().await?, Duration::ZERO);
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let found = client.ask(client.counters.read(&names)).await?;
        print(&found, self.store.json);
        let is_unknown = |name: &&&str| !found.iter().any(|it| it.counter.as_str() == **name);
        let unknown: Vec<&str> = names.iter().filter(is_unknown).copied().collect();
        if unknown.is_empty() {
            return Ok(Exit::DONE);
        }
        let (namespace, names) = (client.opened.namespace(), unknown.join(", "));
        log::info(&format!("no such counter in namespace {namespace}: {names}"));
        Ok(Exit::FAILED)
    }
}

#[derive(Debug, clap::Args)]
pub struct ListArguments {
    /// List only counters whose name starts with this text.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    prefix: String,
    #[command(flatten)]
    store: StoreArguments,
}

impl ListArguments {
    async fn run(&self) -> Result<Exit, CommandError> {
        let client = CountersClient::new(self.store.open_to_read().await?, Duration::ZERO);
        let found = client.ask(client.counters.list(&self.prefix)).await?;
        if found.is_empty() && !self.store.json {
            let namespace = client.opened.namespace();
            stdout::line(&format!("there are no counters in namespace {namespace} yet"));
        } else {
            print(&found, self.store.json);
        }
        Ok(Exit::DONE)
    }
}

#[derive(Serialize)]
struct CounterRow<'a> {
    counter: &'a str,
    value: i64,
    consolidated: i64,
    pending: i64,
    overflowed: bool,
}

fn row(reading: &Reading) -> CounterRow<'_> {
    let (consolidated, value) = (reading.consolidated.value, reading.current.value);
    CounterRow {
        counter: reading.counter.as_str(),
        value,
        consolidated,
        pending: value.saturating_sub(consolidated),
        overflowed: reading.current.overflowed,
    }
}

fn print(readings: &[Reading], as_json: bool) {
    let lines: Vec<CounterRow<'_>> = readings.iter().map(row).collect();
    stdout::json_or_text(as_json, &lines, || match lines.is_empty() {
        true => String::new(),
        false => table(&lines).render(stdout::width()),
    });
}

fn table(lines: &[CounterRow<'_>]) -> Table {
    let mut table = Table::new(&["COUNTER", ">VALUE", ">CONSOLIDATED", ">PENDING"]);
    for line in lines {
        let value = match line.overflowed {
            false => Cell::new(line.value.to_string(), Tone::Plain),
            true => Cell::new(format!("{} overflowed", line.value), Tone::Bad),
        };
        let pending = match line.pending {
            0 => "-".to_owned(),
            pending => format!("{pending:+}"),
        };
        let consolidated = line.consolidated.to_string();
        table.row([line.counter.into(), value, consolidated.into(), pending.into()]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton::plugins::counters::{CounterName, CounterValue};

    fn reading(name: &str, consolidated: i64, current: CounterValue) -> Reading {
        let counter = CounterName::new(name).expect("it is a name");
        Reading {
            counter,
            consolidated: CounterValue { value: consolidated, overflowed: false },
            current,
        }
    }

    #[test]
    fn a_table_shows_what_is_pending_and_what_overflowed() {
        let readings = [
            reading("hits", 40, CounterValue { value: 42, overflowed: false }),
            reading("stock", 7, CounterValue { value: 7, overflowed: false }),
            reading("top", 1, CounterValue { value: i64::MAX, overflowed: true }),
        ];
        let lines: Vec<CounterRow<'_>> = readings.iter().map(row).collect();
        let shown = table(&lines).render(None);
        let words: Vec<Vec<&str>> =
            shown.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(words[1], ["hits", "42", "40", "+2"]);
        assert_eq!(words[2], ["stock", "7", "7", "-"]);
        // Coloured here, and only a terminal gets to see that.
        assert_eq!(words[3][0], "top");
        assert!(shown.contains("9223372036854775807 overflowed"), "{shown}");
    }
}
