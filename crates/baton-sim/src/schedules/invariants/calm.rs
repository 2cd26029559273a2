//! In the calm everything that is owed is decided, and what is under way runs or will be tried
//! again: no schedule is stuck.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::schedule::{AttemptId, Entry, RunId, RunState};

use crate::schedules::fact::{CalmState, Fact};
use crate::schedules::zones::resolve;

/// Within this time of a calm leader everything that is due is done.
const BOUND_MS: u64 = 4_000;

/// Looks at what is left when the calm is over.
pub fn check() -> impl FnMut(&Fact<'_>) -> Result<(), String> {
    |fact: &Fact<'_>| match fact {
        Fact::Calm(state) => check_state(state),
        _ => Ok(()),
    }
}

fn check_state(state: &CalmState<'_>) -> Result<(), String> {
    let entries = state.pages.iter().flat_map(|page| &page.entries);
    let known: BTreeMap<&str, &Entry> = entries.clone().map(|it| (it.name(), it)).collect();
    for definition in state.declared {
        let name = &definition.name;
        let Some(entry) = known.get(name.as_str()) else {
            return Err(format!("{name} is declared, and no page has it"));
        };
        if entry.definition != *definition || entry.undeclared_ms.is_some() {
            return Err(format!("{name} is not what is declared"));
        }
        check_progress(entry, state)?;
    }
    let declared: BTreeSet<&str> = state.declared.iter().map(|it| it.name.as_str()).collect();
    entries.clone().try_for_each(|entry| {
        if !declared.contains(entry.name()) {
            check_removed(entry)?;
        }
        entry.running.iter().try_for_each(|run| {
            let (schedule, id) = (entry.name().to_owned(), run.id);
            let attempt = AttemptId { schedule, run: id, attempt: run.attempt };
            let runs = state.running.contains(&attempt) || state.just_ended.contains(&attempt);
            let is_new = state.wall_ms.saturating_sub(run.since_ms) < BOUND_MS;
            match run.state {
                RunState::RetryAt(_) => Ok(()),
                _ if run.claimant == state.claimant && (runs || is_new) => Ok(()),
                _ => Err(format!("{}: {run:?} is under way, and nothing runs", entry.name())),
            }
        })
    })
}

/// Is everything decided that is due, and does nothing wait in vain?
fn check_progress(entry: &Entry, state: &CalmState<'_>) -> Result<(), String> {
    let name = entry.name();
    let long_ago = state.wall_ms.saturating_sub(BOUND_MS);
    if entry.paused_ms.is_some() {
        return check_waiting(entry, long_ago);
    }
    let schedule = resolve(&entry.definition);
    if let Some(next) = schedule.next_after(&entry.last)
        && schedule.starts_at(next) < long_ago
    {
        return Err(format!("{name}: {next:?} is due and not decided on"));
    }
    check_waiting(entry, long_ago)
}

/// Is there a run that has waited for long, and could be started?
fn check_waiting(entry: &Entry, long_ago: u64) -> Result<(), String> {
    let (name, is_paused) = (entry.name(), entry.paused_ms.is_some());
    let may_run = |id: &&RunId| !is_paused || id.requested > 0;
    let is_busy = entry.running.iter().any(|run| !matches!(run.state, RunState::RetryAt(_)));
    let mut retries = entry.running.iter().filter_map(|run| match run.state {
        RunState::RetryAt(at_ms) if may_run(&&run.id) => Some(at_ms),
        _ => None,
    });
    if !is_busy && retries.any(|at_ms| at_ms < long_ago) {
        return Err(format!("{name}: a run is not tried again"));
    }
    let is_free = !entry.running.iter().any(|run| !is_paused || may_run(&&run.id));
    match entry.waiting.iter().find(may_run) {
        Some(id) if !is_busy && is_free && id.at_ms < long_ago => {
            Err(format!("{name}: {id:?} waits for nothing"))
        }
        _ => Ok(()),
    }
}

fn check_removed(entry: &Entry) -> Result<(), String> {
    let name = entry.name();
    if entry.undeclared_ms.is_none() || !entry.waiting.is_empty() {
        return Err(format!("{name} is removed, and its slots still wait"));
    }
    match entry.running.iter().find(|run| matches!(run.state, RunState::RetryAt(_))) {
        Some(run) => Err(format!("{name} is removed, and {run:?} is kept for ever")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedules::invariants::testing::{
        START_MS, attempt, entry, page, run, schedule, slot,
    };

    fn left(entry: &Entry, running: &[AttemptId], declares: bool) -> Result<(), String> {
        let definitions = [entry.definition.clone()];
        let state = CalmState {
            wall_ms: START_MS + 20_000,
            claimant: run(0, 1).claimant,
            pages: &[page(entry)],
            declared: if declares { &definitions } else { &[] },
            running: running.iter().cloned().collect(),
            just_ended: BTreeSet::new(),
        };
        check()(&Fact::Calm(&state))
    }

    #[test]
    fn slots_that_are_not_decided_and_runs_that_nothing_runs_fire() {
        let mut tick = entry(&schedule(|_| {}));
        assert!(left(&tick, &[], true).is_err(), "all slots are due");
        tick.last = slot(20);
        assert!(left(&tick, &[], true).is_ok());
        tick.running.push(run(2, 1));
        assert!(left(&tick, &[], true).is_err());
        assert!(left(&tick, &[attempt(2, 1)], true).is_ok());
        tick.running[0].state = RunState::RetryAt(START_MS + 3_000);
        assert!(left(&tick, &[], true).is_err());
        tick.paused_ms = Some(START_MS);
        assert!(left(&tick, &[], true).is_ok(), "tried again after the pause");
        tick.waiting.push(RunId { at_ms: START_MS + 4_000, requested: 2 });
        assert!(left(&tick, &[], true).is_err(), "a person asked for it");
        (tick.paused_ms, tick.waiting) = (None, Vec::new());
        tick.undeclared_ms = Some(START_MS);
        assert!(left(&tick, &[], false).is_err(), "removed, and tried again never");
        tick.running.clear();
        assert!(left(&tick, &[], false).is_ok());
        assert!(left(&tick, &[], true).is_err(), "declared, and not due");
    }
}
