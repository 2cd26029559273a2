//! A server of a test's own.
//!
//! ```text
//!   Kind ──► recipe: postgres, mariadb, redis, … ── program, arguments, environment
//!     ports: free, locked          data: made once, copied
//!              └────────► started ◄───────┘
//!                           │ start, stop, kill, pause, step the clock
//!        process: sh holds the leash ──► the server ──► its children (tree)
//!                           │ ready: asked in its own protocol
//!   external ── a server that the environment names instead; not ours to stop
//!   handle ── Server: either of the two
//!   detached ── one without a leash, for a day of work on baton
//! ```

mod data;
mod detached;
mod etcd;
mod external;
mod handle;
mod kind;
mod mariadb;
mod mysql;
mod pgbouncer;
mod ports;
mod postgres;
mod process;
mod ready;
mod recipe;
mod redis;
mod s3;
mod started;
mod tree;
mod zookeeper;

pub use detached::Detached;
pub use handle::Server;
pub use kind::Kind;
pub use ports::Port;
pub use started::Options;
pub(crate) use tree::{signal, stop};
