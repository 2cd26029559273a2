//! The guard process with real commands, real signals and real deaths.
//!
//! ```text
//!  test ── Guard ──► baton guard ──► CMD …            endings, stopping, windows
//!  test ──► driver: Guard ──► baton guard ──► CMD …   deaths: of the driver, of the guard
//! ```
//!
//! Every command carries a mark in its environment, and so does whatever descends from it: what is
//! left of it can be found however it tried to get away.

mod deaths;
mod driver;
mod endings;
mod stage;
mod stopping;
mod windows;
