//! Shrinks a failing run: fewer faults, fewer nodes, a shorter storm, the same broken promise.

use crate::campaign::run_plan;
use crate::plan::{Overrides, Plan};
use crate::trace::Trace;

/// The smallest overrides found under which the seed still breaks the same promise; `None` if the
/// seed breaks none.
pub fn shrink(seed: u64) -> Option<Overrides> {
    let plan = Plan::draw(seed);
    let promise = broken(&plan, &Overrides::default())?;
    let fails = |overrides: &Overrides| broken(&plan, overrides).as_ref() == Some(&promise);
    let mut best = Overrides::default();
    for fault in plan.faults.iter().copied() {
        let mut tried = best.clone();
        tried.without.push(fault);
        if fails(&tried) {
            best = tried;
        }
    }
    let mut fewer = (1..plan.nodes).map(|n| Overrides { nodes: Some(n), ..best.clone() });
    let best = fewer.find(fails).unwrap_or(best.clone());
    let leases = [2, 4, 8, 16, 32].into_iter();
    let mut shorter = leases.map(|n| Overrides { leases: Some(n), ..best.clone() });
    Some(shorter.find(fails).unwrap_or(best.clone()))
}

fn broken(plan: &Plan, overrides: &Overrides) -> Option<String> {
    let outcome = run_plan(overrides.apply(plan.clone()), Trace::Off);
    outcome.violation.map(|violation| violation.invariant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_that_keeps_its_promises_has_nothing_to_shrink() {
        assert_eq!(shrink(1), None);
    }
}
