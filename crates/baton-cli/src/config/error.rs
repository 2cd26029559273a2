//! Why the configuration cannot be used: one line each, with source, field and value.

use std::path::PathBuf;

use baton_core::ids::InvalidName;
use baton_core::settings::{InvalidSettings, UnknownProfile};

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// Name a file that is there.
    #[error("{}: {problem}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system said.
        problem: std::io::Error,
    },
    /// Mend the file.
    #[error("{}:{line}: {message}", file.display())]
    NoToml {
        /// The file.
        file: PathBuf,
        /// Where.
        line: usize,
        /// What the parser said.
        message: String,
    },
    /// Spell the name as baton does.
    #[error("{}: unknown setting {key}; {remedy}", file.display())]
    Unknown {
        /// The file.
        file: PathBuf,
        /// The name.
        key: String,
        /// What may have been meant.
        remedy: String,
    },
    /// Write the value as the message says.
    #[error("{said} {complaint}")]
    Value {
        /// Source, field and value.
        said: String,
        /// What is wrong.
        complaint: String,
    },
    /// Choose a known profile.
    #[error("{place}: {problem}")]
    Profile {
        /// Where it was named.
        place: String,
        /// What is wrong.
        problem: UnknownProfile,
    },
    /// Choose another name.
    #[error("{place}: {problem}")]
    Name {
        /// Where it was given.
        place: String,
        /// What is wrong.
        problem: InvalidName,
    },
    /// Change one of the two settings.
    #[error("{0}; `baton settings` shows where each value comes from")]
    InvalidSettings(#[from] InvalidSettings),
    /// Say where the store is.
    #[error("neither XDG_STATE_HOME nor HOME is set; say where the store is with --store")]
    NoHome,
}
