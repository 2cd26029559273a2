//! The baton command, as a library: tests and benches drive the same parts.
pub mod guard;
