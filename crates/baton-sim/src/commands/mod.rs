//! The simulator's command line, one file a command. `baton sim` has the same one.

mod bugs;
mod campaign;
mod cost;
mod determinism;
mod exhaustive;
mod one;
mod replay;
mod say;
mod shrink;
mod soak;
mod what_if;

use std::path::PathBuf;

use crate::plan::Overrides;
use clap::{Args, Parser, Subcommand};

/// Why a command did not succeed.
pub enum CommandError {
    /// A promise was broken, or the campaign was no campaign. It has been reported.
    Broken,
    /// What was asked makes no sense: one line for a person.
    Input(String),
}

/// Runs baton's deciding core through storms of faults, seed by seed, and checks its promises.
#[derive(Parser)]
#[command(name = "baton-sim", version, args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    campaign: CampaignArguments,
    #[command(flatten)]
    changes: Changes,
    /// Plant this bug for the whole run.
    #[cfg(baton_bugs)]
    #[arg(long, global = true)]
    plant: Option<String>,
}

#[derive(Args)]
struct CampaignArguments {
    /// How many seeds to run.
    #[arg(long, default_value_t = 500, value_parser = at_least_one())]
    seeds: u64,
    /// The first seed.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Run this seed alone, and print its plan.
    #[arg(long, conflicts_with_all = ["seeds", "first"])]
    seed: Option<u64>,
    /// With --seed: print what happens, line by line.
    #[arg(long, requires = "seed", conflicts_with = "json")]
    trace: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Threads; all cores by default.
    #[arg(long)]
    jobs: Option<usize>,
}

#[derive(Args)]
struct Changes {
    /// With --seed: leave these faults out.
    #[arg(long, value_delimiter = ',', requires = "seed")]
    without: Vec<String>,
    /// With --seed: so many nodes.
    #[arg(long, requires = "seed")]
    nodes: Option<usize>,
    /// With --seed: so many leases of storm.
    #[arg(long, requires = "seed")]
    leases: Option<u32>,
}

#[derive(Subcommand)]
enum Command {
    /// Replay the kept seeds, each of which broke a promise once.
    Replay {
        /// The file of seeds; by default the one kept with the sources.
        #[arg(long, default_value = replay::KEPT, hide_default_value = true)]
        file: PathBuf,
    },
    /// Make a failing seed's run as small as it can be.
    Shrink {
        /// The seed.
        #[arg(long)]
        seed: u64,
    },
    /// Run seeds twice and compare their traces byte by byte.
    Determinism {
        /// How many seeds.
        #[arg(long, default_value_t = 50, value_parser = at_least_one())]
        seeds: u64,
    },
    /// Run fresh seeds for as long as told.
    Soak {
        /// How long.
        #[arg(long, value_parser = at_least_one())]
        minutes: u64,
        /// The first seed.
        #[arg(long, default_value_t = 1_000_000)]
        first: u64,
    },
    /// Plant wrong rules one by one; each must be caught. Needs the build of `cargo xtask bugs`.
    Bugs {
        /// At most so many seeds for each, the kept ones first.
        #[arg(long, default_value_t = 1_000, value_parser = at_least_one())]
        seeds: u64,
        /// Plant this one alone.
        #[arg(long)]
        only: Option<String>,
    },
    /// Visit every state that a few nodes can reach within bounds, and check S1 and S2 in each.
    Exhaustive(exhaustive::ExhaustiveArguments),
    /// Count store requests per node and beat, from 10 nodes to 5,000.
    Cost(cost::CostArguments),
    /// Run your own settings through crashes, deploys, pauses and outages.
    WhatIf(what_if::WhatIfArguments),
}

/// Carries out what was asked.
pub fn run(arguments: Arguments) -> Result<(), CommandError> {
    #[cfg(baton_bugs)]
    bugs::plant_named(arguments.plant.as_deref())?;
    let Arguments { command, campaign, changes, .. } = arguments;
    match command {
        Some(Command::Replay { file }) => replay::run(&file),
        Some(Command::Shrink { seed }) => shrink::run(seed),
        Some(Command::Determinism { seeds }) => determinism::run(seeds),
        Some(Command::Soak { minutes, first }) => soak::run(minutes, first),
        Some(Command::Bugs { seeds, only }) => bugs::run(seeds, only.as_deref()),
        Some(Command::Exhaustive(arguments)) => exhaustive::run(&arguments),
        Some(Command::Cost(arguments)) => cost::run(&arguments),
        Some(Command::WhatIf(arguments)) => what_if::run(&arguments),
        None => match campaign.seed {
            Some(seed) => one::run(seed, &overrides(&changes)?, campaign.trace, campaign.json),
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

/// A campaign of nothing would find nothing.
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
