//! What was configured, and where each value comes from.
//!
//! ```text
//!   weakest                                                     strongest
//!   profile ──► file (TOML) ──► environment (BATON_…) ──► flags ──► Config ──► checked()
//!                  └───────────────────┴────────────────────┘
//!                       table: one row a setting, its kind, its help
//!                  └──► ttl: the [[ttl]] tables, which only a file can have
//! ```

mod dotted;
mod environment;
mod error;
mod file;
mod flags;
mod given;
mod resolve;
mod source;
mod store_url;
mod table;
mod ttl;
mod value;

pub use environment::Environment;
pub use error::ConfigError;
pub use flags::{Flags, HealthFlags, NodeFlags, StoreFlags};
pub use resolve::Config;
pub use source::Source;
pub use store_url::StoreUrl;
pub use table::{Entry, TABLE};
pub use ttl::TtlTable;

/// "Did you mean …": the known name most like a misspelt one, if one is similar enough.
fn nearest<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let changes = known.map(|name| (strsim::levenshtein(given, name), name));
    let (count, name) = changes.min_by_key(|(count, _)| *count)?;
    (count <= 3 && count * 2 < given.len()).then_some(name)
}
