//! The stores that baton can coordinate through.
//!
//! ```text
//!   open(url) ──► sqlite://path   one file, every process of one machine
//! ```
