//! The kept seeds: each broke a promise once, in a core that was wrong. Test runs replay them.

use std::path::Path;

use crate::campaign::run_plan;
use crate::plan::Plan;
use crate::trace::Trace;

use super::print::print_line;
use super::{CommandError, input};

/// Where they are kept.
pub const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/seeds.txt");

/// Reads a file of seeds: one a line, `#` begins a remark.
pub fn read(file: &Path) -> Result<Vec<u64>, CommandError> {
    let text = std::fs::read_to_string(file)
        .map_err(|problem| input(&format!("seed file {}: {problem}", file.display())))?;
    parse(&text).map_err(|(line, found)| {
        let file = file.display();
        input(&format!("{file}:{line}: {found:?} is not a seed; write one number a line"))
    })
}

/// Replays every seed of a file.
pub fn run(file: &Path) -> Result<(), CommandError> {
    let seeds = read(file)?;
    let mut broken = 0;
    for seed in &seeds {
        if let Some(violation) = run_plan(Plan::draw(*seed), Trace::Off).violation {
            print_line!("seed {seed} breaks {}: {}", violation.promise, violation.message);
            broken += 1;
        }
    }
    print_line!("{} kept seeds replayed, {broken} violations", seeds.len());
    if broken == 0 { Ok(()) } else { Err(CommandError::Broken) }
}

fn parse(text: &str) -> Result<Vec<u64>, (usize, String)> {
    let mut seeds = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let seed = line.split('#').next().unwrap_or_default().trim();
        if !seed.is_empty() {
            seeds.push(seed.parse().map_err(|_| (number + 1, seed.to_owned()))?);
        }
    }
    Ok(seeds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_are_skipped_and_a_bad_line_is_named() {
        assert_eq!(parse("# kept\n12 # why\n\n7\n"), Ok(vec![12, 7]));
        assert_eq!(parse("12\nabc"), Err((2, "abc".to_owned())));
    }
}
