//! The built program as people run it: real processes, real signals, a real file as the store.
//!
//! ```text
//!  test ── Cluster ──► baton run … -- baton tick ──► one log      start, deaths, succession,
//!    │                                                            pauses, handover, outage
//!    ├──── Running ──► baton run … -- sh -c SCRIPT                command, signals, lone, nested
//!    ├──── Running ──► baton once KEY -- sh -c SCRIPT         once, once_crashes
//!    └──── Running ──► baton status, history, watch, resign …     people, asked
//! ```
//!
//! Every test has a folder of its own, whose path marks its processes. What must come in an order
//! is compared exactly; what must come in time has room for a busy machine.

mod asked;
mod command;
mod deaths;
mod handover;
mod judge;
mod lone;
mod nested;
mod nodes;
mod once;
mod once_crashes;
mod outage;
mod pauses;
mod people;
mod running;
mod signals;
mod stage;
mod start;
mod succession;
