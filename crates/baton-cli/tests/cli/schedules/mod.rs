//! Schedules on the command line.
//!
//! ```text
//!   file      [[schedule]] tables: what is read, shown and refused
//! ```

mod file;
