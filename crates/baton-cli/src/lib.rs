//! The baton command, as a library: tests drive the same parts.
//!
//! ```text
//!   entry ─► cli (what was asked) ──► commands/ ──► error: an exit code, a message
//!                                        │
//!              config/ ◄── open_store ◄──┤ which store, which settings
//!              snapshot/ ◄───────────────┤ how a namespace stands
//!              node, serve_plugins ◄─────┤ a node that takes part, and what it does when it leads
//!              crash_notice ◄────────────┤ how soon a crash of this node would be noticed
//!              guard/ ◄──────────────────┤ a command that runs only while this node leads
//!              output/ ◄─────────────────┘ tables, sentences, JSON
//!   cluster/, attempts   real processes and waiting for them: for the demo, the tests, the benches
//!   cluster/owners/      real processes that own partitions: for the demo and the benches
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
#[cfg(target_os = "linux")]
pub mod guard;
mod nested_node;
mod node;
mod open_store;
pub mod output;
#[cfg(target_os = "linux")]
mod scheduled_command;
mod serve_plugins;
mod snapshot;
