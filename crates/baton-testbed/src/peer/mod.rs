//! A process of its own that has a store open: one call a line in, one answer a line out.
//!
//! ```text
//!   test program ── Process ──► the same program again, running one test:
//!     Remote: a layer             peer::a_peer_answers_from_its_own_process
//!     around a store                └─ serve_if_asked: open, answer, until stdin closes
//! ```
//!
//! A test program that wants peers has a module `peer` with the test of that name. The test calls
//! [`serve_if_asked`] first, and returns if it has served; otherwise it asserts something of a
//! peer.

mod messages;
mod process;
mod remote;
mod serve;

pub use process::{Process, Start};
pub use remote::Remote;
pub use serve::serve_if_asked;

/// The test that serves.
const TEST: &str = "peer::a_peer_answers_from_its_own_process";
