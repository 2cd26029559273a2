//! The command line as clap sees it.

use clap::{Parser, Subcommand};

use crate::commands::{
    completions, counters, demo, doctor, fences, health, history, man, plugins, resign, run, serve,
    settings, status, transfer, watch,
};
use crate::exit;

const NEWCOMERS: &str = "\
Run something on exactly one of many instances, and watch it.

Start the same command on every instance; they meet in a store, elect one
leader, and another one takes over when it stops or dies.

  baton demo             see three processes hand over, in half a minute
  baton run -- ./worker  keep ./worker running on one instance at a time
  baton serve            take part as a node, to see how it goes
  baton status           who leads, and who else is there
  baton watch            the same, live

All instances of one machine meet in a file of yours unless --store says
otherwise. `baton doctor` checks whether a store will do.";

/// Everything that can be asked of baton.
#[derive(Parser)]
#[command(
    name = "baton",
    version,
    about = "Run something on exactly one of many instances, and watch it",
    long_about = NEWCOMERS,
    after_long_help = exit::HELP,
    max_term_width = 80,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// One variant a command; each has a file of its own in `commands`.
#[derive(Subcommand)]
pub enum Command {
    /// See it work: three processes, a crash, a resignation, a pause.
    Demo(demo::Arguments),
    /// Keep a command running on one instance at a time.
    ///
    /// Start `baton run -- ./worker` on every instance. The instances elect a leader, and ./worker
    /// runs there alone; when the leader stops or dies, it runs on another instance. This is for a
    /// command that goes on, such as a consumer of a queue. A command that ends is not run once in
    /// all: baton hands over and exits, and the next instance runs the command too.
    Run(run::Arguments),
    /// Take part as a node without work, and print what happens.
    Serve(serve::Arguments),
    /// Show who leads, and who else is there.
    Status(status::Arguments),
    /// Show changes as they happen.
    Watch(watch::Arguments),
    /// Show how the cluster does: one verdict, with its reasons.
    Health(health::Arguments),
    /// Show who led, from when to when, and why it ended.
    History(history::Arguments),
    /// Show what the leader's plugins do, and what failed.
    Plugins(plugins::Arguments),
    /// Hand leadership to a named node.
    Transfer(transfer::Arguments),
    /// Ask the leader to step down; another node takes over.
    Resign(resign::Arguments),
    /// Count, and show what was counted.
    Counters(counters::Arguments),
    /// Show or reset the fences of your own data.
    Fences(fences::Arguments),
    /// Check the store, the clock, the network and the settings.
    Doctor(doctor::Arguments),
    /// Show the settings in effect, and where each comes from.
    Settings(settings::Arguments),
    /// Try to break the election, or your settings, in a simulation.
    Sim(Box<baton_sim::commands::Arguments>),
    /// Print completions for a shell.
    Completions(completions::Arguments),
    /// Print the manual page, or write one for each command.
    Man(man::Arguments),
}
