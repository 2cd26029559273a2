//! The postgres store, on real servers.
//!
//! ```text
//!   ground: a server, copies of its data, SQL behind its back ──► conforms (peer: a process a handle)
//! ```

mod conforms;
mod ground;
mod peer;
