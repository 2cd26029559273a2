//! Wrappers around any store: they break it, count its calls, or write down what it did.
//!
//! ```text
//!   caller ── Call ──► Wrapped<L> ──► L: Layer ── Call ──► inner store
//!                                     Faults    fails, loses, doubles
//!                                     Record    keeps the history
//!                                     Count     counts and times, by kind
//! ```
//!
//! A layer decides how one call goes. Hints pass through untouched: they may be lost anyway.

mod count;
mod faults;
mod record;
mod wrapped;

pub use count::{BOUNDS, Count, Counted, Observer, Outcome};
pub use faults::{CallFault, Faults};
pub use record::{Ended, Entry, Record};
pub use wrapped::{Layer, Wrapped};
