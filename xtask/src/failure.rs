//! What can go wrong in a chore, and the exit code it ends with.

use std::io;
use std::path::PathBuf;

/// Why a chore did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The program is missing or may not be run.
    #[error("could not start `{command}`: {source}")]
    NotStarted {
        /// What was to run.
        command: String,
        /// What the system said.
        source: io::Error,
    },
    /// The program ran and was not content.
    #[error("`{command}` {}", ending(*code))]
    Exited {
        /// What ran.
        command: String,
        /// Its exit code; `None` if a signal ended it.
        code: Option<i32>,
    },
    /// A file is listed but cannot be read.
    #[error("could not read {}: {source}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A log or its folder cannot be made.
    #[error("could not write {}: {source}", path.display())]
    Unwritable {
        /// Which one.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Tests failed, and were named with the commands that repeat them.
    #[error("{failed} tests failed")]
    Tests {
        /// How many.
        failed: usize,
    },
    /// No test ran, so that nothing was shown.
    #[error("no test ran")]
    NoTests,
    /// A file or folder of an earlier run stays.
    #[error("could not remove {}: {source}", path.display())]
    Unremovable {
        /// Which one.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A store did not write its report, or failed cases.
    #[error("{failed} cases failed; stores without a report: {}", some(missing))]
    NotConforming {
        /// The stores without a report.
        missing: String,
        /// How many cases failed, over all stores.
        failed: usize,
    },
    /// A server was started and did not say where it is.
    #[error("baton-servers started {server} and printed no URL of it")]
    NoUrl {
        /// Which.
        server: &'static str,
    },
    /// `cargo metadata` answered something else than expected.
    #[error("cargo metadata: {0}")]
    Metadata(String),
    /// Tidy has printed this many findings.
    #[error("tidy found {0} to mend")]
    Untidy(usize),
    /// A step of `cargo xtask test` failed.
    #[error("step `{step}` failed: {source}\nrepeat it with: {repeat}")]
    Step {
        /// Its short name.
        step: &'static str,
        /// The command that runs this step alone.
        repeat: String,
        /// Why it failed.
        source: Box<Failure>,
    },
}

impl Failure {
    /// The exit code of xtask: that of the program it ran if there is one, else 1.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Exited { code, .. } => {
                code.and_then(|code| u8::try_from(code).ok()).filter(|code| *code != 0).unwrap_or(1)
            }
            Self::Step { source, .. } => source.exit_code(),
            _ => 1,
        }
    }
}

fn some(names: &str) -> &str {
    if names.is_empty() { "none" } else { names }
}

fn ending(code: Option<i32>) -> String {
    code.map_or_else(
        || "was ended by a signal".to_owned(),
        |code| format!("ended with exit code {code}"),
    )
}

#[cfg(test)]
mod tests {
    use super::Failure;

    fn exited(code: Option<i32>) -> Failure {
        Failure::Exited { command: "cargo run".to_owned(), code }
    }

    #[test]
    fn a_child_s_exit_code_is_passed_on() {
        assert_eq!(exited(Some(7)).exit_code(), 7);
        let step = Failure::Step {
            step: "replay",
            repeat: String::new(),
            source: Box::new(exited(Some(101))),
        };
        assert_eq!(step.exit_code(), 101);
    }

    #[test]
    fn no_failure_ends_with_success() {
        assert_eq!(exited(None).exit_code(), 1);
        assert_eq!(exited(Some(256)).exit_code(), 1);
        assert_eq!(exited(Some(0)).exit_code(), 1);
        assert_eq!(Failure::Untidy(3).exit_code(), 1);
    }
}
