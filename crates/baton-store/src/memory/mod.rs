//! The executable specification: what a store does, written so that it can be read.
//!
//! ```text
//!   MemoryStore ── a lock, a clock ──► Space (one namespace): lease, registry, documents, …
//!                                        ▲ pure: every step takes the time it happens at
//!   simulator ── its own clocks, faults ─┤
//!   s3 driver ── kept in an object ──────┘
//! ```

mod counters;
mod documents;
mod history;
mod lease;
mod registry;
mod space;
mod store;
#[cfg(test)]
pub(crate) mod testing;

pub use counters::Counters;
pub use registry::registration;
pub use space::{Space, StepTime};
pub use store::MemoryStore;
