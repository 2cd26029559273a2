//! Task lists and partitions on the command line.
//!
//! ```text
//!   status, outlook, people ──► on a store with two nodes in this process: fixture
//!   lists                   ──► task lists, by hand and in the file of `serve`
//! ```

mod fixture;
mod lists;
mod outlook;
mod people;
mod status;
