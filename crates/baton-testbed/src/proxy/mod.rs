//! A TCP proxy between a client and a server, and what can happen on the way.
//!
//! ```text
//!   client ──► Proxy ─ a thread with a runtime of its own ──► server
//!                │ listen: accepts, refuses
//!                │ connection: two pumps, up and down, each asks for the fault before it passes on
//!                └ counts: connections, round trips, bytes
//!   test ── set(fault), cut() ──► every connection at once
//! ```

mod connection;
mod counts;
mod fault;
mod handle;
mod listen;

pub use counts::Counts;
pub use fault::ConnectionFault;
pub use handle::Proxy;
