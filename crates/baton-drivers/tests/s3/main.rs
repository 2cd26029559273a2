//! The s3 store on a real server, and on servers that are not as they should be.
//!
//! ```text
//!   conforms ── the suite across processes   fixture: MiniStack, copies, what is no lease
//!     └─ peer: a process of its own           http_proxy: HTTP in between, and a test decides
//!   documents  faults  fence  refusals  restored  rights  round_trips  sweep  traps
//!   written_before ── what only s3 has
//! ```

mod conforms;
mod documents;
mod faults;
mod fence;
mod fixture;
mod http_proxy;
mod peer;
mod refusals;
mod restored;
mod rights;
mod round_trips;
mod sweep;
mod traps;
mod written_before;
