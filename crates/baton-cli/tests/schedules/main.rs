//! Schedules as people run them: processes of `baton run --cron`, killed and stopped, on every
//! store, and by another wall clock.
//!
//! ```text
//!  test ── Stage ──► Replica: baton run --cron … -- sh -c 'echo $BATON_SLOT … >> runs'
//!    │       └─ faketime: the wall clock of a replica     │
//!    └──── Runs ◄────────────────────────────────────────┘ each slot once, and which twice
//! ```
//!
//! The commands' own log is the judge.

mod clock;
mod cut_off;
mod kills;
mod runs;
mod stage;
