//! When faults are over, every partition runs, once, and no process has more than one partition
//! more than another.

use std::collections::BTreeMap;

use baton_core::partition::Partition;

use crate::partitions::fact::{CalmState, Fact};

/// Looks at what is left when the calm is over.
pub fn check(fact: &Fact<'_>) -> Result<(), String> {
    let Fact::Calm(state) = fact else { return Ok(()) };
    is_owned(state)?;
    is_balanced(state)
}

fn is_owned(state: &CalmState<'_>) -> Result<(), String> {
    let mut running: BTreeMap<&Partition, u32> = BTreeMap::new();
    for (partition, _) in state.running.values().flatten() {
        *running.entry(partition).or_default() += 1;
    }
    for list in state.lists {
        for number in 0..list.partitions {
            let partition = Partition { list: list.id.clone(), number };
            if running.remove(&partition) != Some(1) {
                return Err(format!("{partition} does not run, or twice"));
            }
        }
    }
    match running.keys().next() {
        Some(partition) => Err(format!("{partition} runs and is in no active list")),
        None => Ok(()),
    }
}

fn is_balanced(state: &CalmState<'_>) -> Result<(), String> {
    let counts: BTreeMap<_, _> =
        state.running.iter().map(|(boot, runs)| (*boot, runs.len())).collect();
    let (least, most) = (counts.values().min(), counts.values().max());
    match least.zip(most) {
        Some((least, most)) if most - least > 1 => Err(format!("not balanced: {counts:?}")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::TrueTime;
    use baton_core::ids::BootId;
    use baton_core::partition::{TaskList, Token};

    #[test]
    fn what_does_not_run_or_runs_for_nothing_or_crowded_fires() {
        let list = TaskList::new("a".parse().expect("a plain name"), 3);
        let look = |running: &[&[u32]]| {
            let runs = |numbers: &&[u32]| {
                let run = |number: &u32| {
                    (Partition { list: list.id.clone(), number: *number }, Token::default())
                };
                numbers.iter().map(run).collect::<Vec<_>>()
            };
            let running = (1..).map(BootId).zip(running.iter().map(runs)).collect();
            let (lists, now) = ([list.clone()], TrueTime::default());
            check(&Fact::Calm(&CalmState { lists: &lists, running, now }))
        };
        assert!(look(&[&[0, 1], &[2]]).is_ok());
        assert!(look(&[&[0, 1], &[]]).is_err(), "2 does not run");
        assert!(look(&[&[0, 1], &[2, 1]]).is_err(), "1 runs twice");
        assert!(look(&[&[0, 1], &[2, 3]]).is_err(), "3 is in no list");
        assert!(look(&[&[0, 1, 2], &[]]).is_err(), "not balanced");
    }
}
