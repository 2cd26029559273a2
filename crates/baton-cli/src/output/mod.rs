//! What people and programs read. stdout is data, stderr is the rest.
//!
//! ```text
//!   commands ──► table, style, times, sentence ──► text with colours ──► say ──► stdout
//!            └─► json ─────────────────────────────────────────────────────────► stdout
//!            └─► live: a region drawn again and again, on a terminal only
//!            └─► log: text or JSON lines ──────────────────────────────────────► stderr
//! ```

pub mod json;
pub mod live;
pub mod log;
pub mod say;
pub mod sentence;
pub mod style;
pub mod table;
pub mod times;
pub mod wrap;
