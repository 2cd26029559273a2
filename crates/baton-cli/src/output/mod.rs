//! What people and programs read. stdout is data, stderr is the rest.
//!
//! ```text
//!   commands ──► table, style, times ──► text with colours ───────────┐
//!            └─► data for programs ───────────────────────────────────┴─► stdout
//!            └─► live: a region drawn again and again, on a terminal only
//!            └─► log: text or JSON lines ──────────────────────────────► stderr
//! ```

pub(crate) mod live;
pub(crate) mod log;
pub mod stdout;
pub mod style;
pub mod table;
pub(crate) mod times;
