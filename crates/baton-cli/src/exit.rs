//! Exit codes, for scripts.

/// How the command ended, as the code of the process. `run` ends with the code of its command too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit(pub u8);

impl Exit {
    pub const DONE: Self = Self(0);
    pub const FAILED: Self = Self(1);
    /// The command line or the settings make no sense.
    pub const USAGE: Self = Self(2);
    /// The store cannot be reached, refuses, or is not there.
    pub const STORE: Self = Self(3);
    /// Nothing was refused, but it did not happen in time.
    pub const TIMED_OUT: Self = Self(4);
    pub const ID_TAKEN: Self = Self(5);
    pub const WARNED: Self = Self(6);
    /// `run` alone: leadership was lost, and that was to be the end.
    pub const LOST: Self = Self(7);
    /// `demo` alone: Ctrl-C.
    pub const INTERRUPTED: Self = Self(130);
    pub const PIPE_CLOSED: Self = Self(141);
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
        let documented = [Exit::DONE, Exit::FAILED, Exit::USAGE, Exit::STORE, Exit::TIMED_OUT];
        for exit in documented.into_iter().chain([Exit::ID_TAKEN, Exit::WARNED, Exit::LOST]) {
            assert!(HELP.contains(&format!("\n  {}  ", exit.0)), "{exit:?}");
        }
    }
}
