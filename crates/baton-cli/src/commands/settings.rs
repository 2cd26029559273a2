//! `baton settings`: what holds in the end, and where each value comes from. The output is a file
//! that `--config` can read.

use std::collections::BTreeMap;

use serde::Serialize;
use toml::Value;

use crate::config::{Config, Entry, NodeFlags, ScheduleTable, Source, TABLE};
use crate::error::{CommandError, Exit};
use crate::open_store::load;
use crate::output::stdout;
use crate::output::style::Tone;

/// Where the remarks begin, if the value is not longer.
const REMARK: usize = 43;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    node: NodeFlags,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    value: Option<Value>,
    source: String,
}

/// Shows the settings, then reports an error if two of them contradict each other.
pub fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    let config = load(&arguments.node.0)?;
    stdout::json_or_text(arguments.json, &rows(&config), || file(&config));
    config.checked()?;
    Ok(Exit::DONE)
}

fn rows(config: &Config) -> BTreeMap<&'static str, Row> {
    let mut effective = config.effective();
    let row = |entry: &Entry| {
        let (value, source) = (effective.remove(entry.key), config.source(entry.key).to_string());
        (entry.key, Row { value, source })
    };
    TABLE.iter().map(row).chain(rows_of_tables(config)).collect()
}

/// What only a file can have: its tables, by kind.
fn tables(config: &Config) -> [(&'static str, Vec<(&toml::Table, &Source)>); 3] {
    let ttl = config.ttl.iter().map(|table| (&table.shown, &table.source));
    let schedules: &[ScheduleTable] = &config.schedules;
    let schedules = schedules.iter().map(|table| (&table.shown, &table.source));
    let task_lists = config.task_lists.iter().map(|table| (&table.shown, &table.source));
    [("ttl", ttl.collect()), ("schedule", schedules.collect()), ("task_list", task_lists.collect())]
}

fn rows_of_tables(config: &Config) -> impl Iterator<Item = (&'static str, Row)> {
    tables(config).into_iter().filter_map(|(kind, tables)| {
        let source = tables.first()?.1.to_string();
        let shown = tables.into_iter().map(|(table, _)| Value::Table(table.clone()));
        Some((kind, Row { value: Some(Value::Array(shown.collect())), source }))
    })
}

/// The settings as a file: first what stands in no table, then table by table.
fn file(config: &Config) -> String {
    let effective = config.effective();
    let mut tables: BTreeMap<&str, String> = BTreeMap::new();
    for entry in TABLE {
        let (table, name) = entry.key.split_once('.').unwrap_or(("", entry.key));
        let line = match effective.get(entry.key) {
            Some(value) => format!("{name} = {value}"),
            None => format!("# {name} = \"…\""),
        };
        let source = config.source(entry.key);
        let tone = if source == Source::BuiltIn { Tone::Faint } else { Tone::Good };
        let remark = tone.paint(&format!("# {source}"));
        let text = tables.entry(table).or_default();
        text.push_str(&format!("{line:<REMARK$} {remark}\n"));
    }
    for (name, value) in &config.labels {
        let (name, value) = (Value::String(name.clone()), Value::String(value.clone()));
        tables.entry("labels").or_default().push_str(&format!("{name} = {value}\n"));
    }
    let headed = |head: &str, text: &str| format!("\n{}\n{text}", Tone::Head.paint(head));
    let shown = |(table, text): (&str, String)| match table {
        "" => text,
        table => headed(&format!("[{table}]"), &text),
    };
    let of_files = self::tables(config).into_iter().flat_map(|(kind, tables)| {
        let head = format!("[[{kind}]]");
        // A table within the table stays on its own line.
        let line = |(key, value): (&String, &Value)| format!("{key} = {value}\n");
        let shown = |(table, _): (&toml::Table, _)| {
            headed(&head, &table.iter().map(line).collect::<String>())
        };
        tables.into_iter().map(shown).collect::<Vec<_>>()
    });
    tables.into_iter().map(shown).chain(of_files).collect()
}
