//! The world of partitions: coordinators one after another over processes that come and go, with
//! the production machines of both sides.
//!
//! ```text
//!   seed ──► plan ──► world: terms granted one after another, each with a Coordinator;
//!                       │    processes, each with a Holder and the work that it started;
//!                       │    a store of documents, records and a view; clocks; a storm, then calm
//!                       │ facts: starts and ends of work, writes, what is left in the calm
//!                       ▼
//!                  invariants ──► PartitionOutcome ──► campaign ──► the command `partitions`
//! ```
//!
//! Leadership is scripted, since the election has a world of its own: terms have rising epochs, and
//! what is left of older ones goes on sending requests until it learns that it is over.

pub mod campaign;
mod fact;
mod fault;
mod invariants;
mod plan;
mod store;
mod world;

pub use fault::Fault;
pub use plan::Plan;
pub use world::run_plan;
