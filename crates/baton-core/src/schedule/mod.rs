//! Schedules: each slot runs once, on one of the nodes, through crashes and failovers. And work
//! that is done once for a key.
//!
//! ```text
//!   cron ──► recurrence ──► slots ──► due: which are run ──► entry: waiting, running, history
//!   fields    zone, clock             misfire policy           │ one schedule
//!             changes                                          ▼
//!   definition: the policies         scheduler: one term ──► page: some schedules, one document
//!                                    claims, then starts      written by compare-and-set, fenced
//! ```
//!
//! Nothing here reads a clock, a file or a time zone: they come from the caller. The leader runs a
//! [`Scheduler`]; a slot is claimed once the page that says so is in the store, under the epoch of
//! its term. `on_crash` is what becomes of a run that was cut off. `once` has the rules of work
//! that is done once for a key, which has no slots and an election of its own.

pub mod cron;
pub mod definition;
pub mod due;
pub mod entry;
pub mod on_crash;
pub mod once;
pub mod once_key;
pub mod own_namespace;
pub mod page;
pub mod recurrence;
pub mod scheduler;
pub mod slot;

pub use definition::{Definition, InvalidSchedule, Misfire, Overlap, Schedule, UnknownZone};
pub use entry::{
    ActiveRun, AttemptEnd, AttemptId, Claimant, EditRefused, Entry, HistoryEntry, MissReason,
    RunOutcome, RunState,
};
pub use on_crash::OnCrash;
pub use page::Page;
pub use recurrence::{Daylight, Recurrence};
pub use scheduler::{Declared, Scheduler};
pub use slot::{RunId, Slot};
