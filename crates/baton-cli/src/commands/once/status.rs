//! `baton once --status KEY`: what is recorded of a key.

use baton::Namespace;
use baton::once::{OnceCause, OnceError, OnceKey, OnceRecord, OnceRecords, OnceState};
use baton_core::protocol::LeaseSnapshot;
use serde::Serialize;

use super::Arguments;
use crate::error::{CommandError, Exit};
use crate::open_store::OpenStore;
use crate::output::stdout;
use crate::output::style::Tone;
use crate::output::table::labelled;
use crate::output::times::{span_ms, utc};

/// The state of a key that no node ever began.
const NOT_STARTED: &str = "not-started";

/// The state of a run that was cut off, of which no node has decided what becomes of it.
const CUT_OFF: &str = "cut-off";

/// What is known of a key. What does not apply to its state is absent.
#[derive(Default, Serialize)]
#[serde(default)]
struct Report {
    key: String,
    namespace: String,
    /// `not-started`, `running`, `cut-off`, `succeeded`, `failed` or `abandoned`.
    state: &'static str,
    attempt: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    epoch: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finished_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    took_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<u8>,
    /// Why it failed, as a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
}

pub async fn show(arguments: &Arguments) -> Result<Exit, CommandError> {
    let opened = OpenStore::to_read(&arguments.node.0).await?;
    let key = OnceKey::new(opened.namespace(), &arguments.key).map_err(CommandError::Key)?;
    let records = OnceRecords::new(opened.store.clone(), key.clone());
    let found = records.read().await.map_err(|problem| match problem {
        OnceError::Store(problem) => opened.error(problem),
        problem => CommandError::Once(problem),
    })?;
    let lease = opened.ask(opened.store.inspect(key.namespace())).await?.lease;
    let report = report(opened.namespace(), &key, found.record.as_ref(), lease.as_ref());
    stdout::json_or_text(arguments.json, &report, || render(&report, stdout::width()));
    Ok(Exit::DONE)
}

fn report(
    namespace: &Namespace,
    key: &OnceKey,
    record: Option<&OnceRecord>,
    lease: Option<&LeaseSnapshot>,
) -> Report {
    let state = record.map_or(NOT_STARTED, OnceRecord::word);
    let attempt = record.map_or(0, |record| record.attempt);
    let (key, namespace) = (key.to_string(), namespace.to_string());
    let mut report = Report { key, namespace, state, attempt, ..Report::default() };
    match record.map(|record| &record.state) {
        None => {}
        Some(OnceState::Running(running)) => {
            let held = lease.filter(|lease| lease.leader().is_some());
            if held.is_none_or(|lease| lease.version.epoch != running.epoch) {
                report.state = CUT_OFF;
            }
            report.node = Some(running.node.to_string());
            report.epoch = Some(running.epoch.0);
            report.started_ms = Some(running.started_ms);
        }
        Some(OnceState::Succeeded(success)) => {
            report.node = Some(success.node.to_string());
            report.finished_ms = Some(success.finished_ms);
            report.took_ms = Some(success.took_ms);
        }
        Some(OnceState::Failed(failure)) => {
            report.node = Some(failure.node.to_string());
            report.finished_ms = Some(failure.finished_ms);
            report.exit_code = match failure.cause {
                OnceCause::Exit(code) => Some(code),
                _ => None,
            };
            report.failure = Some(failure.to_string());
        }
    }
    report
}

fn render(report: &Report, width: Option<usize>) -> String {
    let mut text = String::new();
    let mut line = |label: &str, value: &str, tone: Tone| {
        text.push_str(&labelled(label, value, tone, width));
    };
    line("key", &report.key, Tone::Plain);
    line("namespace", &report.namespace, Tone::Plain);
    let tone = match report.state {
        "succeeded" => Tone::Good,
        "running" | NOT_STARTED => Tone::Plain,
        CUT_OFF => Tone::Warn,
        _ => Tone::Bad,
    };
    line("state", report.state, tone);
    if report.attempt > 0 {
        line("attempt", &report.attempt.to_string(), Tone::Plain);
    }
    if let Some(node) = &report.node {
        line("node", node, Tone::Plain);
    }
    if let Some(at) = report.started_ms {
        line("started", &utc(at), Tone::Plain);
    }
    if let Some(at) = report.finished_ms {
        line("finished", &utc(at), Tone::Plain);
    }
    if let Some(took) = report.took_ms {
        line("took", &span_ms(took), Tone::Plain);
    }
    if let Some(failure) = &report.failure {
        line("failure", failure, Tone::Plain);
    }
    text
}
