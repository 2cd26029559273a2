//! Every state that a few nodes can reach within bounds, and the promises checked in each.
//!
//! ```text
//!   bounds ──► model ──► first state ──► steps ──► apply ──► next state ──► check
//!                            ▲                                   │            │ broken
//!                            └───── search: new ones only ◄──────┘            ▼
//!                                   (visited: 128-bit fingerprints)     path of steps
//! ```
//!
//! The nodes are production cores and the store is the executable specification; both run
//! unmodified. Where the seeded simulator draws one of the things that can happen next, the search
//! here takes all of them. It is authoritative for one clock, which counts whole ticks: the nodes'
//! and the store's clocks are that clock with an offset each, since offsets must never matter.
//!
//! What is left out, to keep the number of states within reach, and why that is fair:
//! - Clock rates do not differ, and what is shorter than a tick does not show: `lease.rs` has the
//!   arithmetic, the seeded simulator the drift.
//! - Reading members and publishing a view takes no time and never fails: both leave the lease as
//!   it is.
//! - A message is served and answered within its tick unless it is slow, late or lost, which counts
//!   as a fault; so do a pause, a crash, a start after a crash, and a resignation.
//! - A due timer of a node that is not paused fires within its tick, the earliest first.
//! - A hint arrives within the tick it was sent in, or never.

mod act;
mod apply;
mod bounds;
mod check;
mod describe;
mod node;
mod search;
mod state;
mod step;
mod store;
#[cfg(test)]
mod tests;
mod visited;

pub use bounds::Bounds;
pub use search::{Findings, search};
pub use visited::{Visited, fingerprint};
