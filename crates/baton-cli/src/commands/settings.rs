//! `baton settings`: what holds in the end, and where each value comes from.

use serde::Serialize;
use std::collections::BTreeMap;

use crate::config::{Config, NodeFlags, Source, TABLE, bare};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::style::Tone;
use crate::output::table::{Cell, Lean, Table};
use crate::output::{json, say};
use crate::place::load;

/// What to lay over the file and the environment.
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
    value: toml::Value,
    source: String,
}

/// Shows the settings, and complains afterwards if they contradict each other.
pub fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    let config = load(&arguments.node.0)?;
    if arguments.json {
        let rows: BTreeMap<String, Row> = config
            .effective()
            .into_iter()
            .map(|(key, value)| {
                let source = config.source(&key).to_string();
                (key, Row { value, source })
            })
            .collect();
        json::document(&rows);
    } else {
        say::text(&table(&config).render(say::width()));
    }
    config.checked()?;
    Ok(Exit::Done)
}

fn table(config: &Config) -> Table {
    let effective = config.effective();
    let columns = [("SETTING", Lean::Left), ("VALUE", Lean::Left), ("FROM", Lean::Left)];
    let mut table = Table::new(&columns);
    for entry in TABLE {
        let source = config.source(entry.key);
        let set = !matches!(source, Source::BuiltIn);
        let tone = if set { Tone::Plain } else { Tone::Faint };
        let value = effective.get(entry.key).map(bare).unwrap_or_default();
        table.row([entry.key.into(), value.into(), Cell::new(source.to_string(), tone)]);
    }
    for (name, value) in &config.labels {
        table.row([format!("labels.{name}").into(), value.as_str().into(), "".into()]);
    }
    table
}
