//! The search on a small scale: it finds nothing in the core, and finds every wrong rule.

use baton_store::ExpiryClock;

use super::bounds::{Bounds, WrongRule};
use super::search::{Findings, search};

const CLOCKS: [ExpiryClock; 3] =
    [ExpiryClock::Store, ExpiryClock::StoreLease, ExpiryClock::Observer];

const SMALL: Bounds = Bounds {
    nodes: 2,
    clock: ExpiryClock::Store,
    horizon: 8,
    start_by: 0,
    faults: 1,
    wrong_rule: None,
};

fn with(wrong_rule: WrongRule, horizon: u32) -> Findings {
    search(Bounds { wrong_rule: Some(wrong_rule), horizon, ..SMALL }, 400_000)
}

/// The promise that a wrong rule breaks, once the path to it was found.
fn caught(findings: Findings) -> &'static str {
    let found = findings.found.expect("a wrong rule must be found");
    assert!(!found.path.is_empty());
    found.broken.promise
}

#[test]
fn with_one_fault_the_core_keeps_its_promises_and_leadership_moves() {
    for clock in CLOCKS {
        let findings = search(Bounds { clock, ..SMALL }, u64::MAX);
        assert!(findings.found.is_none(), "{:?}", findings.found);
        assert!(findings.complete && findings.states > 5_000, "{findings:?}");
        assert!(findings.begun > 100 && findings.takeovers >= 1, "{findings:?}");
    }
}

#[test]
fn three_nodes_keep_their_promises_too() {
    let findings = search(Bounds { nodes: 3, horizon: 4, ..SMALL }, u64::MAX);
    assert!(findings.found.is_none(), "{:?}", findings.found);
    assert!(findings.complete && findings.states > 5_000, "{findings:?}");
    assert!(findings.takeovers >= 1, "{findings:?}");
}

#[test]
fn the_same_search_finds_the_same_states() {
    let (one, other) = (search(SMALL, u64::MAX), search(SMALL, u64::MAX));
    assert_eq!((one.states, one.transitions), (other.states, other.transitions));
}

#[test]
fn a_search_that_was_cut_short_says_so() {
    let findings = search(SMALL, 1_000);
    assert!(!findings.complete && findings.states < 1_100, "{findings:?}");
}

#[test]
fn a_store_that_grants_everything_breaks_s1() {
    let findings = with(WrongRule::GrantsEverything, 2);
    let path = findings.found.as_ref().map(|found| found.path.join("\n")).unwrap_or_default();
    assert!(path.contains("acquire") && path.contains("trusts"), "{path}");
    assert_eq!(caught(findings), "S1");
}

#[test]
fn a_store_that_forgets_its_record_breaks_s2() {
    assert_eq!(caught(with(WrongRule::ForgetsOnRelease, 6)), "S2");
}

#[test]
fn a_clock_that_stands_still_in_a_pause_breaks_s1() {
    assert_eq!(caught(with(WrongRule::PauseStopsClock, 10)), "S1");
}

#[test]
fn a_clock_that_is_set_back_after_a_pause_reopens_a_window() {
    assert_eq!(caught(with(WrongRule::ResumeSetsClockBack, 10)), "rule 6");
}

#[test]
fn a_paused_process_that_passes_for_dead_breaks_s1() {
    assert_eq!(caught(with(WrongRule::PausedIsDead, 6)), "S1");
}

#[test]
fn a_release_before_the_work_has_stopped_breaks_s4() {
    assert_eq!(caught(with(WrongRule::StopIsNoProof, 6)), "S4");
}
