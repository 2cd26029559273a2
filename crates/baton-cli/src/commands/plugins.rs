//! `baton plugins`: what the leader's plugins do, as it last told.

use baton::{PluginReport, PluginReportDocument, PluginStatus};
use baton_store::clock::{Clock, SystemClock};

use crate::config::PlaceFlags;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::style::Tone;
use crate::output::table::{Cell, Lean, Table, cut};
use crate::output::times::span_ms;
use crate::output::{json, say};
use crate::place::Place;

/// Where to look.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    place: PlaceFlags,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Looks once.
pub fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    super::block_on(async {
        let place = Place::to_look_at(&arguments.place.0).await?;
        let bulletin = PluginReportDocument::read(&*place.store, place.namespace()).await;
        let bulletin = bulletin.map_err(|problem| place.trouble(problem))?;
        if arguments.json {
            json::document(&bulletin);
            return Ok(Exit::Done);
        }
        let Some(bulletin) = bulletin else {
            say::line(&format!("no plugin has run in namespace {} yet", place.namespace()));
            return Ok(Exit::Done);
        };
        let seen = place.store.inspect(place.namespace()).await;
        let seen = seen.map_err(|problem| place.trouble(problem))?;
        let is_led = |lease: &baton_core::protocol::LeaseSnapshot| {
            lease.version.epoch == bulletin.epoch && lease.holder.is_some()
        };
        let is_current = seen.lease.as_ref().is_some_and(is_led);
        say::text(&render(&bulletin, is_current, SystemClock.wall_ms(), say::width()));
        Ok(Exit::Done)
    })
}

fn render(
    bulletin: &PluginReportDocument,
    is_current: bool,
    now_ms: u64,
    width: Option<usize>,
) -> String {
    let (node, epoch) = (&bulletin.node, bulletin.epoch);
    let ago = span_ms(now_ms.saturating_sub(bulletin.at_ms));
    let (head, tone) = match is_current {
        true => (format!("{node}, epoch {epoch}, told {ago} ago"), Tone::Good),
        false => (format!("{node}, epoch {epoch}, which is over; told {ago} ago"), Tone::Warn),
    };
    let room = width.unwrap_or(usize::MAX);
    let mut text = format!("{}\n\n", tone.paint(&cut(&head, room)));
    text.push_str(&table(&bulletin.plugins, is_current, now_ms).render(width));
    let errors = bulletin.plugins.iter().filter_map(|report| {
        let error = report.last.as_ref()?.error.as_ref()?;
        Some(format!("{} failed: {error}", report.name))
    });
    for (at, error) in errors.enumerate() {
        let gap = if at == 0 { "\n" } else { "" };
        text.push_str(&format!("{gap}{}\n", Tone::Bad.paint(&cut(&error, room))));
    }
    text
}

fn table(plugins: &[PluginReport], is_current: bool, now_ms: u64) -> Table {
    let mut table = Table::new(&[
        ("PLUGIN", Lean::Left),
        ("DOES", Lean::Left),
        ("RUNS", Lean::Right),
        ("FAILED", Lean::Right),
        ("MISSED", Lean::Right),
        ("P50", Lean::Right),
        ("P99", Lean::Right),
        ("LAST", Lean::Right),
        ("NEXT", Lean::Right),
    ]);
    for report in plugins {
        let (word, tone) = does(if is_current { report.doing } else { PluginStatus::Idle });
        let last = report.last.as_ref().map(|run| now_ms.saturating_sub(run.at_ms));
        let next = report.next_run_ms.filter(|_| is_current);
        table.row([
            report.name.as_str().into(),
            Cell::new(word, tone),
            report.runs.to_string().into(),
            count(report.failures, Tone::Bad),
            count(report.missed, Tone::Warn),
            length(report.p50_ms, report.runs).into(),
            length(report.p99_ms, report.runs).into(),
            last.map_or_else(|| "never".to_owned(), |ago| format!("{} ago", span_ms(ago))).into(),
            next.map_or_else(|| "-".to_owned(), |at| until(at, now_ms)).into(),
        ]);
    }
    table
}

fn does(doing: PluginStatus) -> (&'static str, Tone) {
    match doing {
        PluginStatus::Idle => ("stopped", Tone::Faint),
        PluginStatus::Starting => ("starts", Tone::Plain),
        PluginStatus::Working => ("works", Tone::Good),
        PluginStatus::Resting => ("rests", Tone::Good),
        PluginStatus::Failing => ("failing", Tone::Bad),
        PluginStatus::GaveUp => ("gave up", Tone::Bad),
        _ => ("unknown", Tone::Plain),
    }
}

fn count(count: u64, tone: Tone) -> Cell {
    Cell::new(count.to_string(), if count == 0 { Tone::Plain } else { tone })
}

/// Plugins take from microseconds to minutes.
fn length(ms: f64, runs: u64) -> String {
    match ms {
        _ if runs == 0 => "-".to_owned(),
        ms if ms < 10.0 => format!("{ms:.1}ms"),
        ms => span_ms(ms as u64),
    }
}

fn until(at_ms: u64, now_ms: u64) -> String {
    match at_ms.saturating_sub(now_ms) {
        0 => "now".to_owned(),
        ms => format!("in {}", span_ms(ms)),
    }
}
