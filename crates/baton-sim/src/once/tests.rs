//! Searches within small bounds.

use baton_core::schedule::OnCrash;

use super::calm::Calm;
use super::state::{Bounds, State};
use super::step::Step;
use super::{Findings, search};

fn small(on_crash: OnCrash) -> Findings {
    search(Bounds { on_crash, processes: 2, starts: 2, faults: 1 })
}

#[test]
fn with_one_fault_the_rules_keep_their_promises_and_all_processes_end() {
    for on_crash in [OnCrash::Retry, OnCrash::Skip] {
        let findings = small(on_crash);
        assert!(findings.found.is_none(), "{:?}", findings.found);
        assert!(findings.states > 3_000 && findings.longest_calm > 10, "{findings:?}");
    }
}

#[test]
fn the_same_search_finds_the_same_states() {
    let (one, other) = (small(OnCrash::Skip), small(OnCrash::Skip));
    assert_eq!((one.states, one.transitions), (other.states, other.transitions));
}

#[test]
fn a_state_from_which_not_all_processes_end_breaks_the_promise() {
    let bounds = Bounds { on_crash: OnCrash::Retry, processes: 1, starts: 1, faults: 0 };
    let steps = [Step::Start(0), Step::Serve(0), Step::Answer(0)];
    let mut waits = State::first(&bounds);
    for step in steps {
        waits = waits.apply(step).expect("no promise is broken");
    }
    assert_eq!(Calm::default().run(&waits), Ok(()));
    // A term that no process has: the one that waits is never granted its own.
    waits.leader = Some(0);
    let (_, broken) = Calm::default().run(&waits).expect_err("it waits for ever");
    assert_eq!(broken.invariant, "all_end");
}
