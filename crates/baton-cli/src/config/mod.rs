//! What was configured, and where each value comes from.
//!
//! ```text
//!   weakest                                                     strongest
//!   profile ──► file (TOML) ──► environment (BATON_…) ──► flags ──► Config ──► checked()
//!                  └───────────────────┴────────────────────┘
//!                       table: one row a setting, its kind, its help
//!                  └──► ttl: the [[ttl]] tables, which only a file can have
//! ```

mod environment;
mod error;
mod file;
mod flags;
mod given;
mod nearest;
mod resolve;
mod source;
mod store_url;
mod table;
mod tree;
mod ttl;
mod value;

pub use environment::Environment;
pub use error::ConfigError;
pub use flags::{Flags, LimitFlags, NodeFlags, PlaceFlags};
pub use resolve::{Config, Lifeline};
pub use source::Source;
pub use store_url::StoreUrl;
pub use table::{Entry, TABLE};
pub use ttl::TtlTable;
