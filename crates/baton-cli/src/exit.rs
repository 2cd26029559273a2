//! Exit codes, for scripts.

/// How the command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Done,
    Failed,
    /// The command line or the settings make no sense.
    Usage,
    /// The store cannot be reached, refuses, or is not there.
    Store,
    /// Nothing was refused, but it did not happen in time.
    TimedOut,
    IdTaken,
    Warned,
    /// `run` alone: leadership was lost, and that was to be the end.
    Lost,
    /// `run` alone: ended like the command it ran.
    Command(u8),
    /// `demo` alone: Ctrl-C.
    Interrupted,
    PipeClosed,
}

impl Exit {
    /// The code of the process.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Store => 3,
            Self::TimedOut => 4,
            Self::IdTaken => 5,
            Self::Warned => 6,
            Self::Lost => 7,
            Self::Command(code) => code,
            Self::Interrupted => 130,
            Self::PipeClosed => 141,
        }
    }
}

/// The codes for the long help.
pub const HELP: &str = "\
Exit codes:
  0  done
  1  the command failed or was refused; `health`: the cluster is critical
  2  the command line or the settings are invalid
  3  the store cannot be reached, refuses requests, or does not exist
  4  the time limit passed
  5  another live process has the id of this node
  6  `doctor`: warnings; `health`: the cluster is degraded
  7  `run --on-lost exit`: leadership was lost
`run` otherwise ends with the code of the command that it ran.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_lists_every_code_that_a_script_may_meet() {
        let documented = [Exit::Done, Exit::Failed, Exit::Usage, Exit::Store, Exit::TimedOut];
        for exit in documented.into_iter().chain([Exit::IdTaken, Exit::Warned, Exit::Lost]) {
            assert!(HELP.contains(&format!("\n  {}  ", exit.code())), "{exit:?}");
        }
    }
}
