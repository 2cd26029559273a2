//! A store whose data went back: claims wait until any term of the lost data is over.

use baton_core::ids::Epoch;
use baton_core::protocol::{Claim, Hint};
use baton_core::timer::Timer;
use baton_core::{Action, DemotionReason, Event, LifelineReport};

use crate::harness::expect::{
    Beat, cancel, demoted, emit, heartbeat, leader_changed, lease_lost, set, stop_term,
};
use crate::harness::store::Answer;
use crate::harness::{ME, Node, id, settings, version};

fn went_back(seen: u64, stored: u64) -> Action {
    emit(Event::StoreWentBack { seen: Epoch(seen), stored: Epoch(stored) })
}

/// A first successor of `a` in epoch 4, which sees at 5 010 ms that the store was promoted to
/// lineage 2 and shows a vacant lease of epoch 2 from before.
fn promoted() -> (Node, Vec<Action>) {
    let mut node = Node::follower();
    node.due(5_000, Timer::Beat);
    let older = Answer::vacant(version("a", 2, 3), Some(ME)).lineage(2).written_in(1);
    let actions = node.answer(5_010, older);
    (node, actions)
}

#[test]
fn data_that_went_back_is_told_and_waited_out() {
    let (mut node, actions) = promoted();
    let expected = [
        heartbeat(10),
        set(Timer::Beat, 10_000),
        went_back(4, 2),
        leader_changed(Some("a"), None, 2),
        // A lease, 1 % of it and the margin: then no node can trust a term of the lost data.
        set(Timer::Takeover, 20_410),
    ];
    assert_eq!(actions, expected);
    let claim = Beat::claim(3, 1, Claim::Vacant, Some(version("a", 2, 3)));
    let expected = [claim.in_lineage(2).seen(4).knows(4, 1).sent(3), cancel(Timer::Beat)];
    assert_eq!(node.due(20_410, Timer::Takeover), expected, "the floor is what was seen before");
}

#[test]
fn a_hint_does_not_skip_the_wait() {
    let (mut node, _) = promoted();
    let hint = Hint::Released { version: version("a", 4, 10), successor: Some(id(ME)) };
    assert_eq!(node.hint(6_000, hint), [set(Timer::Beat, 6_000)]);
}

#[test]
fn a_proved_death_does_not_skip_the_wait() {
    let mut node = Node::follower();
    node.due(5_000, Timer::Beat);
    node.answer(5_010, Answer::held(version("a", 4, 10)).lineage(2));
    let down = emit(Event::LeaderDown { former: id("a"), proved: true });
    let actions = node.own_lifeline(6_000, "a", LifelineReport::Refused);
    assert_eq!(actions, [down, set(Timer::Takeover, 20_410)]);
}

#[test]
fn a_record_written_in_the_new_lineage_settles_it() {
    let (mut node, _) = promoted();
    node.due(10_000, Timer::Beat);
    let settled = Answer::vacant(version("z", 2_005, 1), Some(ME)).lineage(2).written_in(2);
    let actions = node.answer(10_010, settled);
    let claim = Beat::claim(4, 1, Claim::Vacant, Some(version("z", 2_005, 1)));
    assert!(actions.contains(&claim.in_lineage(2).seen(2_005).knows(4, 1).sent(4)), "{actions:?}");
}

#[test]
fn a_restart_of_the_wait_comes_with_each_new_lineage_only() {
    let (mut node, _) = promoted();
    node.due(10_000, Timer::Beat);
    let older = || Answer::vacant(version("a", 2, 3), Some(ME)).written_in(1);
    let expected = [heartbeat(10), set(Timer::Beat, 15_000)];
    assert_eq!(node.answer(10_010, older().lineage(2)), expected, "the same wait goes on");
    node.due(15_000, Timer::Beat);
    let expected = [heartbeat(10), set(Timer::Beat, 20_000), set(Timer::Takeover, 30_410)];
    assert_eq!(node.answer(15_010, older().lineage(3)), expected);
}

#[test]
fn an_empty_store_after_one_with_a_lease_is_waited_out_too() {
    let mut node = Node::follower();
    node.due(5_000, Timer::Beat);
    let expected = [
        heartbeat(10),
        set(Timer::Beat, 10_000),
        went_back(4, 0),
        leader_changed(Some("a"), None, 0),
        set(Timer::Takeover, 20_410),
    ];
    assert_eq!(node.answer(5_010, Answer::free().lineage(2)), expected);
}

#[test]
fn the_known_epoch_never_goes_back() {
    let (node, _) = promoted();
    assert_eq!(node.core.known_epoch(), Epoch(4));
}

#[test]
fn an_older_answer_of_the_same_lineage_is_stale_for_a_lease_and_then_believed() {
    let mut node = Node::follower();
    let older = || Answer::held(version("z", 3, 5));
    node.due(5_000, Timer::Beat);
    let expected = [heartbeat(10), set(Timer::Beat, 10_000)];
    assert_eq!(node.answer(5_010, older()), expected, "a replica may lag");
    node.due(10_000, Timer::Beat);
    node.answer(10_010, older());
    node.due(15_000, Timer::Beat);
    let expected = [heartbeat(10), set(Timer::Beat, 20_000)];
    assert_eq!(node.answer(15_010, older()), expected, "and lag on");
    let claim = node.due(16_000, Timer::Takeover);
    assert_eq!(claim.len(), 3, "{claim:?}");
    let actions = node.answer(20_410, older().conflict());
    assert!(actions.contains(&went_back(4, 3)), "a restored copy does not catch up: {actions:?}");
}

#[test]
fn a_coordinator_whose_term_the_store_lost_stops() {
    let mut node = Node::leader(&["z"]);
    node.due(5_000, Timer::Beat);
    let gone = DemotionReason::LeaseGone;
    let expected = [
        heartbeat(10),
        set(Timer::Beat, 10_000),
        went_back(1, 0),
        leader_changed(Some(ME), None, 0),
        lease_lost(1, gone),
        cancel(Timer::Soft),
        demoted(1, gone),
        stop_term(1, gone, 7_010),
    ];
    assert_eq!(node.answer(5_010, Answer::free().lineage(2).conflict()), expected);
}

#[test]
fn a_grant_of_an_earlier_lineage_is_not_taken_up_but_given_back() {
    let mut node = Node::new(crate::harness::at_once());
    node.start(0);
    node.answer(0, Answer::free());
    let across = Answer::held(version(ME, 1, 1)).lineage(2).written_in(1);
    let actions = node.answer(10, across.applied());
    let started = actions.iter().any(|action| matches!(action, Action::StartTerm { .. }));
    assert!(!started, "{actions:?}");
    assert_eq!(node.core.held_epoch(), None);
    assert_eq!(node.core.ended_epoch(), Epoch(1));
}

#[test]
fn a_first_look_at_a_record_of_an_earlier_lineage_is_suspect() {
    let mut node = Node::new(settings());
    node.start(0);
    let older = Answer::held(version("a", 4, 9)).lineage(2).left(1_000);
    let actions = node.answer(0, older);
    // 15 400 ms: the wait for the lineage; the turn without a rank ends before.
    assert_eq!(actions.last(), Some(&set(Timer::Takeover, 15_400)));
}
