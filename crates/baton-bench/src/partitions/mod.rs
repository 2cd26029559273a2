//! Partitions on real processes: how fast they move, and that each has one owner at a time.
//!
//! ```text
//!   rebalance, chaos, soak ──► OwnerCluster ── starts, kills, drains, pauses ──► owner/ × N
//!               │               of baton-cli, with the history of what each noted ◄──┘
//!               └──► check: two owners at once? tokens that rise? late writes?
//! ```
//!
//! What the processes are, and what their logs show, is in `baton_cli::cluster::owners`. All times
//! are the owners' own, by the clock that every process of the machine reads alike.

mod chaos;
mod check;
mod cluster;
pub mod options;
mod owner;
mod rebalance;
mod soak;

pub use chaos::run as chaos;
pub use owner::own;
pub use rebalance::run as rebalance;
pub use soak::run as soak;
