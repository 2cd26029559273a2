//! The command line as clap sees it.

use clap::{Parser, Subcommand};

use crate::commands::handover::{HandoverArguments, TransferArguments};
use crate::commands::manuals::{CompletionsArguments, ManArguments};
use crate::commands::{
    StoreArguments, counters, demo, doctor, fences, health, history, once, partitions, run,
    schedules, serve, settings, tasklists, watch,
};
use crate::error;

const INTRODUCTION: &str = "\
Run something on exactly one of many instances, and watch it.

Start the same command on every instance. The instances share a store and elect
one leader there; when the leader stops or dies, another instance takes over.

  baton demo             show three failovers in half a minute
  baton run -- ./worker  keep ./worker running on one instance at a time
  baton run --cron '0 2 * * *' -- ./report
                         run ./report each night, on one instance
  baton once KEY -- CMD  run CMD once in total, such as a migration at a deploy
  baton serve            run a node without a command, to try an election
  baton status           show the leader and the other nodes
  baton watch            show changes of leader and nodes as they happen

By default all instances of one user on one machine share a SQLite file; --store
names another store. `baton doctor` checks whether a store is suitable.";

/// The command line.
#[derive(Parser)]
#[command(
    name = "baton",
    version,
    about = "Run something on exactly one of many instances, and watch it",
    long_about = INTRODUCTION,
    after_long_help = error::EXIT_CODES,
    max_term_width = 80,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
pub struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What each does is in `commands`.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Show three failovers of real processes: a crash, a resignation and a pause.
    Demo(demo::Arguments),
    /// Keep a command running on one instance at a time, or run it on a schedule.
    ///
    /// With --cron or --every, each time is run once, on one of the instances: see below. Without:
    /// start `baton run -- ./worker` on every instance. The instances elect a leader, and only the
    /// leader runs ./worker; when the leader stops or dies, another instance runs it. The command
    /// should run for as long as the service does, as a consumer of a queue does. When the command
    /// ends, baton hands over and exits, and the next instance runs the command too.
    Run(run::Arguments),
    /// Run a command once in total, such as a migration at a deploy.
    ///
    /// Start `baton once migrate-42 -- ./migrate` on every instance: one runs ./migrate, the others
    /// wait for it, and all exit with its code. A success is remembered for ever: a later start
    /// with the same key exits with code 0 at once. A failure is not: a later start runs the
    /// command again.
    Once(once::Arguments),
    /// Run a node without a command: it takes part in elections and prints events.
    Serve(serve::Arguments),
    /// Show the leader, its successors and all registered nodes.
    Status(StoreArguments),
    /// Show changes of leader and nodes as they happen.
    Watch(watch::Arguments),
    /// Judge the health of the cluster: healthy, degraded or critical, with reasons.
    Health(health::Arguments),
    /// List past terms: leader, start, end, and why the term ended.
    History(history::Arguments),
    /// List the namespaces of the store.
    Namespaces(StoreArguments),
    /// Show status, runs and failures of the leader's plugins.
    Plugins(StoreArguments),
    /// Hand leadership to a named node.
    Transfer(TransferArguments),
    /// Ask the leader to step down, so that another node takes over.
    Resign(HandoverArguments),
    /// Show, preview, pause and run schedules.
    #[command(subcommand)]
    Schedules(schedules::Command),
    /// Show who owns which partition and why, plan changes, move partitions, pause moves.
    #[command(subcommand)]
    Partitions(partitions::Command),
    /// List, add, change and remove task lists, the named sets of partitions.
    #[command(subcommand)]
    Tasklists(tasklists::Command),
    /// Change and show durable counters.
    #[command(subcommand)]
    Counters(counters::Command),
    /// List or reset the fences that protect your own data.
    #[command(subcommand)]
    Fences(fences::Command),
    /// Check the store, the clocks, the network and the settings.
    Doctor(doctor::Arguments),
    /// Show the settings in effect and the source of each.
    Settings(settings::Arguments),
    /// Simulate elections with injected faults, or your own settings under faults.
    Sim(Box<baton_sim::commands::Arguments>),
    /// Print the completion script for a shell.
    Completions(CompletionsArguments),
    /// Print the manual page, or write the pages of all commands.
    Man(ManArguments),
}
