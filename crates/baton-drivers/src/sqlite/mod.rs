//! One file, shared by any number of processes of one machine.
//!
//! ```text
//!   SqliteStore ── Job ──► worker thread ── everything queued, one transaction ──► app.db
//!    a handle   ◄─ answer ─┘  │ connect: is the path still the file that is open?   app.db-wal
//!                             │ lineage: has the data gone back?                    app.db-shm
//!                             └ operations: one call ── lease, registry, history, counters
//!   reader ── looks, and makes nothing: for reading commands
//!   sweep ── expired rows of the user's own, in a file of the user's own ── sweep_plan
//!   process locks ── one locked file a boot, as long as its process lives ──► app.db-boots/
//! ```
//!
//! Which clock judges: leases and ages the time since the machine was booted, which all processes
//! of the machine read alike and which cannot be stepped; it is read while the write lock is held.
//! The wall clock stamps the term history for people, and numbers lineages, upwards only.
//!
//! Deaths are known from the kernel. A process locks a file of its own before it first beats, and
//! the lock ends with the process. A stored reading of another boot of the machine is from a
//! process that is gone.
//!
//! What cannot be noticed: a file whose *content* is replaced in place, by an older copy of the
//! same lineage, while it keeps its inode. Put a copy back by renaming it, as
//! [`SqliteOpenError::StaleLog`] explains.

mod boots;
mod busy_handler;
mod config;
mod connect;
mod context;
mod counters;
mod error;
pub mod fence;
mod file_identity;
mod history;
mod lease;
mod lineage;
mod locks;
mod machine;
mod operations;
mod reader;
mod records;
mod registry;
mod schema;
mod store;
mod sweep;
mod sweep_plan;
mod worker;
mod write_ahead_log;

pub use config::SqliteConfig;
pub use error::SqliteOpenError;
pub use locks::process_locks;
pub(crate) use reader::SqliteReader;
/// The client library, in the version that [`fence`] takes transactions of.
pub use rusqlite;
pub use store::SqliteStore;
pub(crate) use sweep::sweep;
