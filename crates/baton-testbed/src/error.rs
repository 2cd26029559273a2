//! What can go wrong on the testbed, and what to do about it.

use std::io;

/// Why something could not be arranged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TestbedError {
    /// The server was not started here.
    #[error(
        "the server named by {variable} is not ours to stop; unset it and one is started for the \
         test"
    )]
    NotOurs {
        /// The environment variable.
        variable: &'static str,
    },
    /// The environment names no server.
    #[error("{variable} is {given:?}; name a server as in {example}")]
    NoServer {
        /// The environment variable.
        variable: &'static str,
        /// What it says.
        given: String,
        /// What it could say.
        example: String,
    },
    /// A program is missing, and may not be installed by this user.
    #[error("{program} is not installed; install {package}, as root: {command}")]
    NotInstalled {
        /// The program.
        program: &'static str,
        /// What to install.
        package: &'static str,
        /// How.
        command: String,
    },
    /// A command of the harness failed.
    #[error("`{command}` failed: {said}")]
    Command {
        /// The command.
        command: String,
        /// The end of what it said.
        said: String,
    },
    /// The server ended, or does not answer.
    #[error("{server} is not ready: {what}; its log ends with: {log}")]
    NotReady {
        /// Which server.
        server: &'static str,
        /// What was seen of it.
        what: String,
        /// The end of its log.
        log: String,
    },
    /// The server does not run.
    #[error("{server} does not run; start it again first")]
    NotRunning {
        /// Which server.
        server: &'static str,
    },
    /// The server reads the machine's clock.
    #[error("{server} reads the machine's clock; start it with `faketime` to step it")]
    RealClock {
        /// Which server.
        server: &'static str,
    },
    /// This machine or this user cannot bring it about.
    #[error("{what} cannot be arranged here: {why}")]
    NotArrangeable {
        /// What was wanted.
        what: &'static str,
        /// What is in the way.
        why: String,
    },
    /// The machine refused something.
    #[error("{what}: {source}")]
    Machine {
        /// What was tried.
        what: String,
        /// What came of it.
        source: io::Error,
    },
}

/// Says what was tried.
pub(crate) trait ErrorContext<T> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T, TestbedError>;
}

impl<T, E: Into<io::Error>> ErrorContext<T> for Result<T, E> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T, TestbedError> {
        self.map_err(|error| TestbedError::Machine { what: what(), source: error.into() })
    }
}
