//! Reading counters.

use baton::plugins::counters::Reading;
use serde::Serialize;

use super::CountersClient;
use crate::commands::StoreArguments;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::style::Tone;
use crate::output::table::{Align, Cell, Table};
use crate::output::{json, log, stdout};

#[derive(Debug, clap::Args)]
pub struct Get {
    /// Names of the counters.
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    store: StoreArguments,
}

impl Get {
    pub(super) async fn run(&self) -> Result<Exit, CommandError> {
        let client = CountersClient::to_read(&self.store).await?;
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let found = client.counters.read(&names).await;
        let found = found.map_err(|problem| client.error(problem))?;
        print(&found, self.store.json);
        let is_unknown = |name: &&&str| !found.iter().any(|it| it.counter.as_str() == **name);
        let unknown: Vec<&str> = names.iter().filter(is_unknown).copied().collect();
        if unknown.is_empty() {
            return Ok(Exit::Done);
        }
        let (namespace, names) = (client.opened.namespace(), unknown.join(", "));
        log::info(&format!("no such counter in namespace {namespace}: {names}"));
        Ok(Exit::Failed)
    }
}

#[derive(Debug, clap::Args)]
pub struct List {
    /// List only counters whose name starts with this text.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    prefix: String,
    #[command(flatten)]
    store: StoreArguments,
}

impl List {
    pub(super) async fn run(&self) -> Result<Exit, CommandError> {
        let client = CountersClient::to_read(&self.store).await?;
        let found = client.counters.list(&self.prefix).await;
        let found = found.map_err(|problem| client.error(problem))?;
        if found.is_empty() && !self.store.json {
            let namespace = client.opened.namespace();
            stdout::line(&format!("there are no counters in namespace {namespace} yet"));
        } else {
            print(&found, self.store.json);
        }
        Ok(Exit::Done)
    }
}

#[derive(Serialize)]
struct Line<'a> {
    counter: &'a str,
    value: i64,
    consolidated: i64,
    pending: i64,
    overflowed: bool,
}

fn line(reading: &Reading) -> Line<'_> {
    let (consolidated, value) = (reading.consolidated.value, reading.current.value);
    Line {
        counter: reading.counter.as_str(),
        value,
        consolidated,
        pending: value.saturating_sub(consolidated),
        overflowed: reading.current.overflowed,
    }
}

fn print(readings: &[Reading], as_json: bool) {
    let lines: Vec<Line<'_>> = readings.iter().map(line).collect();
    if as_json {
        json::document(&lines);
    } else if !lines.is_empty() {
        stdout::text(&table(&lines).render(stdout::width()));
    }
}

fn table(lines: &[Line<'_>]) -> Table {
    let mut table = Table::new(&[
        ("COUNTER", Align::Left),
        ("VALUE", Align::Right),
        ("CONSOLIDATED", Align::Right),
        ("PENDING", Align::Right),
    ]);
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
        let lines: Vec<Line<'_>> = readings.iter().map(line).collect();
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
