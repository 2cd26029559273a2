//! Schedules, and work that is done once.

pub mod cron;
pub mod on_crash;
pub mod once;
pub mod once_key;
pub mod recurrence;
pub mod slot;
