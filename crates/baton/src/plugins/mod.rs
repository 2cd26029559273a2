//! Plugins that come with baton. Each is off until it is registered, and has a folder of its own.
//!
//! ```text
//!   NodeBuilder::plugin(…)
//!        │
//!        ▼                   leader only, every work_interval
//!   plugin/ (the host) ────► ttl/       what has expired goes, in small fenced batches
//!                       ├──► counters/  additions from everywhere become one value
//!                       ├──► health/    one verdict with reasons ──► document baton:health
//!                       ├──► polls/     polls handed to live nodes ──► document baton:polls
//!                       └──► schedules/ each slot runs once ──► documents baton:schedules:N
//! ```
//!
//! They are plugins like the user's own.

pub mod counters;
pub mod health;
pub mod polls;
pub mod schedules;
pub mod ttl;
