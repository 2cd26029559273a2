//! `baton run -- COMMAND`: the command runs only while this node leads.
//!
//! ```text
//!   standby ── elected ──► guard starts the command ──► it runs, each renewal moves its deadlines
//!      ▲                                                   │
//!      ├── --on-lost wait ◄── TERM, KILL, proved gone ◄────┤ leadership lost, resigned, signalled
//!      └── --restart, --once: after a pause ◄──────────────┤ the command ended by itself
//!                                      leave, exit ◄───────┘ and neither was given
//! ```
//!
//! With `--cron` or `--every` the leader runs the command once for each slot instead (`scheduled`).
//!
//! The term is held until the guard has proved that nothing of the command runs any more; only then
//! is the lease released.

mod flags;
#[cfg(target_os = "linux")]
pub(super) mod runner;
#[cfg(target_os = "linux")]
mod scheduled;
#[cfg(target_os = "linux")]
mod successor;
#[cfg(target_os = "linux")]
pub(crate) mod term;

use std::ffi::OsString;

use crate::config::NodeFlags;
use flags::ScheduleFlags;

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    #[command(flatten)]
    node: NodeFlags,
    /// When the command fails, run it again after a pause; when it ends with code 0, exit. Every
    /// other instance then runs it too: once per instance, not once in total.
    #[arg(long, conflicts_with_all = ["restart", "cron", "every"], help_heading = "The command")]
    once: bool,
    /// When the command ends, with any code, run it again on this instance after a pause.
    #[arg(long, conflicts_with_all = ["cron", "every"], help_heading = "The command")]
    restart: bool,
    /// What to do when this node no longer leads.
    #[arg(
        long,
        value_enum,
        default_value = "wait",
        value_name = "ACTION",
        conflicts_with_all = ["cron", "every"],
        help_heading = "The command"
    )]
    on_lost: OnLost,
    #[command(flatten)]
    schedule: ScheduleFlags,
    /// Write only errors to stderr.
    #[arg(long)]
    quiet: bool,
    /// Command to run and its arguments, after `--`.
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// What to do when leadership is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum OnLost {
    /// Leave, and exit with code 7.
    Exit,
    /// Wait until this node leads again.
    Wait,
}

const AFTER_HELP: &str = "\
The command has BATON_EPOCH, BATON_NODE_ID, BATON_NAMESPACE and BATON_STORE (the
URL of the store without its password) in its environment.

When this node no longer leads, the command and all processes that it started
get the signal TERM, and KILL before the lease ends, even if baton itself is
killed or paused. HUP, QUIT, USR1 and USR2 are forwarded to the command. On TERM
or INT baton stops the command, hands over and leaves, within stop_grace and one
second.

When the command ends by itself, baton hands over and exits with the same code
(128 + n for signal n), and another instance runs the command; with --restart
this instance runs it again. For work that must be done only once, such as a
migration, use `baton once`.

With --cron or --every the command runs once for each slot, on one instance,
while all instances keep running; HUP, QUIT, USR1 and USR2 have no effect. It
has BATON_SCHEDULE, BATON_SLOT (the time of the slot) and BATON_ATTEMPT as well:
slot and schedule identify the work, so that a command that is run again can
find out what has been done already.";

/// The guard is made of what only Linux has: child subreapers, process descriptors, and the
/// kernel's signal at a parent's death.
#[cfg(not(target_os = "linux"))]
pub async fn run(_: &Arguments) -> Result<crate::error::Exit, crate::error::CommandError> {
    let missing =
        "needs Linux, for the guard that stops the command; on this system use the library";
    let problem = std::io::Error::new(std::io::ErrorKind::Unsupported, missing);
    Err(crate::error::CommandError::System { what: "baton run", problem })
}

/// Runs the command, on a schedule or all the time.
#[cfg(target_os = "linux")]
pub async fn run(arguments: &Arguments) -> Result<crate::error::Exit, crate::error::CommandError> {
    match arguments.schedule.definition(&arguments.command[0])? {
        Some(definition) => scheduled::run(arguments, definition).await,
        None => runner::run(arguments).await,
    }
}
