//! Planted bugs: each wrong rule must be caught by a checker.

use super::CommandError;

/// Plants each bug in turn and runs seeds until it is caught.
#[cfg(baton_bugs)]
pub fn run(seeds: u64) -> Result<(), CommandError> {
    use baton_core::planted::{Bug, plant};
    use baton_sim::campaign::run_seeds;

    println!("{:<24} {:<24} {:>6}  {}", "planted bug", "caught by", "seeds", "what is wrong");
    let mut survivors = 0;
    for bug in Bug::ALL {
        plant(Some(*bug));
        let summary = run_seeds(0, seeds, super::cores(), &|s| !s.violations.is_empty());
        plant(None);
        let caught = summary
            .violations
            .values()
            .next()
            .map(|violation| format!("{} ({})", violation.invariant, violation.promise));
        survivors += usize::from(caught.is_none());
        let by = caught.unwrap_or_else(|| "NOT CAUGHT".to_owned());
        println!("{:<24} {by:<24} {:>6}  {}", bug.name(), summary.seeds, bug.what());
    }
    println!("{} bugs planted, {survivors} survived", Bug::ALL.len());
    if survivors == 0 { Ok(()) } else { Err(CommandError::Broken) }
}

/// Planted bugs are not part of an ordinary build.
#[cfg(not(baton_bugs))]
pub fn run(_seeds: u64) -> Result<(), CommandError> {
    let advice = "this build has no planted bugs; run `cargo xtask bugs`";
    Err(CommandError::Input(advice.to_owned()))
}
