//! The postgres store, on real servers.
//!
//! ```text
//!   fixture: a server, copies of its data, SQL behind its back ──► conforms
//!   peer: a process a handle ─────────────────────────────────────┘
//!   contender: one node's words ──► traps  copies  restored  faults  failover  round_trips
//!   refusals  rights  upgrade: what cannot be opened, what is enough, what was made before
//!   sweep ── the user's own expired rows
//!   pooler ── PgBouncer between baton and the server
//!   fence ── paused: an old leader that was stopped before its write
//! ```

mod conforms;
mod copies;
mod failover;
mod faults;
mod fence;
mod fixture;
mod hints;
mod paused;
mod peer;
mod pooler;
mod refusals;
mod restored;
mod rights;
mod round_trips;
mod sweep;
mod tls;
mod traps;
mod upgrade;
mod written_before;
