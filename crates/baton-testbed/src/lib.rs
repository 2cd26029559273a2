//! What baton's tests and benches stand on: real servers, faulty networks, full disks, and
//! processes of their own.
//!
//! ```text
//!   install ──► Server ── a temporary folder, a free port, a leash
//!      disk ──────┤ url, kill, stop, start again, pause, step the clock
//!                 ▼
//!               Proxy ── delays, loses, refuses, cuts, counts
//!                 ▼
//!   Fixture ── what a store's test can do to its server
//!     ├─ InOneProcess ─┐
//!     └─ Processes ────┴─► baton_store::conformance
//!          └─ peer::Process: the test program again, one call a line, killed with -9
//!   paused::PausedLeader ── the test program again, stopped right before it writes
//!   expiry ── what every sweep must do     tables ── what every sweep of a table must do
//!   restored ── an older copy of the data is put back
//!   written_before ── a store that an earlier version wrote is opened by this one
//!   networks ── two of them, and firewalls between
//!   contender ── one node's words, without a core     wait ── for what must come
//!   counting ── everything that can be done to counters
//!   urls ── broken ones, with a secret in them
//! ```
//!
//! Nothing here outlives the test: a server is killed when its [`Server`] is dropped, and by its
//! leash when the test's process is killed.

pub mod contender;
pub mod counting;
pub mod disk;
mod error;
pub mod expiry;
pub mod faketime;
mod folders;
mod install;
pub mod networks;
pub mod paused;
pub mod peer;
pub mod proxy;
pub mod restored;
pub mod server;
pub mod subject;
pub mod tables;
pub mod urls;
pub mod wait;
pub mod written_before;

pub use error::TestbedError;
pub use folders::{cache, target};
pub use install::{CURL, ETCDCTL, PROMTOOL, Program, from_pypi};
pub use proxy::{ConnectionFault, Counts, Proxy};
pub use server::{Kind, Options, Port, Server};
