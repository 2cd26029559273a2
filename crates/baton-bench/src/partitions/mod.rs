//! Partitions on real processes: how fast they move, and that each has one owner at a time.
//!
//! ```text
//!   rebalance, chaos, soak ──► cluster ── starts, kills, drains, pauses ──► process × N
//!                                 │                                            │ owner/: a node,
//!                                 ▼                                            ▼ its partitions
//!                 history ◄── what each noted in a file of its own ◄──────── a log
//!                    └──► check: two owners at once? tokens that rise? late writes? gaps?
//! ```
//!
//! All times are the owners' own, by the clock that every process of the machine reads alike.

mod chaos;
mod check;
mod cluster;
mod history;
pub mod options;
mod owner;
mod process;
mod rebalance;
mod soak;

pub use chaos::run as chaos;
pub use owner::own;
pub use rebalance::run as rebalance;
pub use soak::run as soak;
