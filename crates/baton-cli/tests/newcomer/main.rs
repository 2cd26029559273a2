//! A new user's six tasks, done by the documentation's own blocks, with three replicas.
//!
//! ```text
//!   docs/getting-started.md, README.md, docs/operations.md
//!        │ page: blocks, by heading
//!        ▼
//!   Newcomer ── Terminal: bash, in a folder like a checkout; cargo.sh stands in for cargo
//!     │  └───── Fixture: PostgreSQL, or the embedded store
//!     ├─ install ── the program and the library, from the first line on
//!     ├─ rolling ── three instances, a crash, a rolling restart
//!     ├─ nightly ── work that ends, and what to run instead
//!     ├─ service ── a web service with fenced writes: killed, paused; the store restarted
//!     ├─ sessions ─ rows that expire
//!     └─ alerts ─── figures, and rules that promtool checks
//! ```
//!
//! A block is run as it stands, but for the names of a server and of ports. What the documentation
//! promises about it is asserted.

mod alerts;
mod fixture;
mod guide;
mod install;
mod newcomer;
mod nightly;
mod page;
mod rolling;
mod service;
mod sessions;
mod terminal;
