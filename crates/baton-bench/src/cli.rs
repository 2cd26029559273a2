//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::failover::Arm;
use crate::fixture::{StoreChoice, StoreKind};

/// Measures baton with real processes, and judges what it measured.
///
/// Tables go to stdout, progress to stderr. Exit codes: 0 everything passed, 1 a bar was missed or
/// a check failed, 2 the command line makes no sense, 3 the bench could not be run to its end.
#[derive(Debug, Parser)]
#[command(name = "baton-bench", bin_name = "cargo xtask bench", max_term_width = 80)]
pub struct Cli {
    /// The bench to run.
    #[command(subcommand)]
    pub task: Task,
    #[command(flatten)]
    pub common: Common,
}

/// Options of every bench.
#[derive(Clone, Debug, Args)]
pub struct Common {
    /// The baton program [default: the one beside this program]
    #[arg(long, global = true, value_name = "FILE")]
    pub baton: Option<PathBuf>,
    /// Where the folder with databases and logs is made [default: beside this program]
    #[arg(long, global = true, value_name = "DIR")]
    pub within: Option<PathBuf>,
    /// Write the report as JSON, to stdout or to a file
    #[arg(long, global = true, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Show times without judging them; checks are judged all the same
    #[arg(long, global = true)]
    pub no_bars: bool,
    /// Leave the folder with databases and logs where it is, even if everything passed
    #[arg(long, global = true)]
    pub keep: bool,
}

/// A bench, or the work of a process that a bench starts.
#[derive(Clone, Debug, Subcommand)]
pub enum Task {
    #[command(flatten)]
    Bench(Bench),
    #[command(flatten)]
    Subprocess(Subprocess),
}

/// The work of processes that a bench starts.
#[derive(Clone, Debug, Subcommand)]
pub enum Subprocess {
    /// Waits for a peer's lock, and ticks while it has it
    #[command(hide = true)]
    Hold(Hold),
    /// Takes part with the library, ticks while it leads, and resigns at SIGUSR1
    #[command(hide = true)]
    Member(Member),
    /// Increments a number while it leads
    #[command(hide = true)]
    Worker(Worker),
    /// Adds to a counter as fast as it can
    #[command(hide = true)]
    Adder(Adder),
}

/// The benches.
#[derive(Clone, Debug, Subcommand)]
pub enum Bench {
    /// How long it takes until another node's job runs
    Failover(Failover),
    /// What a beat costs the store, counted outside of baton
    Beats(Beats),
    /// What the leader's own work costs, and how much of it gets done
    Plugins(Plugins),
    /// Hundreds of schedules of every second on the leader: missed, doubled, late?
    Cron(Cron),
    /// Does the fence keep a shared number right, and is it really the fence?
    LostUpdates(LostUpdates),
    /// Processes, connections and server struck at random: does one write at a time?
    Chaos(Chaos),
    /// The store is gone for a while: do all nodes come back, and how soon?
    Outage(Outage),
    /// What single calls cost, and what waiting costs
    Micro,
    /// What waiting costs: the processor time of many idle nodes
    Idle(Idle),
    /// Who should own each of a million partitions: how soon it is known, and how many move
    Allocation(Allocation),
}

/// The state of a cluster when it is struck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Pattern {
    /// A cluster at rest
    Settled,
    /// A leader that took over a second ago from one that was struck
    Succession,
}

/// Options of `failover`.
#[derive(Clone, Debug, Args)]
pub struct Failover {
    /// The stores
    #[arg(long, value_enum, value_delimiter = ',', default_value = "sqlite")]
    pub store: Vec<StoreChoice>,
    /// Whether a strike finds a settled cluster, or one whose leader was struck a second ago
    ///
    /// A succession is tried with kill -9 and with SIGTERM; --arms, --clusters and --peer-trials
    /// are ignored.
    #[arg(long, value_enum, default_value = "settled")]
    pub pattern: Pattern,
    /// How often each arm is tried
    #[arg(long, default_value = "50", value_parser = clap::value_parser!(u32).range(1..))]
    pub trials: u32,
    /// What is tried
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Arm::ALL)]
    pub arms: Vec<Arm>,
    /// How many clusters share the trials, fewer where milliseconds count; their waiting overlaps,
    /// what is measured does not
    #[arg(long, default_value = "10", value_parser = clap::value_parser!(u32).range(1..))]
    pub clusters: u32,
    /// How often a peer is tried whose lock must first run out; 0 leaves the peers out
    #[arg(long, default_value = "5")]
    pub peer_trials: u32,
}

/// A part of `failover`: a process with the library in it.
#[derive(Clone, Debug, Args)]
pub struct Member {
    /// Its name
    #[arg(long)]
    pub id: String,
    /// Where it takes part
    #[arg(long)]
    pub namespace: String,
    /// The store
    #[arg(long, env = "BATON_STORE", hide_env_values = true)]
    pub store: String,
    /// How often it ticks
    #[arg(long, value_parser = baton_cli::commands::duration)]
    pub every: Duration,
    /// Where it ticks
    #[arg(long)]
    pub log: PathBuf,
}

/// A part of `failover`: the lock of another system.
#[derive(Clone, Debug, Args)]
pub struct Hold {
    /// Which lock
    #[arg(value_enum)]
    pub lock: HoldKind,
    /// Its number
    pub key: i64,
    /// Where the server is
    #[arg(long, env = "BATON_STORE", hide_env_values = true)]
    pub store: String,
    /// What it writes as its epoch
    #[arg(long)]
    pub epoch: u64,
    /// Where it ticks
    #[arg(long)]
    pub log: PathBuf,
}

/// The locks that a process of this program can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HoldKind {
    /// Redis, by SET NX PX
    Textbook,
    /// PostgreSQL, by pg_advisory_lock
    Advisory,
    /// ZooKeeper, by ephemeral numbered nodes
    Zookeeper,
}

/// Options of `beats`.
#[derive(Clone, Debug, Args)]
pub struct Beats {
    /// The stores
    #[arg(long, value_enum, value_delimiter = ',', default_value = "all")]
    pub store: Vec<StoreChoice>,
    /// How many nodes the largest fleet has
    #[arg(long, default_value = "200", value_parser = clap::value_parser!(u32).range(2..))]
    pub nodes: u32,
    /// How long each fleet is counted once it has settled; a beat is 5 s
    #[arg(long, default_value = "25", value_parser = clap::value_parser!(u32).range(20..))]
    pub seconds: u32,
}

/// Options of `plugins`.
#[derive(Clone, Debug, Args)]
pub struct Plugins {
    /// How many expired rows are to go
    #[arg(long, default_value = "1000000", value_parser = clap::value_parser!(u64).range(1..))]
    pub rows: u64,
    /// How many additions each of four processes makes
    #[arg(long, default_value = "100000", value_parser = clap::value_parser!(u64).range(1..))]
    pub additions: u64,
    /// Leave out what 20 plugins cost instead of one
    #[arg(long)]
    pub skip_cost: bool,
}

/// Options of `cron`.
#[derive(Clone, Debug, Args)]
pub struct Cron {
    /// The stores; on etcd and S3 the largest number of schedules is looked for that they carry
    #[arg(long, value_enum, value_delimiter = ',', default_value = "all")]
    pub store: Vec<StoreChoice>,
    /// How many schedules of every second
    #[arg(long, default_value = "500", value_parser = clap::value_parser!(u32).range(1..=3_000))]
    pub schedules: u32,
    /// How long they are due, and how long beats are timed without them
    #[arg(long, default_value = "60", value_parser = clap::value_parser!(u32).range(3..))]
    pub seconds: u32,
    /// Use the handle of the beats for schedules too, instead of one of their own
    #[arg(long)]
    pub one_handle: bool,
    /// Leave out the advisory lock for each fire
    #[arg(long)]
    pub skip_peer: bool,
}

/// A part of `plugins`: one of its processes.
#[derive(Clone, Debug, Args)]
pub struct Adder {
    /// The store
    #[arg(value_parser = StoreKind::by_name)]
    pub kind: StoreKind,
    /// The namespace
    pub namespace: String,
    /// How many additions
    pub additions: u64,
    /// Where the server is
    #[arg(long, env = "BATON_STORE", hide_env_values = true)]
    pub url: String,
    /// Change one row or key instead
    #[arg(long)]
    pub directly: bool,
}

/// Options of `lost-updates`.
#[derive(Clone, Debug, Args)]
pub struct LostUpdates {
    /// The stores, of postgres and redis
    #[arg(long, value_enum, value_delimiter = ',', default_value = "postgres,redis")]
    pub store: Vec<StoreChoice>,
    /// How many increments with the fence
    #[arg(long, default_value = "20000")]
    pub increments: u64,
    /// How many increments one write stands for
    #[arg(long, default_value = "10", value_parser = clap::value_parser!(u64).range(1..))]
    pub batch: u64,
}

/// A part of `lost-updates`: one of its processes.
#[derive(Clone, Debug, Args)]
pub struct Worker {
    /// The store
    #[arg(value_parser = StoreKind::by_name)]
    pub kind: StoreKind,
    /// The namespace, and the number's name
    pub name: String,
    /// Which of them it is
    pub number: u32,
    /// How many increments one write stands for
    pub batch: u64,
    /// Where the server is
    #[arg(long, env = "BATON_STORE", hide_env_values = true)]
    pub url: String,
    /// Write with the fence
    #[arg(long)]
    pub fenced: bool,
}

/// Options of `chaos`.
#[derive(Clone, Debug, Args)]
pub struct Chaos {
    /// The stores, all of them side by side
    #[arg(long, value_enum, value_delimiter = ',', default_value = "all")]
    pub store: Vec<StoreChoice>,
    /// How long to strike, in minutes
    #[arg(long, default_value = "2", value_parser = clap::value_parser!(u32).range(1..))]
    pub minutes: u32,
    /// How long to strike, in seconds
    #[arg(long, conflicts_with = "minutes", value_parser = clap::value_parser!(u32).range(10..))]
    pub seconds: Option<u32>,
    /// What the faults are drawn from [default: a new one]
    #[arg(long)]
    pub seed: Option<u64>,
    /// How many processes on each store
    #[arg(long, default_value = "7", value_parser = clap::value_parser!(u32).range(3..))]
    pub nodes: u32,
    /// How many failovers there must be on each store, in up to twice the time [default: one in six
    /// seconds, and no more than 20]
    #[arg(long)]
    pub failovers: Option<u32>,
}

impl Chaos {
    /// How long to strike.
    pub fn lasts(&self) -> Duration {
        Duration::from_secs(self.seconds.unwrap_or(self.minutes * 60).into())
    }

    /// How many failovers there must be.
    pub fn failovers_wanted(&self) -> usize {
        let by_time = (self.lasts().as_secs() / 6).min(20);
        self.failovers.map_or(by_time as usize, |count| count as usize)
    }
}

/// Options of `outage`.
#[derive(Clone, Debug, Args)]
pub struct Outage {
    /// The stores, all of them side by side
    #[arg(long, value_enum, value_delimiter = ',', default_value = "all,redis-always")]
    pub store: Vec<StoreChoice>,
    /// How many nodes on each store
    #[arg(long, default_value = "10", value_parser = clap::value_parser!(u32).range(2..))]
    pub nodes: u32,
    /// How long it is gone; within 10 s every breaker has opened
    #[arg(long, default_value = "120", value_parser = clap::value_parser!(u32).range(10..))]
    pub seconds: u32,
}

/// Options of `idle`.
#[derive(Clone, Debug, Args)]
pub struct Idle {
    /// How many processes
    #[arg(long, default_value = "50", value_parser = clap::value_parser!(u32).range(2..))]
    pub nodes: u32,
    /// How long, once they have settled
    #[arg(long, default_value = "30", value_parser = clap::value_parser!(u32).range(1..))]
    pub seconds: u32,
}

/// Options of `allocation`.
#[derive(Clone, Debug, Args)]
pub struct Allocation {
    /// Leave out Kafka's sticky assignor, which is installed from PyPI
    #[arg(long)]
    pub skip_pypi: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn json_goes_to_stdout_unless_a_file_is_named() {
        let json = |args: &[&str]| Cli::try_parse_from(args).expect("sound").common.json;
        let dash = Some(PathBuf::from("-"));
        assert_eq!(json(&["b", "micro", "--json"]), dash);
        assert_eq!(json(&["b", "micro", "--json", "f"]), Some(PathBuf::from("f")));
        assert_eq!(json(&["b", "micro"]), None);
    }

    #[test]
    fn arms_are_listed_with_commas_and_there_are_trials() {
        let args = ["b", "failover", "--trials", "2", "--arms", "kill,resign"];
        let Task::Bench(Bench::Failover(failover)) = Cli::try_parse_from(args).expect("sound").task
        else {
            unreachable!("failover was asked for");
        };
        assert_eq!((failover.trials, failover.arms), (2, vec![Arm::Kill, Arm::Resign]));
        assert!(Cli::try_parse_from(["b", "failover", "--trials", "0"]).is_err());
    }
}
