//! The baton command, as a library.
pub mod config;
pub mod guard;
