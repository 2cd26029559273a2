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

#![cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "`baton run` needs Linux"))]

pub mod attempts;
pub mod cli;
pub mod cluster;
pub mod commands;
mod config;
mod crash_notice;
pub mod entry;
pub mod error;
mod exit;
#[cfg(target_os = "linux")]
pub mod guard;
mod nested_node;
mod node;
mod open_store;
pub mod output;
mod serve_plugins;
mod snapshot;
mod telemetry;
