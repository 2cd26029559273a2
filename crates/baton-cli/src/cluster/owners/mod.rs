//! Processes that share the partitions of task lists: started, killed, drained; and what each noted
//! of its own work.
//!
//! ```text
//!   OwnerCluster ── starts, kills, drains, pauses ──► OwnerProcess × N
//!        │                                              │ own: a node, and its partitions
//!        ▼                                              ▼ Works: start, stop, still owned?
//!     History ◄── what each noted in a file of its own ◄── OwnerLog
//!        └──► Findings: two owners at once? a token that does not rise?
//!        └──► EventMoves: how many partitions moved, how long each had no owner
//! ```
//!
//! For the demo and the benches. All times are the owners' own, by the clock that every process of
//! the machine reads alike.

mod cluster;
mod findings;
mod history;
mod log;
mod moves;
mod options;
mod own;
mod process;
mod works;

pub use cluster::OwnerCluster;
pub use findings::Findings;
pub use history::{History, ProcessId, Work};
pub use log::{OwnerLine, OwnerLog};
pub use moves::EventMoves;
pub use options::OwnerOptions;
pub use own::{OwnerSignals, own};
pub use process::{OwnerPlan, OwnerProcess};
pub use works::Works;
