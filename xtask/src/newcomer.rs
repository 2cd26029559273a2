//! `cargo xtask newcomer`: a new user's tasks, done by the documentation's own blocks.
//!
//! The test is one of `crates/baton-cli`, and part of `cargo xtask test`; it runs examples of
//! `crates/baton`, which are built first.

use std::path::Path;

use crate::command::Command;
use crate::failure::Failure;

/// Builds what the guide runs, and follows the guide.
pub fn run(root: &Path) -> Result<(), Failure> {
    // Both packages each time, so that one set of features serves both builds.
    Command::cargo("build -p baton -p baton-cli --examples").run(root)?;
    Command::cargo("test -p baton -p baton-cli --test newcomer").run(root)
}
