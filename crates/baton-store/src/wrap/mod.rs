//! Wrappers around any store: they slow it down, break it, or write down what it did.
//!
//! ```text
//!   caller ── Call ──► Wrapped<L> ──► L: Layer ── Call ──► inner store
//!                                     Latency   waits before and after
//!                                     Faults    fails, loses, doubles
//!                                     Record    keeps the history
//!                                     Count     counts and times, by kind
//! ```
//!
//! A layer decides how one call goes. Hints pass through untouched: they may be lost anyway.

mod count;
mod faults;
mod latency;
mod record;
mod wrapped;

pub use count::{BOUNDS, Count, Counted, Observer, Outcome};
pub use faults::{Fault, Faults};
pub use latency::Latency;
pub use record::{Ended, Entry, Record};
pub use wrapped::{Layer, Wrapped};
