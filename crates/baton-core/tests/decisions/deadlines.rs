//! The soft and the hard deadline: work stops in time, and what stopped does not come back.

use std::time::Duration;

use baton_core::DemotionReason::WindowClosed;
use baton_core::ids::Epoch;
use baton_core::protocol::{Failure, Hint, Outcome, ReleaseReason, Reply};
use baton_core::timer::Timer;
use baton_core::{Action, Command, Event, Input, LifelineReport};

use crate::harness::expect::{
    cancel, demoted, drawn, emit, heartbeat, lease_lost, release, set, stop_term,
};
use crate::harness::store::{Answer, heard};
use crate::harness::{ME, Node, at, boot, version};

/// The actions of the soft deadline of the term of [`Node::leader`].
fn soft_stop() -> [Action; 3] {
    [cancel(Timer::Soft), demoted(1, WindowClosed), stop_term(1, WindowClosed, 14_600)]
}

fn overran() -> [Action; 2] {
    [lease_lost(1, WindowClosed), emit(Event::TermOverran { epoch: Epoch(1) })]
}

/// The term is over: a look soon, and the lease last seen is watched like any other node's.
fn over(actions: &[Action], now: u64) -> [Action; 3] {
    let takeover = drawn(actions, Timer::Takeover, 16_810..=19_310);
    [cancel(Timer::Hard), set(Timer::Beat, now), takeover]
}

#[test]
fn work_is_told_to_stop_at_the_soft_deadline() {
    let mut node = Node::leader(&[]);
    assert_eq!(node.handle(12_599, Input::TermStarted { epoch: Epoch(1) }), []);
    assert!(node.core.may_start_work(at(12_599), Epoch(1)));
    let mut early = node.clone();
    let mut expected = soft_stop().to_vec();
    expected.push(set(Timer::Hard, 14_600));
    assert_eq!(early.due(12_600, Timer::Hard), expected, "whatever brings the news");
    assert_eq!(node.due(12_600, Timer::Soft), soft_stop());
    assert!(!node.core.may_start_work(at(12_600), Epoch(1)));
    assert!(!node.core.is_leader(at(12_600)));
    assert!(node.core.window(at(14_599)).is_some(), "what runs may act until the hard deadline");
    assert!(node.core.window(at(14_600)).is_none());
}

#[test]
fn work_that_goes_on_past_the_hard_deadline_is_told_once() {
    let mut node = Node::leader(&[]);
    node.due(12_600, Timer::Soft);
    assert_eq!(node.due(14_600, Timer::Hard), overran());
    assert_eq!(node.due(14_700, Timer::ElectionCheck).len(), 2, "and not again");
}

#[test]
fn work_that_stopped_in_time_is_followed_by_a_release() {
    let mut node = Node::leader(&["z"]);
    node.due(12_600, Timer::Soft);
    let given_up = release(5, version(ME, 1, 1), 2, None, ReleaseReason::WindowClosed);
    assert_eq!(node.stopped(13_000, 1), [given_up]);
    let actions = node.done(13_010, "release", Outcome::Applied);
    assert_eq!(actions, over(&actions, 13_010));
    assert_eq!(node.core.held_epoch(), None);
}

#[test]
fn a_renewal_that_comes_through_after_the_soft_deadline_resumes_nothing() {
    let mut node = Node::leader(&[]);
    node.due(12_000, Timer::Beat);
    let mut expected = soft_stop().to_vec();
    expected.extend([heartbeat(700), set(Timer::Beat, 17_000)]);
    assert_eq!(node.answer(12_700, Answer::held(version(ME, 1, 2)).applied()), expected);
    assert!(!node.core.is_leader(at(12_700)));
    let given_up = release(6, version(ME, 1, 2), 3, None, ReleaseReason::WindowClosed);
    assert_eq!(node.stopped(12_800, 1), [given_up], "at the version that the renewal left");
}

#[test]
fn a_release_waits_for_a_renewal_that_is_still_out() {
    let mut node = Node::leader(&[]);
    node.due(12_000, Timer::Beat);
    node.due(12_600, Timer::Soft);
    assert_eq!(node.stopped(12_700, 1), [], "the version to release is not known");
    let given_up = release(6, version(ME, 1, 2), 3, None, ReleaseReason::WindowClosed);
    let expected = [heartbeat(800), set(Timer::Beat, 17_000), given_up];
    assert_eq!(node.answer(12_800, Answer::held(version(ME, 1, 2)).applied()), expected);
}

#[test]
fn a_release_without_an_answer_ends_with_the_window() {
    let mut node = Node::leader(&[]);
    node.due(12_600, Timer::Soft);
    node.stopped(12_700, 1);
    let actions = node.due(14_600, Timer::Hard);
    assert_eq!(actions, over(&actions, 14_600), "the expiry does what the release could not");
    assert_eq!(node.core.held_epoch(), None);
    assert_eq!(node.core.ended_epoch(), Epoch(1));
}

#[test]
fn a_term_that_ended_is_never_taken_up_again() {
    let mut node = Node::leader(&[]);
    node.due(12_600, Timer::Soft);
    node.stopped(12_700, 1);
    node.due(14_600, Timer::Hard);
    node.due(14_600, Timer::Beat);
    let actions = node.answer(14_650, Answer::held(version(ME, 1, 1)).left(350));
    let started = actions.iter().any(|action| matches!(action, Action::StartTerm { .. }));
    assert!(!started, "{actions:?}");
    assert_eq!(node.core.held_epoch(), None);
}

#[test]
fn after_a_pause_the_first_input_of_any_kind_stops_the_work() {
    let other = |command| Input::Command(command);
    let renewed = Reply::Beat(Answer::held(version(ME, 1, 2)).applied().into_reply());
    let id = |node: &Node| node.sent("beat");
    let paused = || {
        let mut node = Node::leader(&["z"]);
        node.due(5_000, Timer::Beat);
        node
    };
    let node = paused();
    let inputs = [
        Input::Timer(Timer::Beat),
        Input::Timer(Timer::Soft),
        Input::Timer(Timer::Hard),
        Input::Timer(Timer::ElectionCheck),
        Input::Replied { id: id(&node), reply: renewed },
        Input::Replied { id: id(&node), reply: Reply::Members(vec![heard(ME, 2)]) },
        Input::Failed { id: id(&node), failure: Failure::Unknown },
        Input::Hint(Hint::Look),
        Input::Hint(Hint::ViewMoved),
        Input::Lifeline { boot: boot("z"), report: LifelineReport::Closed, own_host: false },
        Input::TermStarted { epoch: Epoch(1) },
        other(Command::SetLoad(3)),
        other(Command::Resign),
        other(Command::Leave),
        other(Command::SetEligible(true)),
    ];
    for input in inputs {
        let mut node = paused();
        let actions = node.handle(60_000, input.clone());
        let expected: Vec<Action> = soft_stop().into_iter().chain(overran()).collect();
        assert_eq!(actions[..5], expected, "{input:?}");
        assert!(!node.core.is_leader(at(60_000)), "{input:?}");
        let resumed = actions.iter().any(|action| matches!(action, Action::StartTerm { .. }));
        assert!(!resumed, "{input:?} gave {actions:?}");
    }
}

#[test]
fn getters_tell_the_truth_during_a_pause_before_any_input() {
    let node = Node::leader(&[]);
    assert!(node.core.is_leader(at(14_599)));
    assert!(!node.core.is_leader(at(14_600)));
    assert_eq!(node.core.window(at(14_600)), None);
    assert!(!node.core.may_start_work(at(12_600), Epoch(1)));
}

#[test]
fn a_term_that_the_store_gave_to_another_is_lost_at_once() {
    let mut node = Node::leader(&[]);
    node.due(5_000, Timer::Beat);
    let reason = baton_core::DemotionReason::HigherEpoch(Epoch(2));
    let expected = [
        heartbeat(10),
        set(Timer::Beat, 10_000),
        crate::harness::expect::leader_changed(Some(ME), Some("a"), 2),
        lease_lost(1, reason),
        cancel(Timer::Soft),
        demoted(1, reason),
        stop_term(1, reason, 7_010),
    ];
    assert_eq!(node.answer(5_010, Answer::held(version("a", 2, 1)).conflict()), expected);
    assert_eq!(node.stopped(5_100, 1)[0], cancel(Timer::Hard), "there is nothing to release");
}

#[test]
fn a_renewal_refused_because_the_lease_expired_loses_the_term() {
    let mut node = Node::leader(&[]);
    node.due(5_000, Timer::Beat);
    let reason = baton_core::DemotionReason::LeaseGone;
    let expected = [
        heartbeat(10),
        set(Timer::Beat, 10_000),
        lease_lost(1, reason),
        cancel(Timer::Soft),
        demoted(1, reason),
        stop_term(1, reason, 7_010),
    ];
    let expired = Answer::held(version(ME, 1, 1)).conflict().left(0);
    let mut got = node.answer(5_010, expired);
    got.truncate(6);
    assert_eq!(got, expected);
}

/// A frozen virtual machine: its clock stood still with it, and only the wall clock tells.
#[test]
fn time_that_the_clock_did_not_count_closes_the_window() {
    let mut node = Node::leader(&[]);
    let mut short = node.clone();
    let actions = short.handle(3_000, Input::ClockLeapt { by: Duration::from_secs(4) });
    let expected = [set(Timer::Soft, 8_600), set(Timer::Hard, 10_600), set(Timer::Beat, 3_000)];
    assert_eq!(actions, expected, "a renewal is sent at once");
    assert!(short.core.may_start_work(at(8_599), Epoch(1)));
    assert!(!short.core.may_start_work(at(8_600), Epoch(1)));

    let actions = node.handle(3_000, Input::ClockLeapt { by: Duration::from_secs(60) });
    let stopped = |action: &Action| matches!(action, Action::StopTerm { .. });
    assert!(actions.iter().any(stopped), "{actions:?}");
    assert!(!node.core.is_leader(at(3_000)) && node.core.window(at(3_000)).is_none());
}

#[test]
fn a_renewal_sent_before_the_clock_stood_still_counts_from_before_that() {
    let mut node = Node::leader(&[]);
    node.due(5_000, Timer::Beat);
    node.handle(5_050, Input::ClockLeapt { by: Duration::from_secs(3) });
    node.answer(5_100, Answer::held(version(ME, 1, 2)).applied());
    assert!(node.core.may_start_work(at(14_599), Epoch(1)));
    assert!(!node.core.may_start_work(at(14_600), Epoch(1)), "17.6 s less the 3 s");
}
