//! `baton schedules list`: a line for each schedule.

use baton::plugins::schedules::{HistoryEntry, RunOutcome};

use super::client::SchedulesClient;
use super::report::ScheduleReport;
use super::standing::{Standing, State};
use super::{StoreArguments, words};
use crate::error::{CommandError, Exit};
use crate::output::stdout;
use crate::output::style::Tone;
use crate::output::table::{Cell, Table};
use crate::output::times::span_ms;

pub async fn run(arguments: &StoreArguments) -> Result<Exit, CommandError> {
    let client = SchedulesClient::to_read(arguments).await?;
    let entries = client.all().await?;
    let now = client.now().await?;
    let all: Vec<Standing<'_>> = entries.values().map(|it| Standing::of(it, now)).collect();
    let reports: Vec<ScheduleReport> = all.iter().map(ScheduleReport::of).collect();
    stdout::json_or_text(arguments.json, &reports, || match all.is_empty() {
        true => {
            let (namespace, how) = (client.opened.namespace(), SchedulesClient::HOW_TO_DECLARE);
            format!("there are no schedules in namespace {namespace} yet; {how}\n")
        }
        false => table(&all).render(stdout::width()) + unled(now.led.is_none()),
    });
    Ok(Exit::DONE)
}

fn unled(is_unled: bool) -> &'static str {
    if is_unled { "\nno node leads now: nothing is run until one does\n" } else { "" }
}

fn table(all: &[Standing<'_>]) -> Table {
    let mut table = Table::new(&[
        "NAME", "CRON", "NEXT IN", "LAST RUN", "STATE", ">DONE", ">FAILED", ">MISSED",
    ]);
    for standing in all {
        let (entry, state) = (standing.entry, standing.state());
        table.row([
            entry.name().into(),
            words::times_in_short(&entry.definition).into(),
            next(standing),
            last(standing),
            Cell::new(state.words(), state.tone()),
            entry.totals.done.to_string().into(),
            count(entry.totals.failed, Tone::Bad),
            count(entry.totals.missed, Tone::Warn),
        ]);
    }
    table
}

fn next(standing: &Standing<'_>) -> Cell {
    match standing.starts_ms() {
        None if standing.state() == State::Unknown => Cell::new("?", Tone::Bad),
        None => Cell::new("-", Tone::Faint),
        Some(_) if standing.is_late() => Cell::new("overdue", Tone::Bad),
        Some(at_ms) => match standing.until(at_ms) {
            0 => "now".into(),
            ms => span_ms(ms).into(),
        },
    }
}

fn last(standing: &Standing<'_>) -> Cell {
    let Some(HistoryEntry::Run { ended_ms, outcome, .. }) = standing.last_run() else {
        return Cell::new("never", Tone::Faint);
    };
    let ago = coarse_span(standing.since(*ended_ms));
    Cell::new(format!("{} {ago} ago", outcome.word()), tone(outcome))
}

/// A length of time in one unit: a list has no room for more.
fn coarse_span(ms: u64) -> String {
    match ms / 1_000 {
        s @ 0..60 => format!("{s}s"),
        s @ 60..3_600 => format!("{}m", s / 60),
        s @ 3_600..86_400 => format!("{}h", s / 3_600),
        s => format!("{}d", s / 86_400),
    }
}

/// The tone in which the end of a run is shown.
pub fn tone(outcome: &RunOutcome) -> Tone {
    match outcome {
        RunOutcome::Done => Tone::Plain,
        RunOutcome::Replaced => Tone::Warn,
        _ => Tone::Bad,
    }
}

fn count(count: u64, tone: Tone) -> Cell {
    Cell::new(count.to_string(), if count == 0 { Tone::Plain } else { tone })
}
