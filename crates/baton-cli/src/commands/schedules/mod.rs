//! `baton schedules`: when schedules are due, what ran, and what people ask for.
//!
//! ```text
//!   store, read only ──► list, show, history      standing: how a schedule stands now
//!                   └──► next ──► preview         report: the same for programs
//!   --cron EXPRESSION ──────►  slots, clock changes
//!   store ──► edit: pause, resume, run ── hint ──► the leader
//! ```
//!
//! What is read is what the pages in the store say: no leader is asked.

mod client;
mod edit;
mod history;
mod list;
mod next;
mod preview;
mod report;
mod show;
mod standing;
mod words;

use super::StoreArguments;
use crate::error::{CommandError, Exit};

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// List all schedules: next slot, last run, state, and counts.
    List(StoreArguments),
    /// Show one schedule: its times, its policies, what runs and what waits.
    Show(show::Arguments),
    /// Preview the next slots of a schedule, or of an expression, across clock changes.
    Next(next::Arguments),
    /// Stop the slots of a schedule from being due; a run under way goes on.
    Pause(edit::Arguments),
    /// Let the slots of a paused schedule be due again, from now on.
    Resume(edit::Arguments),
    /// Ask the leader for a run now, beside the slots.
    Run(edit::RunArguments),
    /// List past runs and missed slots, the newest first.
    History(history::Arguments),
}

pub async fn run(command: &Command) -> Result<Exit, CommandError> {
    match command {
        Command::List(arguments) => list::run(arguments).await,
        Command::Show(arguments) => show::run(arguments).await,
        Command::Next(arguments) => next::run(arguments).await,
        Command::Pause(arguments) => arguments.pause().await,
        Command::Resume(arguments) => arguments.resume().await,
        Command::Run(arguments) => arguments.run().await,
        Command::History(arguments) => history::run(arguments).await,
    }
}
