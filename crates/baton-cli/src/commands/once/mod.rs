//! `baton once KEY -- COMMAND`: of all instances that are started with a key, one runs the command,
//! and all end with its exit code.
//!
//! ```text
//!   read the record ── succeeded ──► exit 0
//!        │ otherwise
//!        ▼
//!   a node in the key's namespace waits ──┬── another ran it ─────────► exit with its code
//!        ▲                                └── leads: claim, then guard starts the command
//!        └── cut off: term lost ◄──────────────────┤
//!                                                  └── ended: recorded, leave, exit with its code
//! ```
//!
//! The library has the record and its rules (`baton::once`); here are the command, its guard, the
//! signals and the lines for people.

#[cfg(target_os = "linux")]
mod runner;
mod status;

use std::ffi::OsString;
use std::time::Duration;

use baton::OnCrash;

use crate::config::NodeFlags;

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    #[command(flatten)]
    node: NodeFlags,
    /// Name of the work, remembered for ever once it succeeded: letters, digits, '.', '_', ':' or
    /// '-'.
    key: String,
    /// Time limit: a waiting instance gives up and a running command is stopped, with exit code 4.
    /// There is none by default.
    #[arg(
        long, value_name = "DURATION", value_parser = super::duration, help_heading = "The command"
    )]
    timeout: Option<Duration>,
    /// What to do after a crash cut the command off; give it on every instance alike.
    #[arg(
        long,
        value_enum,
        default_value = "retry",
        value_name = "ACTION",
        help_heading = "The command"
    )]
    on_crash: CrashAction,
    /// Show what is recorded of the key, and run nothing.
    #[arg(long, conflicts_with_all = ["timeout", "quiet"])]
    status: bool,
    /// Print JSON.
    #[arg(long, requires = "status", conflicts_with = "command")]
    json: bool,
    /// Write only errors to stderr.
    #[arg(long)]
    quiet: bool,
    /// Command to run and its arguments, after `--`.
    #[arg(
        required_unless_present = "status",
        conflicts_with = "status",
        last = true,
        value_name = "COMMAND"
    )]
    command: Vec<OsString>,
}

/// What to do after a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum CrashAction {
    /// Another instance runs the command again: at least once.
    Retry,
    /// No instance runs it again, and all exit with code 1: at most once.
    Skip,
}

impl From<CrashAction> for OnCrash {
    fn from(action: CrashAction) -> Self {
        match action {
            CrashAction::Retry => Self::Retry,
            CrashAction::Skip => Self::Skip,
        }
    }
}

const AFTER_HELP: &str = "\
The command has BATON_KEY and BATON_ATTEMPT (1 for the first) in its
environment, and BATON_EPOCH, BATON_NODE_ID, BATON_NAMESPACE and BATON_STORE as
with `run`; the epoch is that of the key.

A run is cut off when its instance dies, loses the leadership or gets the signal
TERM or INT: the command is killed, and how far it came is not known. With
--on-crash retry another instance runs it again: the command runs at least once
and must be repeatable. With --on-crash skip it runs at most once, and what it
left undone remains undone.

When the command fails, the instances that wait exit with its code too. A later
start runs the command again, and so does one after a run that was cut off under
--on-crash skip.";

/// Needs the guard, as `baton run` does.
#[cfg(not(target_os = "linux"))]
pub async fn run(arguments: &Arguments) -> Result<crate::error::Exit, crate::error::CommandError> {
    if arguments.status {
        return status::show(arguments).await;
    }
    let missing =
        "needs Linux, for the guard that stops the command; on this system use the library";
    let problem = std::io::Error::new(std::io::ErrorKind::Unsupported, missing);
    Err(crate::error::CommandError::System { what: "baton once", problem })
}

/// Runs the command once in total, or shows what is recorded.
#[cfg(target_os = "linux")]
pub async fn run(arguments: &Arguments) -> Result<crate::error::Exit, crate::error::CommandError> {
    match arguments.status {
        true => status::show(arguments).await,
        false => runner::run(arguments).await,
    }
}
