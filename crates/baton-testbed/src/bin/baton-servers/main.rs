//! Servers to work with all day, instead of one a test: `up`, `status`, `down`.
//!
//! ```text
//!   up ──► Detached::start, one after another ──► list: target/servers.json
//!    └─► stdout: export BATON_TEST_…_URL=…          │
//!   status ◄────────────────────────────────────────┤
//!   down ◄──────────────────────────────────────────┘ by process id and start time
//! ```
//!
//! What a shell is to evaluate goes to stdout, everything else to stderr.

mod commands;
mod failure;
mod list;

use std::process::ExitCode;

use baton_testbed::{CURL, Kind, PROMTOOL};
use clap::{Parser, Subcommand};

use failure::Failure;

/// Servers to work with all day, instead of one a test.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask servers", bin_name = "cargo xtask servers")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start servers, and print the variables that make the tests use them
    ///
    /// Use it as: eval "$(cargo xtask servers up)"
    Up {
        /// Which ones; those of the test suite if none is named
        kinds: Vec<Kind>,
        /// Install what is missing and start nothing
        #[arg(long)]
        install_only: bool,
    },
    /// Show which servers run and answer
    Status,
    /// Stop the servers and remove their data
    Down,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.expect("a process can have a second thread");
    match runtime.block_on(perform(cli.command)) {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("servers: {failure}");
            ExitCode::FAILURE
        }
    }
}

async fn perform(command: Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Up { kinds, install_only } => {
            let whole_suite = kinds.is_empty();
            let kinds = if whole_suite { Kind::SUITE.to_vec() } else { kinds };
            if install_only {
                let programs = if whole_suite { vec![CURL, PROMTOOL] } else { Vec::new() };
                return commands::install(kinds, programs).await;
            }
            commands::up(&kinds).await
        }
        Command::Status => commands::status().await,
        Command::Down => commands::down().await,
    }
}

#[cfg(test)]
mod tests {
    use super::{Cli, Command};
    use clap::{CommandFactory, Parser};

    #[test]
    fn the_command_line_is_well_formed_and_names_servers() {
        Cli::command().debug_assert();
        let cli = Cli::try_parse_from(["x", "up", "redis", "etcd", "--install-only"]);
        let Command::Up { kinds, install_only } = cli.expect("both exist").command else {
            unreachable!("it says up");
        };
        assert_eq!((kinds.len(), install_only), (2, true));
        assert!(Cli::try_parse_from(["x", "up", "oracle"]).is_err());
    }
}
