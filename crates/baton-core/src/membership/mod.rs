//! Membership: who is there. The leader alone reads all records and publishes a view.
//!
//! ```text
//!   every node ── beat ──► records ──members──► coordinator: registry ──► view ──► every node
//!                                                                         (with the beat's reply)
//! ```

mod publish;
mod registry;

pub use registry::Registry;
