//! Any store that a URL opens, as a subject of the conformance suite.
//!
//! ```text
//!   Fixture: the URL, and what can be done to the server ─┬─► InOneProcess ─┐
//!     url, restart, keep and restore a copy, corrupt      └─► Processes ────┴─► conformance::run
//!                                                             │ a process a handle
//!                                                             └ their clocks: one file
//!   keep_report ── one file a store in $BATON_CONFORMANCE_DIR, for the table of all
//! ```

mod fixture;
mod keep;
mod names;
mod one_process;
mod peer_backend;
mod processes;
mod with_handles;

pub use fixture::Fixture;
pub use keep::keep_report;
pub(crate) use names::Names;
pub use one_process::{InOneProcess, LocalHandles};
pub use processes::{ProcessHandles, Processes};
pub use with_handles::{FixtureSubject, Handles};
