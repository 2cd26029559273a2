//! Where a value comes from, for messages and for `baton settings`.

use std::fmt;
use std::path::PathBuf;

use baton_core::settings::Profile;

/// Where a value comes from, the weakest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    BuiltIn,
    Profile(Profile),
    Derived(Vec<&'static str>),
    File(PathBuf),
    Variable(String),
    Flag(String),
}

impl Source {
    /// What was said there, as it was written, for the beginning of a message.
    pub fn shown(&self, key: &str, given: &str) -> String {
        match self {
            Self::BuiltIn | Self::Profile(_) | Self::Derived(_) => format!("{key} = {given}"),
            Self::File(file) => format!("{}: {key} = {given}", file.display()),
            Self::Variable(name) => format!("{name}={given}"),
            Self::Flag(flag) => format!("{flag} {given}"),
        }
    }

    /// The place itself, for the beginning of a message that repeats the value.
    pub fn place(&self, key: &str) -> String {
        match self {
            Self::BuiltIn | Self::Profile(_) | Self::Derived(_) => key.to_owned(),
            Self::File(file) => format!("{}: {key}", file.display()),
            Self::Variable(name) | Self::Flag(name) => name.clone(),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("default"),
            Self::Profile(profile) => write!(f, "profile {profile}"),
            Self::Derived(from) => write!(f, "derived from {}", from.join(" and ")),
            Self::File(file) => write!(f, "{}", file.display()),
            Self::Variable(name) | Self::Flag(name) => f.write_str(name),
        }
    }
}
