//! Planted bugs: each wrong rule must be caught by a checker.

use super::CommandError;
#[cfg(baton_bugs)]
use super::print::print_line;

/// Plants each bug in turn and runs seeds until it is caught.
#[cfg(baton_bugs)]
pub fn run(seeds: u64, only: Option<&str>) -> Result<(), CommandError> {
    use baton_core::planted::Bug;

    let chosen = |bug: &&Bug| only.is_none_or(|name| bug.name() == name);
    let bugs: Vec<&Bug> = Bug::ALL.iter().filter(chosen).collect();
    if bugs.is_empty() {
        let name = only.unwrap_or_default();
        return Err(super::input(&format!("no bug named {name:?} is planted")));
    }
    let kept = super::replay::read(std::path::Path::new(super::replay::KEPT))?;
    print_line!("{:<24} {:<31} {:>5}  what is wrong", "planted bug", "caught by", "tried");
    let mut survivors = 0;
    for bug in &bugs {
        let (caught, tried) = hunt(**bug, &kept, seeds);
        survivors += usize::from(caught.is_none());
        let by = match &caught {
            None => "NOT CAUGHT".to_owned(),
            Some((_, broken)) => format!("{} ({})", broken.invariant, broken.promise),
        };
        print_line!("{:<24} {by:<31} {tried:>5}  {}", bug.name(), bug.what());
        if let Some((Some(seed), _)) = caught.filter(|_| only.is_some()) {
            print_line!("  first by seed {seed}");
        }
    }
    print_line!("{} bugs planted, {survivors} survived", bugs.len());
    if survivors == 0 { Ok(()) } else { Err(CommandError::Broken) }
}

/// Plants a bug by its name, for a closer look at what it does.
#[cfg(baton_bugs)]
pub fn plant_named(name: Option<&str>) -> Result<(), CommandError> {
    use baton_core::planted::{Bug, plant};

    let Some(name) = name else { return Ok(()) };
    let bug = Bug::ALL.iter().copied().find(|bug| bug.name() == name);
    let unknown = || super::input(&format!("no bug named {name:?} is planted"));
    plant(Some(bug.ok_or_else(unknown)?));
    Ok(())
}

/// The seed that caught a bug, if it was one, and the promise it broke.
#[cfg(baton_bugs)]
type Catch = (Option<u64>, crate::invariants::Violation);

/// Plants one bug and runs seeds of its world, or visits its states, until it is caught. Says by
/// what, and after how many.
#[cfg(baton_bugs)]
fn hunt(bug: baton_core::planted::Bug, kept: &[u64], seeds: u64) -> (Option<Catch>, u64) {
    use baton_core::planted::{World, plant};

    plant(Some(bug));
    let found = match bug.world() {
        World::Election => hunt_in_elections(kept, seeds),
        World::Schedules => hunt_in::<crate::schedules::Schedules>(seeds),
        World::Once => hunt_in_once(),
        World::Partitions => hunt_in::<crate::partitions::Partitions>(seeds),
    };
    plant(None);
    found
}

/// The kept seeds first, then fresh ones.
#[cfg(baton_bugs)]
fn hunt_in_elections(kept: &[u64], seeds: u64) -> (Option<Catch>, u64) {
    use crate::campaign::{run_plan, run_seeds};
    use crate::plan::Plan;
    use crate::trace::Trace;

    let replay = |seed: &u64| {
        let outcome = run_plan(Plan::draw(*seed), Trace::Off);
        outcome.violation.map(|violation| (Some(*seed), violation))
    };
    let mut tried = 0;
    let mut caught = kept.iter().inspect(|_| tried += 1).find_map(replay);
    if caught.is_none() {
        let fresh = seeds.saturating_sub(tried);
        let mut summary = run_seeds(0, fresh, super::cores(), &|s| !s.violations.is_empty());
        tried += summary.seeds;
        caught = summary.violations.pop_first().map(|(seed, broken)| (Some(seed), broken));
    }
    (caught, tried)
}

#[cfg(baton_bugs)]
fn hunt_in<W: crate::scripted::ScriptedWorld>(seeds: u64) -> (Option<Catch>, u64) {
    use crate::scripted::run_seeds;

    let mut summary = run_seeds::<W>(0, seeds, super::cores(), &|s| !s.violations.is_empty());
    let caught = summary.violations.pop_first().map(|(seed, broken)| (Some(seed), broken));
    (caught, summary.seeds)
}

/// Every state with at most one fault, then with two.
#[cfg(baton_bugs)]
fn hunt_in_once() -> (Option<Catch>, u64) {
    use crate::once::{Bounds, search};

    let mut visited = 0;
    for faults in [1, 2] {
        for bounds in Bounds::defaults() {
            let findings = search(Bounds { faults, ..bounds });
            visited += findings.states;
            if let Some(violation) = findings.violation() {
                return (Some((None, violation)), visited);
            }
        }
    }
    (None, visited)
}

/// Planted bugs are not part of an ordinary build.
#[cfg(not(baton_bugs))]
pub fn run(_seeds: u64, _only: Option<&str>) -> Result<(), CommandError> {
    let advice = "this build has no planted bugs; run `cargo xtask bugs`";
    Err(CommandError::Input(advice.to_owned()))
}
