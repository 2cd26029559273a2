//! A server of a test's own.
//!
//! ```text
//!   Kind ──► recipe: postgres, mariadb, redis, … ── program, arguments, environment
//!     ports: free, locked          data: made once, copied
//!              └─────────► ours ◄─────────┘
//!                           │ start, stop, kill, pause, step the clock
//!        process: sh holds the leash ──► the server ──► its children (tree)
//!                           │ ready: asked in its own protocol
//!   named ── a server that the environment names instead; not ours to stop
//!   handle ── Server: either of the two
//!   detached ── one without a leash, for a day of work on baton
//! ```

mod data;
mod detached;
mod etcd;
mod handle;
mod kind;
mod mariadb;
mod mysql;
mod named;
mod ours;
mod pgbouncer;
mod ports;
mod postgres;
mod process;
mod ready;
mod recipe;
mod redis;
mod s3;
mod tree;
mod zookeeper;

pub use detached::Detached;
pub use handle::Server;
pub use kind::Kind;
pub use ours::Options;
pub use ports::Port;
pub(crate) use tree::{signal, stop};
