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
        Some(name) => vec![client.get(name).await?.entry],
        None => client.all().await?.into_iter().map(|stored| stored.entry).collect(),
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

#[cfg(test)]
mod tests {
    use baton::plugins::schedules::{MissReason, RunId};
    use baton_core::ids::NodeId;

    use super::*;

    fn run(at_ms: u64, requested: u32, outcome: RunOutcome) -> HistoryEntry {
        HistoryEntry::Run {
            id: RunId { at_ms, requested },
            attempts: 2,
            node: NodeId::new("web-1").expect("it is an id"),
            started_ms: at_ms,
            ended_ms: at_ms + 61_000,
            outcome,
        }
    }

    #[test]
    fn runs_missed_slots_and_messages_are_shown_in_80_columns() {
        let at_ms = 1_795_053_600_000;
        let long = "it did not find the folder of yesterday's exports, and gave up after a while";
        let past = [
            run(at_ms, 0, RunOutcome::Done),
            run(at_ms, 3, RunOutcome::TimedOut),
            run(at_ms, 0, RunOutcome::Failed(long.to_owned())),
            HistoryEntry::Missed {
                count: 599,
                first_ms: at_ms,
                last_ms: at_ms + 598_000,
                reason: MissReason::TooMany,
            },
        ];
        let past: Vec<Past<'_>> = past.iter().map(|it| ("report", it)).collect();
        let shown = anstream::adapter::strip_str(&render(&past, None)).to_string();
        let expected = "\
SCHEDULE  SLOT                        OUTCOME                TOOK  ATTEMPTS  NODE
report    2026-11-19T02:00:00Z        done                  1m 1s         2  web-1
report    2026-11-19T02:00:00Z asked  timed out             1m 1s         2  web-1
report    2026-11-19T02:00:00Z        failed                1m 1s         2  web-1
report    2026-11-19T02:00:00Z        599 missed, too-many      -         -  -

report of 2026-11-19T02:00:00Z failed: it did not find the folder of yesterday's
exports, and gave up after a while
";
        assert_eq!(shown, expected);
    }
}
