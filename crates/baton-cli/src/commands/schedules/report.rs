//! Schedules and runs as data for programs.

use baton::plugins::schedules::{Definition, HistoryEntry, RunId, RunOutcome, RunState};
use baton_core::ids::Namespace;
use baton_core::schedule::ActiveRun;
use serde::Serialize;

use super::standing::Standing;
use crate::output::times::utc_ms;

/// One schedule, in short.
#[derive(Serialize)]
pub struct ScheduleReport {
    pub schedule: String,
    /// The namespace whose leader runs it.
    pub namespace: String,
    pub cron: String,
    pub tz: String,
    pub state: &'static str,
    /// The next slot; none for a schedule that is paused or removed.
    pub next: Option<String>,
    /// When that slot starts, its jitter counted in.
    pub next_start: Option<String>,
    pub last_run: Option<PastReport>,
    pub running: usize,
    pub waiting: usize,
    pub done: u64,
    pub failed: u64,
    pub missed: u64,
    /// Why its times cannot be computed on this machine.
    pub problem: Option<String>,
}

impl ScheduleReport {
    pub fn of(standing: &Standing<'_>, namespace: &Namespace) -> Self {
        let entry = standing.entry;
        let definition = &entry.definition;
        Self {
            schedule: definition.name.clone(),
            namespace: namespace.to_string(),
            cron: definition.cron.clone(),
            tz: definition.tz.clone(),
            state: standing.state().name(),
            next: standing.next().map(|slot| utc_ms(slot.at_ms)),
            next_start: standing.starts_ms().map(utc_ms),
            last_run: standing.last_run().map(|run| PastReport::of(entry.name(), run)),
            running: entry.running.len(),
            waiting: entry.waiting.len(),
            done: entry.totals.done,
            failed: entry.totals.failed,
            missed: entry.totals.missed,
            problem: standing.schedule.as_ref().err().map(ToString::to_string),
        }
    }
}

/// One schedule, with all that is known of it.
#[derive(Serialize)]
pub struct FullReport<'a> {
    #[serde(flatten)]
    pub short: ScheduleReport,
    pub definition: &'a Definition,
    pub paused_since: Option<String>,
    pub removed_since: Option<String>,
    pub runs: Vec<ActiveReport>,
    pub waits: Vec<RunReport>,
    pub history: Vec<PastReport>,
}

impl<'a> FullReport<'a> {
    pub fn of(standing: &'a Standing<'_>, namespace: &Namespace) -> Self {
        let entry = standing.entry;
        let past = entry.history.iter().rev().map(|it| PastReport::of(entry.name(), it));
        Self {
            short: ScheduleReport::of(standing, namespace),
            definition: &entry.definition,
            paused_since: entry.paused_ms.map(utc_ms),
            removed_since: entry.undeclared_ms.map(utc_ms),
            runs: entry.running.iter().map(ActiveReport::of).collect(),
            waits: entry.waiting.iter().map(|id| RunReport::of(*id)).collect(),
            history: past.collect(),
        }
    }
}

/// Which run: its slot, or when it was asked for.
#[derive(Serialize)]
pub struct RunReport {
    pub slot: String,
    pub requested: bool,
}

impl RunReport {
    pub fn of(id: RunId) -> Self {
        Self { slot: utc_ms(id.at_ms), requested: id.requested > 0 }
    }
}

/// A run under way.
#[derive(Serialize)]
pub struct ActiveReport {
    #[serde(flatten)]
    run: RunReport,
    state: &'static str,
    attempt: u32,
    node: String,
    since: String,
    retry_at: Option<String>,
}

impl ActiveReport {
    fn of(run: &ActiveRun) -> Self {
        let (state, retry_at) = match run.state {
            RunState::Running => ("running", None),
            RunState::Stopping => ("stopping", None),
            RunState::RetryAt(at_ms) => ("retrying", Some(utc_ms(at_ms))),
        };
        Self {
            run: RunReport::of(run.id),
            state,
            attempt: run.attempt,
            node: run.node.to_string(),
            since: utc_ms(run.since_ms),
            retry_at,
        }
    }
}

/// Something of the past of a schedule.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case", tag = "entry")]
pub enum PastReport {
    Run {
        schedule: String,
        #[serde(flatten)]
        run: RunReport,
        outcome: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        attempts: u32,
        node: String,
        started: String,
        ended: String,
        took_ms: u64,
    },
    Missed {
        schedule: String,
        count: u32,
        first: String,
        last: String,
        reason: &'static str,
    },
}

impl PastReport {
    pub fn of(schedule: &str, past: &HistoryEntry) -> Self {
        let schedule = schedule.to_owned();
        match past {
            HistoryEntry::Run { id, attempts, node, started_ms, ended_ms, outcome } => Self::Run {
                schedule,
                run: RunReport::of(*id),
                outcome: outcome.word(),
                message: match outcome {
                    RunOutcome::Failed(message) => Some(message.clone()),
                    _ => None,
                },
                attempts: *attempts,
                node: node.to_string(),
                started: utc_ms(*started_ms),
                ended: utc_ms(*ended_ms),
                took_ms: ended_ms.saturating_sub(*started_ms),
            },
            HistoryEntry::Missed { count, first_ms, last_ms, reason } => Self::Missed {
                schedule,
                count: *count,
                first: utc_ms(*first_ms),
                last: utc_ms(*last_ms),
                reason: reason.word(),
            },
        }
    }
}
