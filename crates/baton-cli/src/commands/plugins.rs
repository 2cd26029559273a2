//! `baton plugins`: status and statistics of the leader's plugins, from its last report.

use baton::{PluginReport, PluginReportDocument, PluginStatus};
use baton_store::clock::{Clock, SystemClock};

use crate::error::{CommandError, Exit};
use crate::output::stdout;
use crate::output::style::Tone;
use crate::output::table::{Cell, Table, cut};
use crate::output::times::span_ms;

use super::StoreArguments;

pub async fn run(arguments: &StoreArguments) -> Result<Exit, CommandError> {
    let opened = arguments.open_to_read().await?;
    let document = PluginReportDocument::read(&*opened.store, opened.namespace());
    let report = opened.ask(document).await?;
    let lease = opened.lease().await?;
    stdout::json_or_text(arguments.json, &report, || {
        let Some(report) = &report else {
            return format!("no plugin has run in namespace {} yet\n", opened.namespace());
        };
        let is_current = lease
            .is_some_and(|lease| lease.version.epoch == report.epoch && lease.holder.is_some());
        render(report, is_current, SystemClock.wall_ms(), stdout::width())
    });
    Ok(Exit::DONE)
}

fn render(
    report: &PluginReportDocument,
    is_current: bool,
    now_ms: u64,
    width: Option<usize>,
) -> String {
    let (node, epoch) = (&report.node, report.epoch);
    let ago = span_ms(now_ms.saturating_sub(report.at_ms));
    let (head, tone) = match is_current {
        true => (format!("{node}, epoch {epoch}, reported {ago} ago"), Tone::Good),
        false => (format!("{node}, epoch {epoch}, which is over; reported {ago} ago"), Tone::Warn),
    };
    let room = width.unwrap_or(usize::MAX);
    let mut text = format!("{}\n\n", tone.paint(&cut(&head, room)));
    text.push_str(&table(&report.plugins, is_current, now_ms).render(width));
    let errors = report.plugins.iter().filter_map(|report| {
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
        "PLUGIN", "STATUS", ">RUNS", ">FAILED", ">MISSED", ">P50", ">P99", ">LAST", ">NEXT",
    ]);
    for report in plugins {
        let (word, tone) = status(if is_current { report.doing } else { PluginStatus::Idle });
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

fn status(doing: PluginStatus) -> (&'static str, Tone) {
    match doing {
        PluginStatus::Idle => ("stopped", Tone::Faint),
        PluginStatus::Starting => ("starting", Tone::Plain),
        PluginStatus::Working => ("working", Tone::Good),
        PluginStatus::Resting => ("waiting", Tone::Good),
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
