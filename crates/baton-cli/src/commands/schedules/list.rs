//! `baton schedules list`: a line for each schedule.

use std::collections::BTreeMap;

use baton::plugins::schedules::{HistoryEntry, RunOutcome, StoredSchedule};
use baton_core::ids::Namespace;

use super::client::SchedulesClient;
use super::report::ScheduleReport;
use super::standing::{Now, Standing, State};
use super::{StoreArguments, words};
use crate::error::{CommandError, Exit};
use crate::output::stdout;
use crate::output::style::Tone;
use crate::output::table::{Cell, Table, wrapped};
use crate::output::times::span_ms;

/// The widest line of a sentence.
const WIDTH: usize = 80;

pub async fn run(arguments: &StoreArguments) -> Result<Exit, CommandError> {
    let client = SchedulesClient::to_read(arguments).await?;
    let stored = client.all().await?;
    let mut leads: BTreeMap<&Namespace, Now> = BTreeMap::new();
    for StoredSchedule { namespace, .. } in &stored {
        if !leads.contains_key(namespace) {
            leads.insert(namespace, client.now(namespace).await?);
        }
    }
    let standings = stored.iter().map(|it| Standing::of(&it.entry, leads[&it.namespace]));
    let all: Vec<Standing<'_>> = standings.collect();
    let reports = all.iter().zip(&stored);
    let reports: Vec<ScheduleReport> =
        reports.map(|(standing, it)| ScheduleReport::of(standing, &it.namespace)).collect();
    stdout::json_or_text(arguments.json, &reports, || match all.is_empty() {
        true => {
            let (namespace, how) = (client.opened.namespace(), SchedulesClient::HOW_TO_DECLARE);
            format!("there are no schedules in namespace {namespace} yet; {how}\n")
        }
        false => table(&all).render(stdout::width()) + &unled(&all),
    });
    Ok(Exit::DONE)
}

/// A line about the schedules that no node runs now, if there are any.
fn unled(all: &[Standing<'_>]) -> String {
    let unled = all.iter().filter(|standing| standing.now.led.is_none());
    let names: Vec<&str> = unled.map(|standing| standing.entry.name()).collect();
    match names.len() {
        0 => String::new(),
        count if count == all.len() => {
            "\nno node leads now: nothing is run until one does\n".to_owned()
        }
        _ => {
            let sentence = format!("no node leads now that runs {}", names.join(", "));
            let lines = wrapped(&sentence, stdout::width().unwrap_or(WIDTH).min(WIDTH));
            format!("\n{}\n", lines.join("\n"))
        }
    }
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
