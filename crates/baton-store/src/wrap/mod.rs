//! Wrappers around any store: they slow it down, break it, or write down what it did.
//!
//! ```text
//!   caller ── ten methods ──► Wrapped<L> ── one Call ──► L: Layer ── perform ──► inner store
//!                                                        Latency   waits before and after
//!                                                        Faults    fails, loses, doubles
//!                                                        Record    keeps the history
//! ```
//!
//! A layer decides how one call goes; [`Wrapped`] turns every method of the contract into a call,
//! so that no layer repeats them. Hints pass through untouched: they may be lost anyway.

mod call;
mod faults;
mod latency;
mod record;
mod wrapped;

pub use call::{Answer, Call, perform};
pub use faults::{Fault, Faults};
pub use latency::Latency;
pub use record::{Ended, Entry, Record};
pub use wrapped::{Layer, Wrapped};
