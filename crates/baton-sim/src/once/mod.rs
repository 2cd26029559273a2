//! The third world: processes that wait for work that is done once for a key, in every state that
//! they can reach within bounds.
//!
//! ```text
//!   bounds ──► first state ──► steps ──► apply ──► next state ──► witness ──► calm: do all end?
//!                  ▲            all of them            │             │ broken      │ no
//!                  └──── search: new ones only ◄───────┘             ▼             ▼
//!                                                               the path of steps to it
//! ```
//!
//! The rules are the production ones (`baton_core::schedule::once`). Leadership is scripted, since
//! the election has worlds of its own: one term at a time, and the work of a term has ended before
//! the next is granted. A process whose term is over goes on sending requests until it learns so.
//! A process is started, reads the record, waits, looks, leads, runs, and ends; then another one
//! may be started in its slot.
//!
//! What costs a fault: a write whose answer is lost (it reaches the store before, later or never),
//! a crash, a term that ends, a grant that no process learns of, a run that is given back without
//! an end. Reads are answered late without that: a record may be out of date when it arrives. A
//! request that fails is sent again and changes nothing, so it is left out; so is the time of day.

mod apply;
mod calm;
mod search;
mod state;
mod step;
#[cfg(test)]
mod tests;
mod witness;

pub use search::{Findings, search};
pub use state::Bounds;

/// The promise of `docs/guarantees.md` to which all checks here belong.
pub const PROMISE: &str = "S9";
