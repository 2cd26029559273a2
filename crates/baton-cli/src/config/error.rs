//! Why the configuration cannot be used: one line each, with source, field and value.

use std::path::PathBuf;

use baton_core::ids::InvalidName;
use baton_core::settings::{InvalidSettings, UnknownProfile};

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{}: {problem}", file.display())]
    Unreadable { file: PathBuf, problem: std::io::Error },
    #[error("{}:{line}: {message}", file.display())]
    NoToml { file: PathBuf, line: usize, message: String },
    #[error("{}: unknown setting {key}; {remedy}", file.display())]
    Unknown { file: PathBuf, key: String, remedy: String },
    /// `given` is source, field and value; `message` goes on from there.
    #[error("{given} {message}")]
    Value { given: String, message: String },
    #[error("{place}: {problem}")]
    Profile { place: String, problem: UnknownProfile },
    #[error("{place}: {problem}")]
    Name { place: String, problem: InvalidName },
    #[error("{0}; `baton settings` shows where each value comes from")]
    InvalidSettings(#[from] InvalidSettings),
    #[error("neither XDG_STATE_HOME nor HOME is set; name the store with --store")]
    NoHome,
}
