//! What baton and its guard say to each other: one JSON line each.

use std::ffi::OsString;

use baton_core::lease::Window;
use baton_core::time::Moment;
use serde::{Deserialize, Serialize};

/// What to run, and until when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// A path, or a name to be looked for in `PATH`.
    pub program: OsString,
    /// Its arguments, without its name.
    pub args: Vec<OsString>,
    /// Set on top of baton's own environment.
    pub env: Vec<(OsString, OsString)>,
    /// The trust window as it stands.
    pub window: Window,
}

/// What baton tells the guard. Moments are readings of the machine's boot-time clock, which is the
/// same for both.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Order {
    /// The first: be a guard. With it come the command's standard input and whatever is to be held.
    Hold,
    /// Only from a guard to the process that it started: turn into the command. With it comes the
    /// standard input. `guard` is the guard's process id.
    Become { start: Start, guard: i32 },
    /// Run this.
    Start(Start),
    /// The lease was renewed.
    Extend(Window),
    /// End the term: TERM now, KILL in time for everything to be gone by then.
    Stop { by: Moment },
    /// Pass this signal on to the command's process group.
    Signal { number: i32 },
}

/// What the guard says on its socket.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Answer {
    /// It has taken this renewal in, and keeps its deadlines.
    Extended(Window),
    /// Something happened.
    Report(Report),
}

/// What the guard tells baton. A term is `Started`, `Exited`, `Stopped`; or `FailedToStart`,
/// `Stopped`; or it is cut short by `Lost`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Report {
    /// The command runs; its process id is that of its process group too.
    Started {
        /// The command's process id.
        pid: i32,
    },
    /// The command does not run.
    FailedToStart {
        /// Why, and what to do.
        error: String,
    },
    /// How the command ended.
    Exited(Ending),
    /// Nothing of the term runs any more. Another may start.
    Stopped,
    /// The guard died, and everything of its term with it. There will be no other report.
    Lost {
        /// How the guard died.
        how: String,
    },
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl std::fmt::Display for Ending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Code(0) => f.write_str("ended with code 0"),
            Self::Code(code) => write!(f, "failed with code {code}"),
            Self::Signal(number) => write!(f, "was ended by signal {number}"),
        }
    }
}
