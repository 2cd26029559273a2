//! The table without a store, a clock or a node.
//!
//! ```text
//!   mod.rs    one rule a test
//!   storm.rs  leaders and nodes that come, go and write late, drawn from a seed
//! ```

mod storm;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use baton_core::ids::{BootId, NodeId};
use baton_core::time::Moment;

use super::poll::{Poll, PollError};
use super::round::{Periodic, PresentNodes, StateWatch, hold_round};
use super::state::PollState;
use super::table::PollTable;
use super::table::{Assignment, AttemptEnd, Enqueued, PollRequestId};

const PATIENCE: Duration = Duration::from_secs(3);

fn at(seconds: u64) -> Moment {
    Moment::from_micros(seconds * 1_000_000)
}

fn node(name: &str, boot: u128) -> Assignment {
    Assignment { node: NodeId::new(name).expect("valid"), boot: BootId(boot) }
}

fn ticket(number: u64) -> PollRequestId {
    PollRequestId { boot: BootId(1), number }
}

fn present(nodes: &[&Assignment]) -> PresentNodes {
    let live: BTreeMap<_, _> = nodes.iter().map(|it| (it.node.clone(), it.boot)).collect();
    let undead = live.values().copied().collect();
    PresentNodes { live, undead }
}

/// A table on which these nodes run polls of the name `x`.
fn table(nodes: &[&Assignment]) -> PollTable {
    let mut table = PollTable::default();
    let names = BTreeSet::from(["x".to_owned()]);
    for node in nodes {
        table.register(node, &names, 2).expect("there is room");
    }
    table
}

fn asked(table: &mut PollTable, poll: &Poll, number: u64) -> u64 {
    match table.enqueue(poll, ticket(number), 0).expect("there is room") {
        Enqueued::New(id) => id,
        other => unreachable!("{other:?}"),
    }
}

fn round(table: &mut PollTable, nodes: &[&Assignment], watch: &mut StateWatch, second: u64) {
    let now = (at(second), second * 1_000);
    hold_round(table, &[], &present(nodes), PATIENCE, watch, now);
}

fn state(table: &PollTable, id: u64) -> PollState {
    table.poll(id).expect("it is kept").state
}

#[test]
fn a_poll_is_handed_out_claimed_and_answered() {
    let a = node("a", 1);
    let mut table = table(&[&a]);
    let id = asked(&mut table, &Poll::new("x"), 1);
    round(&mut table, &[&a], &mut StateWatch::default(), 1);
    assert_eq!(state(&table, id), PollState::Dispatching);
    assert_eq!(table.claim(id, a.boot).expect("it is a's").attempt, 1);
    let done = AttemptEnd::Done("42".to_owned());
    let ended = table.attempt_ended(id, (a.boot, 1), done, 9);
    assert_eq!(ended, Ok(PollState::Completed));
    let entry = table.poll(id).expect("it is kept");
    assert_eq!((entry.note.as_str(), entry.finished_ms), ("42", Some(9)));
    assert_eq!(table.active().count(), 0);
}

#[test]
fn no_other_node_claims_or_reports_and_no_attempt_reports_twice() {
    let (a, b) = (node("a", 1), node("b", 2));
    let mut table = table(&[&a]);
    let id = asked(&mut table, &Poll::new("x"), 1);
    round(&mut table, &[&a], &mut StateWatch::default(), 1);
    assert!(table.claim(id, b.boot).is_err(), "it was handed to a");
    table.claim(id, a.boot).expect("it is a's");
    assert!(table.claim(id, a.boot).is_err(), "it runs");
    let over = Err(PollError::AttemptOver { id, attempt: 1 });
    assert_eq!(table.attempt_ended(id, (b.boot, 1), AttemptEnd::TimedOut, 0), over);
    let failed = AttemptEnd::Failed("no".to_owned());
    let again = table.attempt_ended(id, (a.boot, 1), failed.clone(), 0);
    assert_eq!(again, Ok(PollState::Pending), "two retries are left");
    assert_eq!(table.attempt_ended(id, (a.boot, 1), failed, 0), over);
}

#[test]
fn retries_go_elsewhere_and_are_limited() {
    let (a, b) = (node("a", 1), node("b", 2));
    let mut table = table(&[&a, &b]);
    let id = asked(&mut table, &Poll { retries: 1, ..Poll::new("x") }, 1);
    let mut watch = StateWatch::default();
    let mut attempt = |table: &mut PollTable, number| {
        round(table, &[&a, &b], &mut watch, 1);
        let to = table.poll(id).and_then(|entry| entry.assigned.clone()).expect("handed out");
        table.claim(id, to.boot).expect("it is its");
        let ended = table.attempt_ended(id, (to.boot, number), AttemptEnd::TimedOut, 5);
        (to.node, ended.expect("it runs"))
    };
    assert_eq!(attempt(&mut table, 1), (a.node.clone(), PollState::Pending));
    assert_eq!(attempt(&mut table, 2), (b.node.clone(), PollState::TimedOut));
}

#[test]
fn what_no_node_begins_is_handed_to_another_and_what_does_not_end_is_given_up() {
    let (a, b) = (node("a", 1), node("b", 2));
    let mut table = table(&[&a, &b]);
    let poll = Poll { timeout: Duration::from_secs(10), retries: 0, ..Poll::new("x") };
    let id = asked(&mut table, &poll, 1);
    let mut watch = StateWatch::default();
    let both = [&a, &b];
    for second in [1, 2, 3, 4, 5] {
        round(&mut table, &both, &mut watch, second);
        let to = table.poll(id).and_then(|entry| entry.assigned.clone()).expect("handed out");
        assert_eq!(to, a, "second {second}");
    }
    round(&mut table, &both, &mut watch, 6);
    let to = table.poll(id).and_then(|entry| entry.assigned.clone()).expect("handed out");
    assert_eq!(to, b, "seen with a at second 2, and for longer than 3 s");
    table.claim(id, b.boot).expect("it is b's");
    round(&mut table, &both, &mut watch, 7);
    round(&mut table, &both, &mut watch, 20);
    assert_eq!(state(&table, id), PollState::Running, "10 s, and 3 s for the report");
    round(&mut table, &both, &mut watch, 21);
    assert_eq!(state(&table, id), PollState::TimedOut);
}

#[test]
fn a_node_that_is_gone_loses_what_it_ran_at_once() {
    let (a, b) = (node("a", 1), node("b", 2));
    let mut table = table(&[&a, &b]);
    let id = asked(&mut table, &Poll::new("x"), 1);
    let mut watch = StateWatch::default();
    round(&mut table, &[&a, &b], &mut watch, 1);
    table.claim(id, a.boot).expect("it is a's");
    round(&mut table, &[&b], &mut watch, 2);
    let entry = table.poll(id).expect("it is kept");
    assert_eq!((entry.state, entry.note.as_str()), (PollState::Dispatching, "node a is gone"));
    assert_eq!(entry.assigned.as_ref(), Some(&b));
    assert!(!table.runners().contains_key(&a.node));
    let late = table.attempt_ended(id, (a.boot, 1), AttemptEnd::Done("late".to_owned()), 3);
    assert_eq!(late, Err(PollError::AttemptOver { id, attempt: 1 }));
}

#[test]
fn a_poll_is_cancelled_before_it_runs_and_not_after() {
    let a = node("a", 1);
    let mut table = table(&[&a]);
    let (first, second) =
        (asked(&mut table, &Poll::new("x"), 1), asked(&mut table, &Poll::new("x"), 2));
    assert_eq!(table.cancel(first, 5), Ok(()));
    assert_eq!(table.cancel(first, 6), Ok(()), "that it was done may not have been known");
    round(&mut table, &[&a], &mut StateWatch::default(), 1);
    table.claim(second, a.boot).expect("it is a's");
    let told = table.cancel(second, 7).expect_err("it runs").to_string();
    assert_eq!(told, "a poll that is running cannot be cancelled");
    assert_eq!(table.cancel(99, 7), Err(PollError::Unknown { id: 99 }));
    assert_eq!(state(&table, first), PollState::Cancelled);
}

#[test]
fn within_the_window_a_request_counts_for_another() {
    let mut table = table(&[]);
    let poll = Poll { unique_for: Duration::from_secs(60), ..Poll::new("x") };
    let at = |table: &mut PollTable, number, ms| table.enqueue(&poll, ticket(number), ms);
    assert_eq!(at(&mut table, 1, 1_000), Ok(Enqueued::New(1)));
    assert_eq!(at(&mut table, 1, 1_000), Ok(Enqueued::New(1)), "the same request");
    assert_eq!(at(&mut table, 2, 60_999), Ok(Enqueued::Duplicate(1)));
    table.cancel(1, 61_000).expect("it waits");
    assert_eq!(at(&mut table, 3, 60_999), Ok(Enqueued::Duplicate(1)), "done or not");
    assert_eq!(at(&mut table, 4, 61_000), Ok(Enqueued::New(2)));
}

#[test]
fn a_slot_is_enqueued_once_and_skipped_while_the_one_before_runs() {
    let a = node("a", 1);
    let mut table = table(&[&a]);
    let plan = [Periodic { every: Duration::from_secs(10), poll: Poll::new("x") }];
    let look = |table: &mut PollTable, seconds: u64| {
        let now = (at(seconds), seconds * 1_000);
        hold_round(table, &plan, &present(&[&a]), PATIENCE, &mut StateWatch::default(), now);
        table.active().map(|entry| entry.slot.expect("it is periodic")).collect::<Vec<_>>()
    };
    assert_eq!(look(&mut table, 100), [10]);
    assert_eq!(look(&mut table, 109), [10]);
    assert_eq!(look(&mut table, 95), [10], "a clock that is behind enqueues nothing again");
    assert_eq!(look(&mut table, 115), [10], "slot 11 is skipped: 10 still waits");
    table.claim(1, a.boot).expect("it is a's");
    let done = AttemptEnd::Done(String::new());
    table.attempt_ended(1, (a.boot, 1), done, 0).expect("it runs");
    assert_eq!(look(&mut table, 119), [0; 0], "slot 11 had its turn");
    assert_eq!(look(&mut table, 120), [12]);
}

#[test]
fn the_board_is_bounded() {
    let mut table = table(&[]);
    for number in 1..=128 {
        asked(&mut table, &Poll::new("x"), number);
    }
    let full = table.enqueue(&Poll::new("x"), ticket(129), 0).expect_err("it is full");
    let told = "active polls would be 129; at most 128 are kept: wait until some are done";
    assert_eq!(full.to_string(), told);
    for id in 1..=128 {
        table.cancel(id, 1).expect("it waits");
    }
    assert_eq!((table.active().count(), table.finished().count()), (0, 100));
    assert_eq!(table.finished().next().map(|entry| entry.id), Some(29), "the oldest went");
}

#[test]
fn a_poll_that_makes_no_sense_is_refused_with_both_numbers() {
    let long = "y".repeat(2_000);
    let cases = [
        (Poll::new("a b"), "poll name \"a b\" is refused"),
        (
            Poll { payload: long, ..Poll::new("x") },
            "payload of poll x has 2000 bytes; at most 1024",
        ),
        (Poll { timeout: Duration::ZERO, ..Poll::new("x") }, "timeout of poll x is less than 1ms"),
    ];
    for (poll, expected) in cases {
        let told = poll.check().expect_err("it is refused").to_string();
        assert!(told.starts_with(expected), "{told}");
    }
}
