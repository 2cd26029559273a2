//! Membership: who is there. The leader alone reads all records and publishes a view.
//!
//! ```text
//!   every node ── beat ──► records ──members──► leader: registry ──► view ──► every node
//!                                                  publish          (with the beat's reply)
//!   announce: hints between nodes, so that neither waits for the next beat
//! ```

mod announce;
mod publish;
mod registry;

pub use registry::Registry;
