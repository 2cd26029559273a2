//! Real servers: each is started, killed, started again, paused and stepped.
//!
//! ```text
//!   lives ── start, kill -9, start again, stop, drop
//!   client ── just enough of the protocols to write and read something
//! ```

mod client;
mod clocks;
mod lives;
