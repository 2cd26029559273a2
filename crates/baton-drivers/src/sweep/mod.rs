//! What has expired in the user's own tables, keys and objects, and how it goes.
//!
//! ```text
//!   open(url, target, strategy) ──► postgres  mysql  sqlite    Table: an expiry column, or an age
//!                               ├─► redis                      Keys: a sorted set of expiries
//!                               └─► s3                         Objects: a folder and an age
//!   plan: which columns a table must have, and its statements, as far as all databases agree
//!   Sweep::batch(epoch, limit) ── one short transaction or script, fenced as `ttl:<target>`
//!      Delete · SoftDelete · Archive · Callback
//! ```
//!
//! Each sweep has a connection of its own, made when it is first needed and again after a failure,
//! and looks at the table before it first touches it: a wrong name is reported as one.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use baton_drivers::sweep::{self, Strategy, Table};
//!
//! let sessions = Table::new("sessions").key(["id"]).expires("expires_at");
//! let sessions = sweep::open("postgres://app@db/app", sessions, Strategy::Delete)?;
//! let month = Duration::from_secs(30 * 24 * 3600);
//! let orders = Table::new("orders").key(["id"]).created("made_at", month);
//! let orders = sweep::open("sqlite://app.db", orders, Strategy::archive("old_orders"))?;
//! # Ok::<(), sweep::InvalidSweep>(())
//! ```

mod open;
pub(crate) mod plan;
mod strategy;
mod table;
mod target;

pub use open::open;
pub use strategy::{Callback, CallbackError, Strategy};
pub use table::{Due, Table, Unit};
pub(crate) use table::{by_index, quoted};
pub use target::{InvalidSweep, Keys, Objects, Target};

use std::fmt::Write;

/// Why rows that were copied in this very transaction cannot be removed after that.
pub(crate) const CLOCK_WENT_BACK: &str =
    "rows that were due when they were copied are not due any more: the server's clock went back";

/// Bytes as hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        write!(text, "{byte:02x}").expect("a string takes all that is written to it");
    }
    text
}
