//! Schedules on the command line.
//!
//! ```text
//!   file      [[schedule]] tables: what is read, shown and refused
//!   next      previews of expressions across clock changes, to the letter
//!   commands  on a store ◄── fixture: a leader in this process, with three schedules
//! ```

mod commands;
mod file;
mod fixture;
mod next;
