//! The s3 store on a real server, and on servers that are not as they should be.
//!
//! ```text
//!   conforms ── the suite across processes    ground: MiniStack, copies, what is no lease
//!     └─ peer: a process of its own           front: HTTP in between, and a test decides
//!   traps  round_trips ── on the real server, with or without something in front of it
//! ```

mod beats;
mod conforms;
mod front;
mod ground;
mod peer;
mod round_trips;
mod traps;
