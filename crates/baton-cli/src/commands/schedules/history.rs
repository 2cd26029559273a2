//! `baton schedules history`: past runs and missed slots, the newest first.

use baton::plugins::schedules::{Entry, HistoryEntry, RunOutcome};

use super::StoreArguments;
use super::client::SchedulesClient;
use super::list::tone;
use super::report::PastReport;
use super::show::run_name;
use crate::error::{CommandError, Exit};
use crate::output::stdout;
use crate::output::style::Tone;
use crate::output::table::{Cell, Table, wrapped};
use crate::output::times::{span_ms, utc};

/// The widest line of a message.
const WIDTH: usize = 80;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Name of the schedule; all schedules if none is given.
    name: Option<String>,
    /// Number of entries to show, the newest first; a schedule keeps its last few.
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    limit: u32,
    #[command(flatten)]
    store: StoreArguments,
}

/// An entry of the history and the schedule it belongs to.
type Past<'a> = (&'a str, &'a HistoryEntry);

pub async fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    let client = SchedulesClient::to_read(&arguments.store).await?;
    let entries: Vec<Entry> = match &arguments.name {
        Some(name) => vec![client.get(name).await?],
        None => client.all().await?.into_values().collect(),
    };
    let mut past: Vec<Past<'_>> = Vec::new();
    for entry in &entries {
        past.extend(entry.history.iter().map(|it| (entry.name(), it)));
    }
    past.sort_by_key(|(_, it)| std::cmp::Reverse(at_ms(it)));
    past.truncate(usize::try_from(arguments.limit).unwrap_or(usize::MAX));
    let reports: Vec<PastReport> = past.iter().map(|(name, it)| PastReport::of(name, it)).collect();
    stdout::json_or_text(arguments.store.json, &reports, || match past.is_empty() {
        true => {
            let of = arguments.name.as_deref().unwrap_or("any schedule");
            format!("no run of {of} has ended in namespace {} yet\n", client.opened.namespace())
        }
        false => render(&past, stdout::width()),
    });
    Ok(Exit::DONE)
}

/// When it happened.
fn at_ms(past: &HistoryEntry) -> u64 {
    match past {
        HistoryEntry::Run { ended_ms, .. } => *ended_ms,
        HistoryEntry::Missed { last_ms, .. } => *last_ms,
    }
}

fn render(past: &[Past<'_>], width: Option<usize>) -> String {
    let mut table = Table::new(&["SCHEDULE", "SLOT", "OUTCOME", ">TOOK", ">ATTEMPTS", "NODE"]);
    for (name, entry) in past {
        let none = || Cell::new("-", Tone::Faint);
        table.row(match entry {
            HistoryEntry::Run { id, attempts, node, started_ms, ended_ms, outcome } => [
                (*name).into(),
                run_name(*id).into(),
                Cell::new(outcome.word(), tone(outcome)),
                span_ms(ended_ms.saturating_sub(*started_ms)).into(),
                attempts.to_string().into(),
                node.as_str().into(),
            ],
            HistoryEntry::Missed { count, first_ms, reason, .. } => {
                let missed = match count {
                    1 => format!("missed, {}", reason.word()),
                    count => format!("{count} missed, {}", reason.word()),
                };
                let slot = utc(*first_ms).into();
                [(*name).into(), slot, Cell::new(missed, Tone::Warn), none(), none(), none()]
            }
        });
    }
    let mut text = table.render(width);
    let mut gap = "\n";
    for (name, entry) in past {
        let HistoryEntry::Run { id, outcome: RunOutcome::Failed(message), .. } = entry else {
            continue;
        };
        let sentence = format!("{name} of {} failed: {message}", utc(id.at_ms));
        for line in wrapped(&sentence, width.unwrap_or(WIDTH).min(WIDTH)) {
            text.push_str(&format!("{gap}{}\n", Tone::Bad.paint(&line)));
            gap = "";
        }
    }
    text
}
