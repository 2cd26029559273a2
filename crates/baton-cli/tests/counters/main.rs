//! Counting from many processes while leaders are killed: the sum is exact.
//!
//! ```text
//!   test ── fixture: a server, or a file ──► store
//!    ├── nodes:  baton serve × 4, the one that leads is killed with -9, three times
//!    ├── adder:  this program again × 8, 10,000 additions each (fewer on S3), from many tasks
//!    └── kills:  the sum, on each store; and again with answers lost on the way
//! ```

mod adder;
mod fixture;
mod kills;
mod nodes;
