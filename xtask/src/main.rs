//! The project's chores, as `cargo xtask <task>`.
//!
//! ```text
//!   test ──► fmt ► tidy ► clippy ► features ► macos ► doc ► build ► tests ► conformance ► chaos
//!            └─► soak ► simulation ► schedules ► partitions ► once ► replay ► determinism ► bugs
//!   tidy ──► a function for each rule, over every file outside of target/
//!   determinism, soak, cost, exhaustive ──► baton-sim, in release mode
//!   bugs ──► baton-sim once more, with wrong rules planted
//!   bench ──► baton-bench with the baton program beside it, in release mode
//!   chaos ──► baton-bench again: processes, connections and servers struck at random
//!   matrix ──► the tests of drivers on servers that the test suite does not use
//!   newcomer ──► the blocks of the guide, run as a new user runs them
//!   servers ──► baton-servers: databases to work with all day
//! ```
//!
//! Needs nothing but the Rust toolchain; the tests of stores install their servers, or say what to
//! install. Findings and the summary go to stdout, what is being run goes to stderr.

mod chores;
mod command;
mod conformance;
mod failure;
mod matrix;
mod suite;
mod test;
mod tidy;

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use command::{Command, run_all};
use failure::Failure;

/// The project's chores.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

/// What can be asked for.
#[derive(Debug, Subcommand)]
enum Task {
    /// Run every check that a submission must pass
    ///
    /// In order: formatting, tidy, clippy, each feature alone, macOS if Rust's library for it is
    /// installed, documentation, the tests, the table of what conforms, a short chaos, a short soak
    /// of partitions, a short simulation of each world, the kept failing seeds and the planted
    /// bugs. Stops at the first step that fails and prints the command that repeats it; otherwise
    /// the last line says how long each step took.
    Test {
        /// Run the tests and the chaos beside this many busy loops, 1 to 64
        ///
        /// A test that fails beside them depends on speed. They are threads of this program and end
        /// with it. The tests are built before the loops begin.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
        load: Option<u32>,
    },
    /// Run the tests of the workspace, several test programs at a time
    ///
    /// Prints what each program wrote when it ends, then the slowest ones, then each failed program
    /// with the command that repeats its failed tests. The last line is `N passed, N failed`.
    Suite {
        /// How many test programs run at once, 1 to 64
        #[arg(long, value_name = "N", default_value_t = suite::AT_ONCE as u32,
              value_parser = clap::value_parser!(u32).range(1..=64))]
        at_once: u32,
        /// Only programs whose name contains one of these, such as `redis` or `baton-cli test`
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// Check what the compiler does not: sizes, leftovers, links, unused files, the core's crates
    ///
    /// Looks at every file outside of folders named target or .git. Prints all findings, one
    /// `path:line: message` each, and exits with an error if there are any.
    Tidy,
    /// Show that the simulator catches every planted bug
    ///
    /// Builds the simulator with `--cfg baton_bugs`, plants each bug in turn and searches
    /// the seeds for one that exposes it. The exit code is the simulator's.
    Bugs {
        /// How many seeds to try for each bug
        #[arg(long, value_name = "N", default_value = "1000")]
        seeds: NonZeroU32,
    },
    /// Show that a seed determines its run: run each one twice and compare
    Determinism {
        /// How many seeds to run
        #[arg(long, value_name = "N", default_value = "50")]
        seeds: NonZeroU32,
    },
    /// Simulate fresh seeds until the time is up, or let real nodes with partitions come and go
    ///
    /// `cargo xtask soak --partitions --help` lists the options of the second.
    #[command(disable_help_flag = true)]
    Soak {
        /// How long to go on
        #[arg(long, value_name = "M", required_unless_present = "partitions")]
        minutes: Option<NonZeroU32>,
        /// Real processes in two clusters: is every partition owned by one node afterwards?
        #[arg(long, conflicts_with = "minutes")]
        partitions: bool,
        /// Options of the soak of partitions
        #[arg(
            trailing_var_arg = true,
            allow_hyphen_values = true,
            value_name = "OPTIONS",
            conflicts_with = "minutes"
        )]
        arguments: Vec<String>,
    },
    /// Measure what the protocol asks of the store
    Cost,
    /// Walk every interleaving of a small cluster
    Exhaustive,
    /// Show which store passed which case of the conformance suite when the tests last ran
    Conformance,
    /// Start, show or stop database servers that the tests use instead of starting their own
    ///
    /// `cargo xtask servers --help` lists the commands: up, status, down.
    #[command(disable_help_flag = true)]
    Servers {
        /// Which command, and its options
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
        arguments: Vec<String>,
    },
    /// Measure failover, single calls and idleness with real processes, and judge them
    ///
    /// `cargo xtask bench --help` lists the benches: failover, outage, micro, idle, ….
    #[command(disable_help_flag = true)]
    Bench {
        /// Which bench, and its options
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "BENCH")]
        arguments: Vec<String>,
    },
    /// Strike real processes, their connections and their store at random: does one lead at a time?
    ///
    /// `cargo xtask chaos --help` lists the options: --store, --minutes, --seed, --nodes, ….
    #[command(disable_help_flag = true)]
    Chaos {
        /// Options of the chaos
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
        arguments: Vec<String>,
    },
    /// Follow the guide for new users: each block of it is run, on PostgreSQL and in a file
    ///
    /// Six tasks with three replicas, by the blocks of docs/getting-started.md, README.md and
    /// docs/operations.md. A part of `cargo xtask test`.
    Newcomer,
    /// Run the tests of drivers on other servers: Oracle's MySQL, PostgreSQL 18, SeaweedFS' S3
    ///
    /// On PostgreSQL 18 and SeaweedFS, tests that would stop the server are left out. Not a part of
    /// `cargo xtask test`.
    Matrix {
        /// Only these servers; otherwise all
        #[arg(value_name = "SERVER", value_parser = matrix::servers())]
        servers: Vec<String>,
    },
}

fn main() -> ExitCode {
    match perform(&Cli::parse().task, &workspace_root()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}

fn perform(task: &Task, root: &Path) -> Result<(), Failure> {
    match task {
        Task::Test { load } => test::run_test(root, load.unwrap_or(0)),
        Task::Suite { at_once, names } => suite::run(root, *at_once as usize, names, &[]),
        Task::Tidy => tidy::run(root),
        Task::Conformance => conformance::run(root),
        Task::Matrix { servers } => matrix::run(root, servers),
        _ => run_all(&commands(task, root), root),
    }
}

/// The commands that a task consists of; none for a task that is more than commands.
fn commands(task: &Task, root: &Path) -> Vec<Command> {
    let simulator = |args: String| vec![chores::simulator(&args)];
    match task {
        Task::Test { .. } | Task::Suite { .. } | Task::Tidy => Vec::new(),
        Task::Conformance | Task::Matrix { .. } => Vec::new(),
        Task::Bugs { seeds } => chores::bugs(*seeds, root).into(),
        Task::Determinism { seeds } => simulator(format!("determinism --seeds {seeds}")),
        Task::Soak { minutes: Some(minutes), .. } => simulator(format!("soak --minutes {minutes}")),
        Task::Soak { arguments, .. } => {
            chores::bench(&[&["soak".to_owned()], &arguments[..]].concat()).into()
        }
        Task::Cost => simulator("cost".to_owned()),
        Task::Exhaustive => simulator("exhaustive".to_owned()),
        Task::Servers { arguments } => vec![chores::servers(arguments)],
        Task::Bench { arguments } => chores::bench(arguments).into(),
        Task::Chaos { arguments } => {
            chores::bench(&[&["chaos".to_owned()], &arguments[..]].concat()).into()
        }
        Task::Newcomer => chores::newcomer().into(),
    }
}

/// The folder above this crate's. Cargo names it at run time too, which holds for a checkout that
/// was moved or shares its target folder; the name from build time serves a bare call.
fn workspace_root() -> PathBuf {
    let manifest_dir = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    manifest_dir.parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::{Cli, Task, commands, workspace_root};
    use clap::{CommandFactory, Parser};

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn defaults_are_those_of_the_help_text() {
        let bugs = Cli::try_parse_from(["xtask", "bugs"]).expect("bugs needs no argument");
        assert!(matches!(bugs.task, Task::Bugs { seeds } if seeds.get() == 1000));
        let det = Cli::try_parse_from(["xtask", "determinism"]).expect("nor does determinism");
        assert!(matches!(det.task, Task::Determinism { seeds } if seeds.get() == 50));
    }

    #[test]
    fn soaking_needs_a_length_above_zero() {
        assert!(Cli::try_parse_from(["xtask", "soak"]).is_err());
        assert!(Cli::try_parse_from(["xtask", "soak", "--minutes", "0"]).is_err());
        let both = ["xtask", "soak", "--minutes", "1", "--store", "redis"];
        assert!(Cli::try_parse_from(both).is_err());
    }

    #[test]
    fn a_load_is_a_number_of_busy_loops_from_1_to_64() {
        let parsed = |load: &str| Cli::try_parse_from(["xtask", "test", "--load", load]);
        assert!(matches!(parsed("2").expect("a number").task, Task::Test { load: Some(2) }));
        for wrong in ["0", "65", "two", ""] {
            let refused = parsed(wrong).err().map(|error| error.to_string()).expect("refused");
            assert!(refused.contains("'--load <N>'"), "{refused}");
        }
        let alone = Cli::try_parse_from(["xtask", "test"]).expect("a load is not needed");
        assert!(matches!(alone.task, Task::Test { load: None }));
    }

    #[test]
    fn what_follows_bench_is_the_bench_s() {
        let bench = Cli::try_parse_from(["xtask", "bench", "failover", "--trials", "2", "--help"]);
        let Task::Bench { arguments } = bench.expect("anything goes").task else {
            unreachable!("a bench was asked for");
        };
        assert_eq!(arguments, ["failover", "--trials", "2", "--help"]);
    }

    #[test]
    fn a_task_runs_the_commands_of_its_chore() {
        let simulator = "cargo run --release -p baton-sim --";
        let build =
            "cargo build --release -p baton-cli --bin baton -p baton-bench --bin baton-bench";
        let servers = "cargo run --quiet -p baton-testbed --bin baton-servers --";
        let cases = [
            ("determinism --seeds 3", vec![format!("{simulator} determinism --seeds 3")]),
            ("soak --minutes 5", vec![format!("{simulator} soak --minutes 5")]),
            (
                "soak --partitions --store redis --nodes 5",
                vec![
                    build.to_owned(),
                    "target/release/baton-bench soak --store redis --nodes 5".to_owned(),
                ],
            ),
            ("cost", vec![format!("{simulator} cost")]),
            ("exhaustive", vec![format!("{simulator} exhaustive")]),
            ("servers up --install-only", vec![format!("{servers} up --install-only")]),
            ("bench idle", vec![build.to_owned(), "target/release/baton-bench idle".to_owned()]),
            (
                "chaos --seed 7",
                vec![build.to_owned(), "target/release/baton-bench chaos --seed 7".to_owned()],
            ),
        ];
        for (line, expected) in cases {
            let words = ["xtask"].into_iter().chain(line.split(' '));
            let task = Cli::try_parse_from(words).expect(line).task;
            let lines: Vec<String> =
                commands(&task, &workspace_root()).iter().map(ToString::to_string).collect();
            assert_eq!(lines, expected);
        }
    }

    #[test]
    fn the_root_holds_the_workspace() {
        assert!(workspace_root().join("xtask/Cargo.toml").is_file());
    }
}
