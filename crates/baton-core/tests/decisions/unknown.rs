//! Unknown outcomes: a lost reply is resolved by reading the nonce back, and a timeout neither
//! grants nor extends anything.

use baton_core::ids::Epoch;
use baton_core::protocol::{Claim, Failure, Reply, RequestId};
use baton_core::timer::Timer;
use baton_core::{Action, Input, Phase};

use crate::harness::expect::{
    Beat, drawn, elected, heartbeat, leader_changed, phase, promoted, read_members, set,
    start_term, unreachable, window,
};
use crate::harness::store::{Answer, heard};
use crate::harness::{ME, Node, at, at_once, version};

/// A node whose claim, sent at 0 ms, got no answer within 2 s.
fn claim_unanswered(failure: Failure) -> (Node, Vec<Action>) {
    let mut node = Node::new(at_once());
    node.start(0);
    node.answer(0, Answer::free());
    let actions = node.fail(2_000, "beat", failure);
    (node, actions)
}

#[test]
fn a_lost_claim_is_made_again_after_a_short_wait() {
    let (mut node, actions) = claim_unanswered(Failure::Unknown);
    let beat = drawn(&actions, Timer::Beat, 2_125..=2_250);
    let takeover = drawn(&actions, Timer::Takeover, 2_125..=2_250);
    assert_eq!(actions, [beat, takeover]);
    assert_eq!(node.core.held_epoch(), None, "an unknown claim grants nothing");
    let actions = node.due(2_250, Timer::Takeover);
    let claim = Beat::claim(3, 2, Claim::Vacant, None).sent(3);
    assert_eq!(actions, [claim, Action::CancelTimer(Timer::Beat)]);
}

#[test]
fn a_lost_claim_that_took_place_is_found_by_its_nonce_and_counts_from_its_own_send() {
    let (mut node, _) = claim_unanswered(Failure::Unknown);
    node.due(2_250, Timer::Takeover);
    let expected = [
        heartbeat(10),
        set(Timer::Beat, 7_250),
        leader_changed(None, Some(ME), 1),
        elected(1, 1),
        phase(Phase::Ready, 2_260),
        set(Timer::Soft, 12_600),
        set(Timer::Hard, 14_600),
        start_term(1, 0),
        promoted(1),
        read_members(4),
    ];
    let found = Answer::held(version(ME, 1, 1)).conflict().left(12_750);
    assert_eq!(node.answer(2_260, found), expected);
    assert_eq!(node.core.window(at(2_260)), Some((Epoch(1), window(0))));
}

#[test]
fn a_claim_that_certainly_failed_opens_no_window_by_its_send() {
    // Should the record name this process all the same, nothing says since when.
    let (mut node, _) = claim_unanswered(Failure::NotDone);
    node.due(2_250, Timer::Takeover);
    let actions = node.answer(2_260, Answer::held(version(ME, 1, 1)).conflict());
    let expected = [
        heartbeat(10),
        set(Timer::Beat, 7_250),
        leader_changed(None, Some(ME), 1),
        elected(1, 1),
        set(Timer::Beat, 2_350),
    ];
    assert_eq!(actions, expected);
    assert_eq!(node.core.held_epoch(), Some(Epoch(1)));
    assert_eq!(node.core.window(at(2_260)), None, "a renewal must open it");
}

#[test]
fn a_lost_renewal_never_extends_the_window() {
    let mut node = Node::leader(&[]);
    node.due(5_000, Timer::Beat);
    let actions = node.fail(7_000, "beat", Failure::Unknown);
    let again = drawn(&actions, Timer::Beat, 7_125..=7_250);
    assert_eq!(actions, [unreachable(1, 5_600), again]);
    assert_eq!(node.core.window(at(7_000)), Some((Epoch(1), window(0))));
}

#[test]
fn a_lost_renewal_that_took_place_is_found_by_its_nonce() {
    let mut node = Node::leader(&[]);
    node.due(5_000, Timer::Beat);
    node.fail(7_000, "beat", Failure::Unknown);
    let again = Beat::renew(4, 3, version(ME, 1, 1)).seen(1).knows(1, 1).sent(6);
    assert_eq!(node.due(7_250, Timer::Beat), [again], "the version is still the one known");
    let expected = [
        heartbeat(10),
        set(Timer::Beat, 12_250),
        set(Timer::Soft, 17_600),
        set(Timer::Hard, 19_600),
        set(Timer::Beat, 7_350),
    ];
    let found = Answer::held(version(ME, 1, 2)).conflict().left(12_750);
    assert_eq!(node.answer(7_260, found), expected);
    assert_eq!(node.core.window(at(7_260)), Some((Epoch(1), window(5_000))));
    let next = Beat::renew(5, 4, version(ME, 1, 2)).seen(1).knows(1, 1).sent(7);
    assert_eq!(node.due(7_350, Timer::Beat), [next]);
}

#[test]
fn a_late_reply_to_a_request_given_up_is_ignored() {
    let mut node = Node::leader(&[]);
    node.due(5_000, Timer::Beat);
    let late = node.sent("beat");
    node.fail(7_000, "beat", Failure::Unknown);
    let reply = reply_to_renewal();
    assert_eq!(node.handle(7_010, Input::Replied { id: late, reply }), []);
    assert_eq!(node.core.window(at(7_010)), Some((Epoch(1), window(0))));
}

#[test]
fn a_reply_delivered_twice_counts_once() {
    let mut node = Node::leader(&[]);
    node.due(5_000, Timer::Beat);
    let id = node.sent("beat");
    node.handle(5_010, Input::Replied { id, reply: reply_to_renewal() });
    assert_eq!(node.handle(5_020, Input::Replied { id, reply: reply_to_renewal() }), []);
    let members = Reply::Members(vec![heard(ME, 3)]);
    let (id, twice) = (node.sent("members"), members.clone());
    assert_eq!(node.handle(5_030, Input::Replied { id, reply: members }), []);
    assert_eq!(node.handle(5_031, Input::Replied { id, reply: twice }), []);
}

#[test]
fn a_reply_to_a_request_never_made_is_ignored() {
    let mut node = Node::leader(&[]);
    let id = RequestId(99);
    assert_eq!(node.handle(40, Input::Replied { id, reply: reply_to_renewal() }), []);
    assert_eq!(node.handle(41, Input::Failed { id, failure: Failure::Unknown }), []);
}

#[test]
fn failures_are_retried_at_growing_waits_that_stay_short_for_a_holder() {
    let mut node = Node::leader(&[]);
    node.due(5_000, Timer::Beat);
    let mut now = 5_100;
    for (low, high) in [(125, 250), (250, 500), (500, 1_000), (625, 1_250)] {
        let actions = node.fail(now, "beat", Failure::NotDone);
        let again = drawn(&actions, Timer::Beat, now + low..=now + high);
        assert_eq!(actions, [unreachable(1, 12_600 - now), again]);
        now += high;
        node.due(now, Timer::Beat);
    }
}

#[test]
fn failures_of_a_follower_are_retried_at_waits_of_up_to_a_beat() {
    let mut node = Node::follower();
    node.due(5_000, Timer::Beat);
    let mut now = 5_100;
    for (low, high) in [(125, 250), (250, 500), (500, 1_000), (1_000, 2_000)] {
        let actions = node.fail(now, "beat", Failure::NotDone);
        assert_eq!(actions, [drawn(&actions, Timer::Beat, now + low..=now + high)]);
        now += high;
        node.due(now, Timer::Beat);
    }
}

fn reply_to_renewal() -> Reply {
    Reply::Beat(Answer::held(version(ME, 1, 2)).applied().into_reply())
}
