//! The s3 store on a real server, and on servers that are not as they should be.
//!
//! ```text
//!   conforms ── the suite across processes     ground: MiniStack, copies, what is no lease
//!     └─ peer: a process of its own
//! ```

mod conforms;
mod ground;
mod peer;
