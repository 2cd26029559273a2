//! Schedules.

pub mod cron;
pub mod recurrence;
pub mod slot;
