//! Acquiring the lease and taking the term up: the epoch, and a window that counts from the send.

use baton_core::ids::Epoch;
use baton_core::lease::Window;
use baton_core::protocol::Claim;
use baton_core::timer::Timer;
use baton_core::{Action, Event, Phase};

use crate::harness::expect::{
    Beat, cancel, drawn, elected, emit, heartbeat, joined, leader_changed, phase, promoted,
    read_members, set, start_term, window,
};
use crate::harness::store::Answer;
use crate::harness::{ME, Node, at, at_once, version};

/// A node whose claim on a namespace without a lease is under way, sent at 0 ms.
fn claiming() -> Node {
    let mut node = Node::new(at_once());
    node.start(0);
    node.answer(0, Answer::free());
    node
}

#[test]
fn the_window_counts_from_the_send_and_not_from_the_reply() {
    let mut node = claiming();
    let expected = [
        heartbeat(1_900),
        set(Timer::Beat, 5_000),
        leader_changed(None, Some(ME), 1),
        elected(1, 1),
        phase(Phase::Ready, 1_900),
        set(Timer::Soft, 12_600),
        set(Timer::Hard, 14_600),
        start_term(1, 0),
        promoted(1),
        read_members(3),
    ];
    assert_eq!(node.answer(1_900, Answer::held(version(ME, 1, 1)).applied()), expected);
    assert_eq!(node.core.window(at(1_900)), Some((Epoch(1), window(0))));
}

#[test]
fn the_epoch_is_the_one_that_the_store_granted() {
    let mut node = claiming();
    node.answer(10, Answer::held(version(ME, 7, 1)).applied());
    assert_eq!(node.core.held_epoch(), Some(Epoch(7)));
    assert_eq!(node.core.known_epoch(), Epoch(7));
    assert!(node.core.may_start_work(at(10), Epoch(7)));
    assert!(!node.core.may_start_work(at(10), Epoch(6)), "the work of another term");
}

#[test]
fn a_claim_passes_the_highest_epoch_on_as_a_floor() {
    let mut node = Node::follower();
    let claim = Beat::claim(2, 1, Claim::Expired, Some(version("a", 4, 9)));
    let down = emit(Event::LeaderDown { former: crate::harness::id("a"), proved: false });
    let expected = [down, claim.seen(4).knows(4, 1).sent(2), cancel(Timer::Beat)];
    assert_eq!(node.due(16_000, Timer::Takeover), expected);
}

#[test]
fn a_reply_after_the_soft_deadline_needs_a_renewal_before_any_work() {
    let mut node = claiming();
    let expected = [
        heartbeat(12_600),
        emit(Event::ContentionDetected { ratio: 2.52, duration_ms: 12_600, expected_ms: 5_000 }),
        set(Timer::Beat, 12_600),
        leader_changed(None, Some(ME), 1),
        elected(1, 1),
    ];
    let granted = Answer::held(version(ME, 1, 1)).applied().left(2_400);
    assert_eq!(node.answer(12_600, granted), expected);
    assert_eq!(node.core.held_epoch(), Some(Epoch(1)));
    assert_eq!(node.core.window(at(12_600)), None);

    let renewal = Beat::renew(3, 2, version(ME, 1, 1)).seen(1).sent(3);
    assert_eq!(node.due(12_600, Timer::Beat), [renewal]);
    let expected = [
        heartbeat(10),
        set(Timer::Beat, 17_600),
        phase(Phase::Ready, 12_610),
        set(Timer::Soft, 25_200),
        set(Timer::Hard, 27_200),
        start_term(1, 12_600),
        promoted(1),
        read_members(4),
    ];
    assert_eq!(node.answer(12_610, Answer::held(version(ME, 1, 2)).applied()), expected);
}

#[test]
fn a_grant_that_ran_out_unopened_is_given_up_without_ever_working() {
    let mut node = claiming();
    node.answer(15_000, Answer::held(version(ME, 1, 1)).applied().left(0));
    node.due(15_000, Timer::Beat);
    let actions = node.answer(15_010, Answer::held(version(ME, 1, 1)).conflict().left(0));
    let worked = actions.iter().any(|action| matches!(action, Action::StartTerm { .. }));
    assert!(!worked, "{actions:?}");
    assert_eq!(node.core.held_epoch(), None);
    assert_eq!(node.core.ended_epoch(), Epoch(1));
}

#[test]
fn a_refused_claim_shows_who_holds_it_and_waits() {
    let mut node = claiming();
    let actions = node.answer(10, Answer::held(version("a", 1, 1)).conflict());
    let expected = [
        heartbeat(10),
        set(Timer::Beat, 5_000),
        leader_changed(None, Some("a"), 1),
        phase(Phase::Ready, 10),
        joined("a"),
        drawn(&actions, Timer::Takeover, 16_810..=19_310),
    ];
    assert_eq!(actions, expected);
    assert_eq!(node.core.leader(at(10)), Some(&crate::harness::id("a")));
}

#[test]
fn a_claim_refused_though_the_lease_is_free_is_not_made_again_at_once() {
    let mut node = claiming();
    let actions = node.answer(10, Answer::free().conflict());
    // Half to one eighth of a beat.
    let again = drawn(&actions, Timer::Takeover, 322..=635);
    assert_eq!(actions, [heartbeat(10), set(Timer::Beat, 5_000), again]);
}

#[test]
fn a_window_that_was_never_open_is_closed() {
    let node = claiming();
    assert_eq!(node.core.window(at(0)), None);
    assert!(!Window::CLOSED.is_open(at(0)));
    assert!(!node.core.is_leader(at(0)));
}
