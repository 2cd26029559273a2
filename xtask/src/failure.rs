//! What can go wrong in a chore, and the exit code it ends with.

use std::io;
use std::path::PathBuf;

/// Why a chore did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("could not start `{command}`: {source}")]
    NotStarted { command: String, source: io::Error },
    /// `None` if a signal ended it.
    #[error("`{command}` {}", ending(*code))]
    Exited { command: String, code: Option<i32> },
    /// `what` is "read", "write" or "remove".
    #[error("could not {what} {}: {source}", path.display())]
    File { what: &'static str, path: PathBuf, source: io::Error },
    /// They were named with the commands that repeat them.
    #[error("{failed} tests failed")]
    Tests { failed: usize },
    #[error("no test ran")]
    NoTests,
    /// `missing` are the stores without a report.
    #[error("{failed} cases failed; stores without a report: {}", some(missing))]
    NotConforming { missing: String, failed: usize },
    #[error("baton-servers started {server} and printed no URL of it")]
    NoUrl { server: &'static str },
    #[error("cargo metadata: {0}")]
    Metadata(serde_json::Error),
    #[error("tidy found {0} to fix")]
    Untidy(usize),
    /// `repeat` is the command that runs this step alone.
    #[error("step `{step}` failed: {source}\nrepeat it with: {repeat}")]
    Step { step: &'static str, repeat: String, source: Box<Failure> },
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
