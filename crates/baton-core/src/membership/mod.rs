//! Membership: who is there. The leader alone reads all records and publishes a view.
//!
//! ```text
//!   every node ── beat ──► records ──members──► leader: registry ──► view ──► every node
//!                                                  publish          (with the beat's reply)
//!   announce: hints between nodes, so that neither waits for the next beat
//!   partitions: what the same records and views carry for partitions
//! ```

mod announce;
mod partitions;
mod publish;
mod registry;

pub use partitions::{MembersReading, PartitionMessages};
pub use registry::Registry;
