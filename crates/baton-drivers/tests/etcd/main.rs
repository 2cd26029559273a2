//! The etcd store, on real servers.
//!
//! ```text
//!   conforms ──► conformance suite, a process a handle
//!     fixture: etcd, its copies, what is written behind the driver's back (client)
//!   restored ── the questions of every store to a snapshot
//!   traps  faults  cluster  spare  refusals  rights  round_trips  fence ── what only etcd has
//! ```

mod cluster;
mod conforms;
mod faults;
mod fence;
mod fixture;
mod peer;
mod raw_client;
mod refusals;
mod restored;
mod rights;
mod round_trips;
mod spare;
mod tls;
mod traps;
mod written_before;
