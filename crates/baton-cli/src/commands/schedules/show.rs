//! `baton schedules show`: one schedule, in words.

use baton::plugins::schedules::{HistoryEntry, RunId, RunOutcome, RunState};
use baton_core::schedule::slot::instant_rfc3339;

use super::client::SchedulesClient;
use super::report::FullReport;
use super::standing::{Standing, State};
use super::{StoreArguments, words};
use crate::error::{CommandError, Exit};
use crate::output::stdout;
use crate::output::style::Tone;
use crate::output::table::{Cell, LABEL, Table, wrapped};
use crate::output::times::{span_ms, utc};

/// The widest line, on a wide terminal too: sentences are read in lines of this length.
const WIDTH: usize = 80;

/// How many waiting runs are named.
const NAMED_MAX: usize = 5;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Name of the schedule.
    name: String,
    #[command(flatten)]
    store: StoreArguments,
}

pub async fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    let client = SchedulesClient::to_read(&arguments.store).await?;
    let stored = client.get(&arguments.name).await?;
    let standing = Standing::of(&stored.entry, client.now(&stored.namespace).await?);
    stdout::json_or_text(
        arguments.store.json,
        &FullReport::of(&standing, &stored.namespace),
        || render(&standing, stdout::width()),
    );
    Ok(Exit::DONE)
}

/// Lines of a label and a sentence.
struct Lines {
    text: String,
    room: usize,
}

impl Lines {
    fn add(&mut self, label: &str, sentence: &str) {
        self.add_in(label, sentence, Tone::Plain);
    }

    fn add_in(&mut self, label: &str, sentence: &str, tone: Tone) {
        for (at, line) in wrapped(sentence, self.room).iter().enumerate() {
            let label = if at == 0 { label } else { "" };
            let label = Tone::Faint.paint(&format!("{label:<LABEL$}"));
            self.text.push_str(&format!("{label}{}\n", tone.paint(line)));
        }
    }
}

fn render(standing: &Standing<'_>, width: Option<usize>) -> String {
    let room = width.unwrap_or(WIDTH).min(WIDTH) - LABEL;
    let mut lines = Lines { text: String::new(), room };
    let (entry, definition) = (standing.entry, &standing.entry.definition);
    lines.add("schedule", entry.name());
    lines.add_in("state", &state(standing), standing.state().tone());
    lines.add("times", &words::times(definition));
    let mut offset_ms = 0;
    match &standing.schedule {
        Ok(schedule) => {
            if let Some(changes) = words::clock_changes(&schedule.recurrence) {
                lines.add("clock", changes);
            }
            offset_ms = schedule.starts_at(entry.last) - entry.last.at_ms;
        }
        Err(problem) => lines.add_in("problem", &problem.to_string(), Tone::Bad),
    }
    lines.add("next slot", &next(standing));
    last(standing, &mut lines);
    let totals = &entry.totals;
    let (done, failed, missed) = (totals.done, totals.failed, totals.missed);
    lines.add("counts", &format!("{done} done, {failed} failed, {missed} missed"));
    lines.add("misfire", &words::misfire(definition.misfire));
    lines.add("grace", &words::grace(definition.grace_ms));
    lines.add("overlap", words::overlap(definition.overlap));
    lines.add("on crash", words::on_crash(definition.on_crash));
    lines.add("jitter", &words::jitter(definition.jitter_ms, offset_ms));
    lines.add("timeout", &words::timeout(definition.timeout_ms));
    lines.add("retries", &words::retries(definition.retries));
    if !entry.waiting.is_empty() {
        lines.add_in("waiting", &waiting(&entry.waiting), Tone::Warn);
    }
    let mut text = lines.text;
    if !entry.running.is_empty() {
        text.push('\n');
        text.push_str(&runs(standing).render(width));
    }
    text
}

fn state(standing: &Standing<'_>) -> String {
    let entry = standing.entry;
    let ago = |since_ms: u64| span_ms(standing.since(since_ms));
    match standing.state() {
        State::Paused => {
            let since = ago(entry.paused_ms.unwrap_or(standing.now.ms));
            let name = entry.name();
            format!("paused {since} ago; `baton schedules resume {name}` lets slots be due again")
        }
        State::Removed => {
            let since = ago(entry.undeclared_ms.unwrap_or(standing.now.ms));
            format!("removed {since} ago: the leader no longer declares it")
        }
        State::Late => {
            let due = ago(standing.starts_ms().unwrap_or(standing.now.ms));
            format!("late: a slot has been due for {due} and no leader has acted; baton status")
        }
        State::CutOff => "cut off: the term of its run is over, and the next leader decides what \
                          becomes of it"
            .to_owned(),
        other => other.words(),
    }
}

fn next(standing: &Standing<'_>) -> String {
    let Some(slot) = standing.next() else { return "none".to_owned() };
    let (local, utc) = (slot.rfc3339(&standing.zone()), utc(slot.at_ms));
    let until = match standing.until(slot.at_ms) {
        0 => "due".to_owned(),
        ms => format!("in {}", span_ms(ms)),
    };
    if local == utc { format!("{local}, {until}") } else { format!("{local} ({utc}), {until}") }
}

fn last(standing: &Standing<'_>, lines: &mut Lines) {
    let Some(HistoryEntry::Run { id, attempts, node, started_ms, ended_ms, outcome }) =
        standing.last_run()
    else {
        return lines.add("last run", "never");
    };
    let ago = span_ms(standing.since(*ended_ms));
    let took = span_ms(ended_ms.saturating_sub(*started_ms));
    let attempt = if *attempts == 1 { String::new() } else { format!(", attempt {attempts}") };
    let (asked, unit_ms) = if id.requested > 0 { ("asked for at", 1_000) } else { ("slot", 1) };
    let of = instant_rfc3339(id.at_ms / unit_ms * unit_ms, &standing.zone());
    let word = outcome.word();
    let sentence = format!("{word} {ago} ago on {node}{attempt} after {took}; {asked} {of}");
    lines.add_in("last run", &sentence, super::list::tone(outcome));
    if let RunOutcome::Failed(message) = outcome {
        lines.add_in("", message, Tone::Bad);
    }
}

/// The slot of a run, or when it was asked for.
pub fn run_name(id: RunId) -> String {
    let asked = if id.requested > 0 { " asked" } else { "" };
    format!("{}{asked}", utc(id.at_ms))
}

fn waiting(waiting: &[RunId]) -> String {
    let names: Vec<String> = waiting.iter().take(NAMED_MAX).map(|id| run_name(*id)).collect();
    let more = match waiting.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", names.join(", "))
}

fn runs(standing: &Standing<'_>) -> Table {
    let mut table = Table::new(&["RUN", "STATE", ">ATTEMPT", "NODE", "SINCE"]);
    for run in &standing.entry.running {
        let (state, tone) = match run.state {
            RunState::Running | RunState::Stopping if !standing.is_led(run) => {
                ("cut off".to_owned(), Tone::Warn)
            }
            RunState::Running => ("running".to_owned(), Tone::Good),
            RunState::Stopping => ("stopping".to_owned(), Tone::Warn),
            RunState::RetryAt(at_ms) => match standing.until(at_ms) {
                0 => ("to be tried again".to_owned(), Tone::Warn),
                ms => (format!("again in {}", span_ms(ms)), Tone::Warn),
            },
        };
        let ago = span_ms(standing.since(run.since_ms));
        table.row([
            run_name(run.id).into(),
            Cell::new(state, tone),
            run.attempt.to_string().into(),
            run.node.as_str().into(),
            format!("{ago} ago").into(),
        ]);
    }
    table
}
