//! The stores that baton can coordinate through.
//!
//! ```text
//!   open(url) ──► sqlite://path   one file, every process of one machine
//!             └─► memory://       this process alone; for trying things out
//! ```

mod open;
#[cfg(feature = "sqlite")]
pub mod sqlite;

pub use open::{OpenError, open};
