//! Real servers: each is started, killed, started again, paused and stepped.
//!
//! ```text
//!   lives ── start, kill -9, start again, stop, pause, drop
//!   clocks ── a wall clock stepped    leash ── a test killed with -9
//!   disks ── a disk that is full      named ── a server that is not ours
//!   client ── just enough of the protocols to write and read something
//! ```

mod client;
mod clocks;
mod disks;
mod leash;
mod lives;
mod named;
