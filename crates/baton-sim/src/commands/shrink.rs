//! Makes a failing seed small and prints the line that reproduces it.

use super::print::print_line;
use super::{CommandError, reproduction};

/// Shrinks a seed.
pub fn run(seed: u64) -> Result<(), CommandError> {
    match crate::shrink::shrink(seed) {
        None => print_line!("seed {seed} keeps every promise: there is nothing to shrink"),
        Some(overrides) => print_line!("{}", reproduction(seed, &overrides)),
    }
    Ok(())
}
