//! What becomes of each record, for nodes that began to wait before and after.

use super::*;

fn node(name: &str) -> NodeId {
    NodeId::new(name).expect("a valid name")
}

fn leader(epoch: u64) -> OnceLeader {
    OnceLeader { epoch: Epoch(epoch), node: node("b"), now_ms: 5_000 }
}

fn running(attempt: u32, epoch: u64) -> OnceRecord {
    let by = OnceLeader { epoch: Epoch(epoch), node: node("a"), now_ms: 1_000 };
    OnceRecord::claim(attempt, by, None)
}

fn failure(attempt: u32, cause: OnceCause) -> OnceFailure {
    OnceFailure { attempt, node: node("a"), finished_ms: 2_000, cause }
}

fn failed(attempt: u32) -> OnceRecord {
    running(attempt, 1).ended(OnceState::Failed(failure(attempt, OnceCause::Exit(3))))
}

fn succeeded(attempt: u32) -> OnceRecord {
    let success = OnceSuccess { node: node("a"), finished_ms: 2_000, took_ms: 1_000 };
    running(attempt, 1).ended(OnceState::Succeeded(success))
}

/// The attempt that a leader claims.
fn claimed(step: OnceStep) -> u32 {
    match step {
        OnceStep::Claim(record) => record.attempt,
        other => unreachable!("{other:?}"),
    }
}

#[test]
fn the_first_leader_claims_and_runs_attempt_1() {
    let OnceStep::Claim(record) = step(None, leader(1), 0, OnCrash::Retry) else {
        unreachable!("there is no record")
    };
    assert_eq!((record.attempt, record.word()), (1, "running"));
    // Its write may have had no answer: the record shows that it took place.
    assert_eq!(step(Some(&record), leader(1), 0, OnCrash::Skip), OnceStep::Run);
    assert_eq!(ended_attempts(Some(&record)), 0);
}

#[test]
fn a_success_ends_everyone_for_ever() {
    let done = succeeded(2);
    for known in [0, 1, 2, 9] {
        let end = end_after(Some(&done), known).expect("it is done");
        assert!(matches!(end, OnceEnd::Succeeded(_)));
        assert_eq!(step(Some(&done), leader(9), known, OnCrash::Retry), OnceStep::End(end));
    }
}

#[test]
fn a_failure_ends_those_that_waited_and_is_tried_again_by_those_that_came_later() {
    let record = failed(1);
    let expected = OnceEnd::Failed(failure(1, OnceCause::Exit(3)));
    assert_eq!(end_after(Some(&record), 0), Some(expected.clone()));
    assert_eq!(step(Some(&record), leader(2), 0, OnCrash::Retry), OnceStep::End(expected.clone()));
    let later = ended_attempts(Some(&record));
    assert_eq!((later, end_after(Some(&record), later)), (1, None));
    let OnceStep::Claim(again) = step(Some(&record), leader(2), later, OnCrash::Skip) else {
        unreachable!("it began later")
    };
    assert_eq!(again.attempt, 2);
    // One that looks only now, while attempt 2 runs, still ends with the failure it waited for.
    assert_eq!(end_after(Some(&again), 0), Some(expected));
    assert_eq!(end_after(Some(&again), later), None);
}

#[test]
fn a_run_that_was_cut_off_is_run_again_or_abandoned() {
    let record = running(1, 3);
    assert_eq!(end_after(Some(&record), 0), None, "a node that waits cannot know");
    assert_eq!(claimed(step(Some(&record), leader(4), 0, OnCrash::Retry)), 2);
    let OnceStep::Abandon(over) = step(Some(&record), leader(4), 0, OnCrash::Skip) else {
        unreachable!("it is not run again")
    };
    assert_eq!((over.attempt, over.word()), (1, "abandoned"));
    let end = end_after(Some(&over), 0).expect("it is over for those that waited");
    let OnceEnd::Failed(failure) = &end else { unreachable!("{end:?}") };
    assert_eq!((failure.node.as_str(), failure.finished_ms), ("a", 5_000));
    assert_eq!(step(Some(&over), leader(5), 0, OnCrash::Skip), OnceStep::End(end));
    let later = ended_attempts(Some(&over));
    assert_eq!(claimed(step(Some(&over), leader(5), later, OnCrash::Skip)), 2);
}

#[test]
fn a_crash_after_a_failure_keeps_the_failure_for_those_that_waited() {
    let OnceStep::Claim(second) = step(Some(&failed(1)), leader(2), 1, OnCrash::Retry) else {
        unreachable!("it began later")
    };
    let OnceStep::Claim(third) = step(Some(&second), leader(3), 1, OnCrash::Retry) else {
        unreachable!("it was cut off")
    };
    assert_eq!(third.attempt, 3);
    assert!(matches!(end_after(Some(&third), 0), Some(OnceEnd::Failed(it)) if it.attempt == 1));
}

#[test]
fn a_term_that_is_over_changes_nothing() {
    assert_eq!(step(Some(&running(1, 3)), leader(2), 0, OnCrash::Retry), OnceStep::TermOver);
}

#[test]
fn the_document_is_plain_json_and_read_back_as_it_was() {
    let texts = [
        (running(1, 3), r#"{"running":{"epoch":3,"node":"a","started_ms":1000}}"#),
        (succeeded(1), r#"{"succeeded":{"node":"a","finished_ms":2000,"took_ms":1000}}"#),
        (failed(1), r#"{"failed":{"attempt":1,"node":"a","finished_ms":2000,"cause":{"exit":3}}}"#),
    ];
    for (record, state) in texts {
        let text = serde_json::to_string(&record).expect("plain data");
        assert_eq!(text, format!(r#"{{"format":1,"attempt":1,"state":{state}}}"#));
        assert_eq!(serde_json::from_str::<OnceRecord>(&text).expect("its own text"), record);
    }
}

#[test]
fn causes_are_sentences_and_a_long_error_is_cut() {
    let cases = [
        (OnceCause::Exit(3), "ended with code 3"),
        (OnceCause::error("no table"), "failed: no table"),
        (
            OnceCause::TimedOut { limit_ms: 90_000 },
            "was stopped, because it took longer than 1m 30s",
        ),
        (OnceCause::Crash, "was cut off"),
    ];
    for (cause, expected) in cases {
        let told = failure(2, cause).to_string();
        assert_eq!(told, format!("attempt 2 on node a {expected}"));
    }
    let OnceCause::Error(cut) = OnceCause::error(&"x".repeat(1_000)) else { unreachable!() };
    assert_eq!(cut.len(), MESSAGE_MAX);
}

fn found(record: Option<OnceRecord>, version: u64) -> FoundRecord {
    FoundRecord { record, version }
}

/// A term of a process that began to wait when there was no record, and its claim.
fn claimed_in(epoch: u64) -> (OnceTerm, OnceWrite) {
    let wait = OnceWait::since(None, OnCrash::Retry);
    let mut term = OnceTerm::new(wait, Epoch(epoch), node("a"));
    let OnceAction::Write(write) = term.handle_read(found(None, 0), 1_000) else {
        unreachable!("there is no record")
    };
    (term, write)
}

#[test]
fn a_claim_is_run_once_it_is_known_to_be_written() {
    let (mut term, write) = claimed_in(3);
    assert_eq!((&write.record, write.over), (&running(1, 3), 0));
    assert_eq!(term.handle_written(OnceWritten::Unsure), OnceAction::Read);
    let OnceAction::Run(claim) = term.handle_read(found(Some(write.record), 1), 2_000) else {
        unreachable!("it was written")
    };
    assert_eq!((claim.attempt(), claim.version()), (1, 1));
    let (mut fenced, _) = claimed_in(3);
    assert_eq!(fenced.handle_written(OnceWritten::Fenced), OnceAction::Read);
    assert_eq!(fenced.handle_read(found(Some(running(1, 4)), 1), 2_000), OnceAction::Read);
}

#[test]
fn a_term_hands_its_run_out_once() {
    for on_crash in [OnCrash::Retry, OnCrash::Skip] {
        let mut wait = OnceWait::since(None, on_crash);
        wait.handed_out(Epoch(3));
        let own = found(Some(running(1, 3)), 1);
        let mut same = OnceTerm::new(wait, Epoch(3), node("a"));
        assert_eq!(same.handle_read(own.clone(), 2_000), OnceAction::Resign);
        let mut next = OnceTerm::new(wait, Epoch(4), node("a"));
        assert!(matches!(next.handle_read(own, 2_000), OnceAction::Write(_)));
    }
}

#[test]
fn an_end_is_recorded_or_known_not_to_be() {
    let (mut term, _) = claimed_in(3);
    let OnceAction::Run(claim) = term.handle_written(OnceWritten::Yes(1)) else {
        unreachable!("it is written")
    };
    let ending = claim.succeeded(2_000, 1_000);
    let EndingStep::Write(write) = ending.begin() else { unreachable!("nothing is written yet") };
    assert_eq!((&write.record, write.over), (&succeeded(1), 1));
    assert_eq!(ending.handle_written(OnceWritten::Yes(2)), EndingStep::Recorded);
    assert_eq!(ending.handle_written(OnceWritten::Fenced), EndingStep::NotRecorded);
    assert_eq!(ending.handle_written(OnceWritten::Unsure), EndingStep::Read);
    let other = claim.failed(2_000, OnceCause::Exit(3));
    assert_eq!(other.end(), Some(OnceEnd::Failed(failure(1, OnceCause::Exit(3)))));
    let cases = [
        (found(Some(succeeded(1)), 2), EndingStep::Recorded),
        (found(Some(running(1, 3)), 1), EndingStep::Write(write)),
        (found(Some(running(2, 4)), 2), EndingStep::NotRecorded),
    ];
    for (found, expected) in cases {
        assert_eq!(ending.handle_read(&found), expected);
    }
}
