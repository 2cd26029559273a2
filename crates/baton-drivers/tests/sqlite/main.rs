//! The sqlite store, in one process and across processes.
//!
//! ```text
//!   one_process ─┐                     ┌─ file: the database, its copies, SQL behind its back
//!   processes ───┴─► conformance suite │  clock: time that every process reads, moved by hand
//!        └─ peer: a process of its own, one call a line
//!   restored ── the questions of every store to copies of the file
//!   batches  files  kills  locks  planted  reboot  refusals  start  sweep  upgrade
//!   written_before ── what only sqlite has
//! ```

mod batches;
mod beats;
mod clock;
mod conforms;
mod fence;
mod file;
mod files;
mod kills;
mod locks;
mod one_process;
mod peer;
mod planted;
mod processes;
mod reboot;
mod refusals;
mod restored;
mod start;
mod sweep;
mod upgrade;
mod written_before;
