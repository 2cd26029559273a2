//! The baton command, as a library: tests drive the same parts.
//!
//! ```text
//!   entry ─► cli (what was asked) ──► commands/ ──► exit, error
//!                                        │
//!              config/ ◄── place ◄───────┤ which store, which settings
//!              snapshot/ ◄───────────────┤ how a namespace stands
//!              notice ◄──────────────────┤ how soon a crash of this node would be noticed
//!              housekeeping ◄────────────┤ what a served node does when it leads
//!              output/ ◄─────────────────┘ tables, sentences, JSON
//!   telemetry       traces and metrics for a collector, if one was named
//!   run/ + guard/   a command that runs only while this node leads
//!   cluster/, look  real processes and waiting for them: for the demo, the tests, the benches
//! ```
//!
//! stdout is data, stderr is everything else. Reading commands change nothing and make no file.

pub mod attempts;
mod clap_error;
pub mod cli;
pub mod cluster;
pub mod commands;
mod config;
mod crash_notice;
mod demo;
pub mod entry;
pub mod error;
mod exit;
pub mod guard;
mod nested_node;
mod node;
mod open_store;
pub mod output;
mod run;
mod serve_plugins;
mod snapshot;
mod telemetry;
