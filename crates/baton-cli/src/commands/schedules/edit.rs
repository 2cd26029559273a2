//! `baton schedules pause`, `resume` and `run`: what people ask of a schedule. The request is
//! written where the schedule stands; a hint makes the leader read it sooner.

use std::time::Duration;

use baton::plugins::schedules::{Entry, HistoryEntry, RunId, RunOutcome, Schedules};
use serde::Serialize;

use super::StoreArguments;
use super::client::SchedulesClient;
use super::report::{PastReport, RunReport, ScheduleReport};
use super::standing::Standing;
use crate::attempts::Attempts;
use crate::error::{CommandError, Exit};
use crate::output::stdout;
use crate::output::times::{span_ms, utc};

/// Time between two looks at a run that is waited for.
const LOOK_EVERY: Duration = Duration::from_millis(100);

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Name of the schedule.
    name: String,
    #[command(flatten)]
    store: StoreArguments,
}

impl Arguments {
    pub async fn pause(&self) -> Result<Exit, CommandError> {
        let client = SchedulesClient::to_write(&self.store).await?;
        client.edit(&self.name, Schedules::pause).await?;
        self.print(&client, |standing| {
            let name = &self.name;
            let runs = match standing.entry.running.len() {
                0 => String::new(),
                1 => "; the run under way goes on".to_owned(),
                count => format!("; the {count} runs under way go on"),
            };
            format!("{name} is paused: no slot is due until `baton schedules resume {name}`{runs}")
        })
        .await
    }

    pub async fn resume(&self) -> Result<Exit, CommandError> {
        let client = SchedulesClient::to_write(&self.store).await?;
        client.edit(&self.name, Schedules::resume).await?;
        self.print(&client, |standing| {
            let next = match standing.next() {
                Some(slot) => format!("; its next slot is {}", slot.rfc3339(&standing.zone())),
                None => String::new(),
            };
            format!("{} is resumed{next}", self.name)
        })
        .await
    }

    async fn print(
        &self,
        client: &SchedulesClient,
        sentence: impl FnOnce(&Standing<'_>) -> String,
    ) -> Result<Exit, CommandError> {
        let stored = client.get(&self.name).await?;
        let namespace = &stored.namespace;
        let standing = Standing::of(&stored.entry, client.now(namespace).await?);
        stdout::json_or_text(self.store.json, &ScheduleReport::of(&standing, namespace), || {
            sentence(&standing) + "\n"
        });
        Ok(Exit::DONE)
    }
}

#[derive(Debug, clap::Args)]
pub struct RunArguments {
    /// Name of the schedule.
    name: String,
    /// Wait until the run has ended; the exit code is 1 if it failed.
    #[arg(long)]
    wait: bool,
    /// How long --wait waits.
    #[arg(
        long, value_name = "DURATION", default_value = "5m", requires = "wait",
        value_parser = crate::commands::duration
    )]
    timeout: Duration,
    #[command(flatten)]
    store: StoreArguments,
}

/// A run that was asked for.
#[derive(Serialize)]
struct RequestReport<'a> {
    schedule: &'a str,
    #[serde(flatten)]
    run: RunReport,
    /// The node that leads, if one does.
    leader: Option<String>,
}

/// Where a run stands that is waited for.
enum Progress {
    Ended(HistoryEntry),
    UnderWay(String),
    /// The history holds it no more, or it was dropped with its schedule.
    Gone,
}

impl RunArguments {
    pub async fn run(&self) -> Result<Exit, CommandError> {
        let client = SchedulesClient::to_write(&self.store).await?;
        let id = client.edit(&self.name, Schedules::run).await?;
        let namespace = client.get(&self.name).await?.namespace;
        let leader = client.leader(&namespace).await?.map(|node| node.to_string());
        if !self.wait || !self.store.json {
            self.print(id, leader);
        }
        if !self.wait {
            return Ok(Exit::DONE);
        }
        self.wait_for(&client, id).await
    }

    fn print(&self, id: RunId, leader: Option<String>) {
        let (schedule, run) = (self.name.as_str(), RunReport::of(id));
        let report = RequestReport { schedule, run, leader };
        stdout::json_or_text(self.store.json, &report, || {
            let at = utc(id.at_ms);
            match &report.leader {
                Some(node) => {
                    format!("{node} was asked for a run of {schedule} beside its slots, at {at}\n")
                }
                None => format!(
                    "a run of {schedule} was asked for at {at}, and waits: no node leads now\n"
                ),
            }
        });
    }

    async fn wait_for(&self, client: &SchedulesClient, id: RunId) -> Result<Exit, CommandError> {
        let mut stands = String::new();
        let mut attempts = Attempts::new(LOOK_EVERY, self.timeout);
        while attempts.next().await {
            match progress(&client.get(&self.name).await?.entry, id) {
                Progress::Ended(past) => return self.ended(&past),
                Progress::UnderWay(how) => stands = how,
                Progress::Gone => return Err(CommandError::RunGone { name: self.name.clone() }),
            }
        }
        Err(CommandError::RunNotInTime { name: self.name.clone(), stands, waited: self.timeout })
    }

    fn ended(&self, past: &HistoryEntry) -> Result<Exit, CommandError> {
        let HistoryEntry::Run { node, started_ms, ended_ms, outcome, .. } = past else {
            unreachable!("only a run is waited for")
        };
        let name = &self.name;
        let took = span_ms(ended_ms.saturating_sub(*started_ms));
        let sentence = format!("the run of {name} {outcome} on {node} after {took}");
        let is_done = *outcome == RunOutcome::Done;
        if self.store.json {
            stdout::json(&PastReport::of(name, past));
        } else if is_done {
            stdout::line(&sentence);
        } else {
            return Err(CommandError::RunFailed { sentence });
        }
        Ok(if is_done { Exit::DONE } else { Exit::FAILED })
    }
}

fn progress(entry: &Entry, id: RunId) -> Progress {
    if entry.waiting.contains(&id) {
        let how = "it has not started; is there a leader, or is another run under way?";
        return Progress::UnderWay(how.to_owned());
    }
    if let Some(run) = entry.running.iter().find(|run| run.id == id) {
        let (attempt, node) = (run.attempt, &run.node);
        return Progress::UnderWay(format!("attempt {attempt} is on {node}"));
    }
    let is_it =
        |past: &&HistoryEntry| matches!(past, HistoryEntry::Run { id: it, .. } if *it == id);
    match entry.history.iter().find(is_it) {
        Some(past) => Progress::Ended(past.clone()),
        None => Progress::Gone,
    }
}
