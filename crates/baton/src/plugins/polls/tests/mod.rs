//! The board without a store, a clock or a node.
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

use super::entry::{Assignment, AttemptEnd, Enqueued, Ticket};
use super::poll::{Poll, PollError};
use super::round::{Patience, Periodic, Present, Watch, tend};
use super::state::PollState;
use super::table::PollTable;

const PATIENCE: Patience =
    Patience { claim: Duration::from_secs(3), report: Duration::from_secs(3) };

fn at(seconds: u64) -> Moment {
    Moment::from_micros(seconds * 1_000_000)
}

fn node(name: &str, boot: u128) -> Assignment {
    Assignment { node: NodeId::new(name).expect("valid"), boot: BootId(boot) }
}

fn ticket(number: u64) -> Ticket {
    Ticket { boot: BootId(1), number }
}

fn present(nodes: &[&Assignment]) -> Present {
    let live: BTreeMap<_, _> = nodes.iter().map(|it| (it.node.clone(), it.boot)).collect();
    let undead = live.values().copied().collect();
    Present { live, undead }
}

/// A board on which these nodes run polls of the name `x`.
fn board(nodes: &[&Assignment]) -> PollTable {
    let mut board = PollTable::default();
    let names = BTreeSet::from(["x".to_owned()]);
    for node in nodes {
        board.register(node, &names, 2).expect("there is room");
    }
    board
}

fn asked(board: &mut PollTable, poll: &Poll, number: u64) -> u64 {
    match board.enqueue(poll, ticket(number), 0).expect("there is room") {
        Enqueued::New(id) => id,
        other => unreachable!("{other:?}"),
    }
}

fn round(board: &mut PollTable, nodes: &[&Assignment], watch: &mut Watch, second: u64) {
    let now = (at(second), second * 1_000);
    tend(board, &[], &present(nodes), &PATIENCE, watch, now);
}

fn state(board: &PollTable, id: u64) -> PollState {
    board.poll(id).expect("it is kept").state
}

#[test]
fn a_poll_is_handed_out_claimed_and_answered() {
    let a = node("a", 1);
    let mut board = board(&[&a]);
    let id = asked(&mut board, &Poll::new("x"), 1);
    round(&mut board, &[&a], &mut Watch::default(), 1);
    assert_eq!(state(&board, id), PollState::Dispatching);
    assert_eq!(board.claim(id, a.boot).expect("it is a's").attempt, 1);
    let done = AttemptEnd::Done("42".to_owned());
    let ended = board.attempt_ended(id, (a.boot, 1), done, 9);
    assert_eq!(ended, Ok(PollState::Completed));
    let entry = board.poll(id).expect("it is kept");
    assert_eq!((entry.note.as_str(), entry.finished_ms), ("42", Some(9)));
    assert_eq!(board.active().count(), 0);
}

#[test]
fn nobody_else_claims_or_reports_and_no_attempt_reports_twice() {
    let (a, b) = (node("a", 1), node("b", 2));
    let mut board = board(&[&a]);
    let id = asked(&mut board, &Poll::new("x"), 1);
    round(&mut board, &[&a], &mut Watch::default(), 1);
    assert!(board.claim(id, b.boot).is_err(), "it was handed to a");
    board.claim(id, a.boot).expect("it is a's");
    assert!(board.claim(id, a.boot).is_err(), "it runs");
    let over = Err(PollError::AttemptOver { id, attempt: 1 });
    assert_eq!(board.attempt_ended(id, (b.boot, 1), AttemptEnd::TimedOut, 0), over);
    let failed = AttemptEnd::Failed("no".to_owned());
    let again = board.attempt_ended(id, (a.boot, 1), failed.clone(), 0);
    assert_eq!(again, Ok(PollState::Pending), "two retries are left");
    assert_eq!(board.attempt_ended(id, (a.boot, 1), failed, 0), over);
}

#[test]
fn retries_go_elsewhere_and_are_limited() {
    let (a, b) = (node("a", 1), node("b", 2));
    let mut board = board(&[&a, &b]);
    let id = asked(&mut board, &Poll { retries: 1, ..Poll::new("x") }, 1);
    let mut watch = Watch::default();
    let mut attempt = |board: &mut PollTable, number| {
        round(board, &[&a, &b], &mut watch, 1);
        let to = board.poll(id).and_then(|entry| entry.assigned.clone()).expect("handed out");
        board.claim(id, to.boot).expect("it is its");
        let ended = board.attempt_ended(id, (to.boot, number), AttemptEnd::TimedOut, 5);
        (to.node, ended.expect("it runs"))
    };
    assert_eq!(attempt(&mut board, 1), (a.node.clone(), PollState::Pending));
    assert_eq!(attempt(&mut board, 2), (b.node.clone(), PollState::TimedOut));
}

#[test]
fn what_no_node_begins_is_handed_to_another_and_what_does_not_end_is_given_up() {
    let (a, b) = (node("a", 1), node("b", 2));
    let mut board = board(&[&a, &b]);
    let poll = Poll { timeout: Duration::from_secs(10), retries: 0, ..Poll::new("x") };
    let id = asked(&mut board, &poll, 1);
    let mut watch = Watch::default();
    let both = [&a, &b];
    for second in [1, 2, 3, 4, 5] {
        round(&mut board, &both, &mut watch, second);
        let to = board.poll(id).and_then(|entry| entry.assigned.clone()).expect("handed out");
        assert_eq!(to, a, "second {second}");
    }
    round(&mut board, &both, &mut watch, 6);
    let to = board.poll(id).and_then(|entry| entry.assigned.clone()).expect("handed out");
    assert_eq!(to, b, "seen with a at second 2, and for longer than 3 s");
    board.claim(id, b.boot).expect("it is b's");
    round(&mut board, &both, &mut watch, 7);
    round(&mut board, &both, &mut watch, 20);
    assert_eq!(state(&board, id), PollState::Running, "10 s, and 3 s for the report");
    round(&mut board, &both, &mut watch, 21);
    assert_eq!(state(&board, id), PollState::TimedOut);
}

#[test]
fn a_node_that_is_gone_loses_what_it_ran_at_once() {
    let (a, b) = (node("a", 1), node("b", 2));
    let mut board = board(&[&a, &b]);
    let id = asked(&mut board, &Poll::new("x"), 1);
    let mut watch = Watch::default();
    round(&mut board, &[&a, &b], &mut watch, 1);
    board.claim(id, a.boot).expect("it is a's");
    round(&mut board, &[&b], &mut watch, 2);
    let entry = board.poll(id).expect("it is kept");
    assert_eq!((entry.state, entry.note.as_str()), (PollState::Dispatching, "node a is gone"));
    assert_eq!(entry.assigned.as_ref(), Some(&b));
    assert!(!board.runners().contains_key(&a.node));
    let late = board.attempt_ended(id, (a.boot, 1), AttemptEnd::Done("late".to_owned()), 3);
    assert_eq!(late, Err(PollError::AttemptOver { id, attempt: 1 }));
}

#[test]
fn a_poll_is_cancelled_before_it_runs_and_not_after() {
    let a = node("a", 1);
    let mut board = board(&[&a]);
    let (first, second) =
        (asked(&mut board, &Poll::new("x"), 1), asked(&mut board, &Poll::new("x"), 2));
    assert_eq!(board.cancel(first, 5), Ok(()));
    assert_eq!(board.cancel(first, 6), Ok(()), "that it was done may not have been known");
    round(&mut board, &[&a], &mut Watch::default(), 1);
    board.claim(second, a.boot).expect("it is a's");
    let told = board.cancel(second, 7).expect_err("it runs").to_string();
    assert_eq!(told, "a poll that is running cannot Cancel");
    assert_eq!(board.cancel(99, 7), Err(PollError::Unknown { id: 99 }));
    assert_eq!(state(&board, first), PollState::Cancelled);
}

#[test]
fn within_the_window_a_request_counts_for_another() {
    let mut board = board(&[]);
    let poll = Poll { unique_for: Duration::from_secs(60), ..Poll::new("x") };
    let at = |board: &mut PollTable, number, ms| board.enqueue(&poll, ticket(number), ms);
    assert_eq!(at(&mut board, 1, 1_000), Ok(Enqueued::New(1)));
    assert_eq!(at(&mut board, 1, 1_000), Ok(Enqueued::New(1)), "the same request");
    assert_eq!(at(&mut board, 2, 60_999), Ok(Enqueued::Duplicate(1)));
    board.cancel(1, 61_000).expect("it waits");
    assert_eq!(at(&mut board, 3, 60_999), Ok(Enqueued::Duplicate(1)), "done or not");
    assert_eq!(at(&mut board, 4, 61_000), Ok(Enqueued::New(2)));
}

#[test]
fn a_slot_is_enqueued_once_and_skipped_while_the_one_before_runs() {
    let a = node("a", 1);
    let mut board = board(&[&a]);
    let plan = [Periodic { every: Duration::from_secs(10), poll: Poll::new("x") }];
    let look = |board: &mut PollTable, seconds: u64| {
        let now = (at(seconds), seconds * 1_000);
        tend(board, &plan, &present(&[&a]), &PATIENCE, &mut Watch::default(), now);
        board.active().map(|entry| entry.slot.expect("it is periodic")).collect::<Vec<_>>()
    };
    assert_eq!(look(&mut board, 100), [10]);
    assert_eq!(look(&mut board, 109), [10]);
    assert_eq!(look(&mut board, 95), [10], "a clock that is behind enqueues nothing again");
    assert_eq!(look(&mut board, 115), [10], "slot 11 is skipped: 10 still waits");
    board.claim(1, a.boot).expect("it is a's");
    let done = AttemptEnd::Done(String::new());
    board.attempt_ended(1, (a.boot, 1), done, 0).expect("it runs");
    assert_eq!(look(&mut board, 119), [0; 0], "slot 11 had its turn");
    assert_eq!(look(&mut board, 120), [12]);
}

#[test]
fn the_board_is_bounded() {
    let mut board = board(&[]);
    for number in 1..=128 {
        asked(&mut board, &Poll::new("x"), number);
    }
    let full = board.enqueue(&Poll::new("x"), ticket(129), 0).expect_err("it is full");
    let told = "active polls would be 129, no more than 128 are kept; wait until some are done";
    assert_eq!(full.to_string(), told);
    for id in 1..=128 {
        board.cancel(id, 1).expect("it waits");
    }
    assert_eq!((board.active().count(), board.finished().count()), (0, 100));
    assert_eq!(board.finished().next().map(|entry| entry.id), Some(29), "the oldest went");
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
