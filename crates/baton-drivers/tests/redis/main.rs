//! The redis store, on real servers.
//!
//! ```text
//!   ground: a server, what can be done to it ──► conforms (peer: a process of its own)
//!   cluster: beats, names, waiting            ──► traps  faults  refusals  rights  round_trips  fence
//! ```

mod conforms;
mod ground;
mod peer;
