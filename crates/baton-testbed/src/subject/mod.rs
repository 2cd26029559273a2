//! Any store that a URL opens, as a subject of the conformance suite.
//!
//! ```text
//!   Ground: the URL, and what can be done to the server ─┬─► InOneProcess ─┐
//!     url, restart, keep and restore a copy, corrupt     └─► Processes ────┴─► conformance::run
//!                                                             │ a process a handle
//!                                                             └ their clocks: one file
//!   keep_report ── one file a store in $BATON_CONFORMANCE_DIR, for the table of all
//! ```

mod ground;
mod keep;
mod local;
mod names;
mod on_ground;
mod one_process;
mod processes;

pub use ground::Ground;
pub use keep::keep_report;
pub(crate) use names::Names;
pub use on_ground::{Handles, OnGround};
pub use one_process::{Here, InOneProcess};
pub use processes::{Apart, Processes};
