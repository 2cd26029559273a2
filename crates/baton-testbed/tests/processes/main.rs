//! Processes of their own, on the embedded store, which needs no server.
//!
//! ```text
//!   peer ── a process answers, is killed, is paused
//!   conforms ── the suite across processes and in one
//!   file ── the fixture: a database file
//! ```

mod conforms;
mod file;
mod peer;
