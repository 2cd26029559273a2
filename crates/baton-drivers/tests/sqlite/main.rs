//! The sqlite store, in one process and across processes.
//!
//! ```text
//!   conforms ── the suite in one process and across processes
//!     ├─ by_hand: a clock that is moved by hand    file: the database, its copies, SQL
//!     └─ peer: a process of its own                      behind the store's back
//!   restored ── the questions of every store to copies of the file
//!   batches  files  kills  locks  planted  reboot  refusals  start  sweep  upgrade
//!   written_before ── what only sqlite has
//! ```

mod batches;
mod beats;
mod by_hand;
mod conforms;
mod fence;
mod file;
mod files;
mod kills;
mod locks;
mod peer;
mod planted;
mod reboot;
mod refusals;
mod restored;
mod start;
mod sweep;
mod upgrade;
mod written_before;
