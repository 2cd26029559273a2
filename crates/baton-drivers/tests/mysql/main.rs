//! The mysql store on a real server.
//!
//! ```text
//!   ground: a server, SQL behind the store's back, copies of its data folder
//!     └─► conforms: the whole suite, a process a handle (peer)
//! ```

mod conforms;
mod ground;
mod peer;
