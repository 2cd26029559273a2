//! Makes a failing seed small and prints the line that reproduces it.

use super::say::say;
use super::{CommandError, reproduction};

/// Shrinks a seed.
pub fn run(seed: u64) -> Result<(), CommandError> {
    match crate::shrink::shrink(seed) {
        None => say!("seed {seed} keeps every promise: there is nothing to shrink"),
        Some(overrides) => say!("{}", reproduction(seed, &overrides)),
    }
    Ok(())
}
