//! The simulator's command line, one file a command. `baton sim` has the same one.

mod bugs;
mod campaign;
mod cost;
mod determinism;
mod exhaustive;
mod once;
mod print;
mod replay;
mod scripted;
mod seed;
mod what_if;

use std::path::PathBuf;

use crate::partitions::Partitions;
use crate::plan::Overrides;
use crate::schedules::Schedules;
use clap::{Args, Parser, Subcommand};

/// Why a command did not succeed.
pub enum CommandError {
    /// A promise was broken, or a campaign did not meet every fault. It has been reported.
    Broken,
    /// The arguments or a file are invalid: one line for a person.
    Input(String),
}

/// Runs the election code of baton through injected faults, seed by seed, and checks its promises.
#[derive(Parser)]
#[command(name = "baton-sim", version, args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    campaign: CampaignArguments,
    #[command(flatten)]
    changes: Changes,
    /// Name of a bug to plant for the whole run.
    #[cfg(baton_bugs)]
    #[arg(long, global = true)]
    plant: Option<String>,
}

#[derive(Args)]
struct CampaignArguments {
    /// Number of seeds to run.
    #[arg(long, default_value_t = 500, value_parser = at_least_one())]
    seeds: u64,
    /// First seed to run.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Run only this seed, and print its plan.
    #[arg(long, conflicts_with_all = ["seeds", "first"])]
    seed: Option<u64>,
    /// With --seed: print every event of the run.
    #[arg(long, requires = "seed", conflicts_with = "json")]
    trace: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Number of threads; by default the number of cores.
    #[arg(long)]
    jobs: Option<usize>,
}

#[derive(Args)]
struct Changes {
    /// With --seed: names of faults to leave out.
    #[arg(long, value_delimiter = ',', requires = "seed")]
    without: Vec<String>,
    /// With --seed: number of nodes.
    #[arg(long, requires = "seed")]
    nodes: Option<usize>,
    /// With --seed: how long faults are injected, in lease timeouts.
    #[arg(long, requires = "seed")]
    leases: Option<u32>,
}

#[derive(Subcommand)]
enum Command {
    /// Replay the stored seeds, each of which once broke a promise.
    Replay {
        /// File of seeds; by default the one in the source tree.
        #[arg(long, default_value = replay::KEPT, hide_default_value = true)]
        file: PathBuf,
    },
    /// Find the fewest faults and nodes with which a seed still breaks its promise.
    Shrink {
        /// Seed that breaks a promise.
        #[arg(long)]
        seed: u64,
    },
    /// Run each seed twice and compare the traces byte by byte.
    Determinism {
        /// Number of seeds.
        #[arg(long, default_value_t = 50, value_parser = at_least_one())]
        seeds: u64,
    },
    /// Run new seeds for a given time.
    Soak {
        /// Time in minutes.
        #[arg(long, value_parser = at_least_one())]
        minutes: u64,
        /// First seed to run.
        #[arg(long, default_value_t = 1_000_000)]
        first: u64,
    },
    /// Plant bugs one by one, each of which a checker must catch; needs the build of `cargo xtask
    /// bugs`.
    Bugs {
        /// Largest number of seeds for each bug, the stored ones first.
        #[arg(long, default_value_t = 1_000, value_parser = at_least_one())]
        seeds: u64,
        /// Name of the only bug to plant.
        #[arg(long)]
        only: Option<String>,
    },
    /// Visit every state that 2 or 3 nodes can reach within bounds, and check the promises in each.
    Exhaustive(exhaustive::ExhaustiveArguments),
    /// Count store requests per node and beat, for 10 to 5,000 nodes.
    Cost(cost::CostArguments),
    /// Run schedules through leader changes, lost answers, wrong clocks and people's edits.
    Schedules(scripted::WorldArguments),
    /// Run partitions through crashes, pauses, joins, leader changes and lost answers.
    Partitions(scripted::WorldArguments),
    /// Visit every state of work that is done once: processes that wait, run, crash and write late.
    Once(once::OnceArguments),
    /// Simulate your own settings under crashes, deploys, pauses and outages.
    WhatIf(what_if::WhatIfArguments),
}

/// Runs the command.
pub fn run(arguments: Arguments) -> Result<(), CommandError> {
    #[cfg(baton_bugs)]
    bugs::plant_named(arguments.plant.as_deref())?;
    let Arguments { command, campaign, changes, .. } = arguments;
    match command {
        Some(Command::Replay { file }) => replay::run(&file),
        Some(Command::Shrink { seed }) => {
            seed::shrink(seed);
            Ok(())
        }
        Some(Command::Determinism { seeds }) => determinism::run(seeds),
        Some(Command::Soak { minutes, first }) => campaign::soak(first, minutes),
        Some(Command::Bugs { seeds, only }) => bugs::run(seeds, only.as_deref()),
        Some(Command::Exhaustive(arguments)) => exhaustive::run(&arguments),
        Some(Command::Cost(arguments)) => cost::run(&arguments),
        Some(Command::Schedules(arguments)) => scripted::run::<Schedules>(&arguments),
        Some(Command::Partitions(arguments)) => scripted::run::<Partitions>(&arguments),
        Some(Command::Once(arguments)) => once::run(&arguments),
        Some(Command::WhatIf(arguments)) => what_if::run(&arguments),
        None => match campaign.seed {
            Some(seed) => seed::run(seed, &overrides(&changes)?, campaign.trace, campaign.json),
            None => {
                let jobs = campaign.jobs.unwrap_or_else(cores);
                campaign::run(campaign.first, campaign.seeds, jobs, campaign.json)
            }
        },
    }
}

fn overrides(changes: &Changes) -> Result<Overrides, CommandError> {
    let faults: Result<Vec<_>, _> = changes.without.iter().map(|name| name.parse()).collect();
    let without = faults.map_err(|unknown: crate::plan::UnknownFault| input(&unknown))?;
    Ok(Overrides { without, nodes: changes.nodes, leases: changes.leases })
}

fn input(problem: &dyn std::fmt::Display) -> CommandError {
    CommandError::Input(problem.to_string())
}

/// A campaign without seeds would find nothing.
fn at_least_one() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The line that reproduces a failure.
fn reproduction(seed: u64, overrides: &Overrides) -> String {
    format!("cargo run --release -p baton-sim -- --seed {seed}{overrides} --trace")
}
