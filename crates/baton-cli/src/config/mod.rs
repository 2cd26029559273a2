//! What was configured, and where each value comes from.
//!
//! ```text
//!   weakest                                                     strongest
//!   profile ──► file (TOML) ──► environment (BATON_…) ──► flags ──► Config ──► checked()
//!                  └───────────────────┴────────────────────┘
//!                       table: one row a setting, its kind, its help
//!                  └──► table_reader: tables that only a file can have
//!                         ├── ttl: [[ttl]], what has expired and is removed
//!                         ├── schedule: [[schedule]], commands and when they run
//!                         └── task_list: [[task_list]], partitions that are spread over nodes
//! ```

mod environment;
mod file;
mod flags;
mod resolve;
mod schedule;
mod setting_values;
mod store_url;
mod table;
mod table_reader;
mod task_list;
mod ttl;
mod value;

use std::path::PathBuf;

use baton_core::settings::InvalidSettings;

pub use environment::Environment;
pub use flags::{Flags, HealthFlags, NodeFlags, StoreFlags};
pub use resolve::Config;
pub use schedule::ScheduleTable;
pub use setting_values::Source;
pub use store_url::StoreUrl;
pub use table::{Entry, TABLE};
pub use ttl::TtlTable;

/// Why the configuration cannot be used: one line each, with source, field and value.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{}: {problem}", file.display())]
    Unreadable { file: PathBuf, problem: std::io::Error },
    #[error("{}:{line}: {message}", file.display())]
    NoToml { file: PathBuf, line: usize, message: String },
    #[error("{}: unknown setting {key}; {remedy}", file.display())]
    Unknown { file: PathBuf, key: String, remedy: String },
    /// `shown` is source, field and value; `message` goes on from there.
    #[error("{shown} {message}")]
    Value { shown: String, message: String },
    #[error("{0}; `baton settings` shows where each value comes from")]
    InvalidSettings(#[from] InvalidSettings),
    #[error("neither XDG_STATE_HOME nor HOME is set; name the store with --store")]
    NoHome,
}

impl ConfigError {
    /// What stands at this place is refused.
    pub fn refused(place: &str, problem: &impl ToString) -> Self {
        Self::Value { shown: format!("{place}:"), message: problem.to_string() }
    }
}

/// "Did you mean …": the known name most like a misspelt one, if one is similar enough.
pub fn nearest<'a>(misspelt: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let changes = known.map(|name| (strsim::levenshtein(misspelt, name), name));
    let (count, name) = changes.min_by_key(|(count, _)| *count)?;
    (count <= 3 && count * 2 < misspelt.len()).then_some(name)
}
