//! Plugins that come with baton: what nearly every coordinator has to do.
//!
//! ```text
//!   Node ── hosts ──► counters   additions from everywhere become one value
//! ```
//!
//! They are plugins like the user's own.

pub mod counters;
