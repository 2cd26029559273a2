//! Start and cold start: a namespace without a leader is watched for a moment; one that has
//! a leader is joined at once.

use baton_core::Phase;
use baton_core::protocol::{Claim, Failure};
use baton_core::timer::Timer;

use crate::harness::expect::{
    Beat, cancel, drawn, elected, heartbeat, joined, leader_changed, phase, promoted, read_members,
    set, start_term,
};
use crate::harness::store::{Answer, heard, unheard};
use crate::harness::{ME, Node, at_once, ms, settings, version};

/// A node whose observation window has just passed; its request 2 reads the members.
fn observed() -> Node {
    let mut node = Node::new(settings());
    node.start(0);
    node.answer(10, Answer::free());
    node.due(1_010, Timer::ColdStart);
    node
}

#[test]
fn a_node_starts_with_one_look_and_the_election_check() {
    let mut node = Node::new(settings());
    assert_eq!(node.start(0), [set(Timer::ElectionCheck, 5_000), Beat::look(1).sent(1)]);
    assert_eq!(node.start(1), [], "a second start is no start");
}

#[test]
fn without_a_lease_it_watches_who_else_starts() {
    let mut node = Node::new(settings());
    node.start(0);
    let expected = [heartbeat(10), set(Timer::Beat, 5_000), set(Timer::ColdStart, 1_010)];
    assert_eq!(node.answer(10, Answer::free()), expected);
    assert_eq!(node.core.phase(), Phase::Observing);
    assert_eq!(node.due(1_010, Timer::ColdStart), [read_members(2)]);
}

#[test]
fn the_first_by_policy_claims_as_soon_as_it_knows_that_it_is() {
    let mut node = observed();
    let claim = Beat::claim(2, 1, Claim::Vacant, None).sent(3);
    let expected = [phase(Phase::Election, 1_010), claim, cancel(Timer::Beat)];
    assert_eq!(node.members(1_020, vec![heard(ME, 1), heard("z", 1)]), expected);
}

#[test]
fn a_later_one_by_policy_lets_the_better_ones_go_first() {
    let mut node = observed();
    let members = vec![heard("a", 1), heard("b", 1), heard(ME, 1)];
    let expected = [phase(Phase::Election, 1_010), set(Timer::Takeover, 1_220)];
    assert_eq!(node.members(1_020, members), expected);
    let claim = Beat::claim(2, 1, Claim::Vacant, None).sent(3);
    assert_eq!(node.due(1_220, Timer::Takeover), [claim, cancel(Timer::Beat)]);
}

#[test]
fn records_of_the_silent_the_ineligible_and_the_draining_do_not_count() {
    let mut silent = heard("a", 9);
    silent.silent_for = Some(ms(20_000));
    let mut ineligible = heard("b", 1);
    ineligible.record.eligible = false;
    let mut draining = heard("c", 1);
    draining.record.draining = true;
    let mut node = observed();
    let actions = node.members(1_020, vec![silent, ineligible, draining, unheard(ME, 1)]);
    let claim = Beat::claim(2, 1, Claim::Vacant, None).sent(3);
    assert_eq!(actions, [phase(Phase::Election, 1_010), claim, cancel(Timer::Beat)]);
}

#[test]
fn the_winner_of_a_cold_start_begins_its_work() {
    let mut node = observed();
    node.members(1_020, vec![heard(ME, 1)]);
    let expected = [
        heartbeat(10),
        set(Timer::Beat, 6_020),
        leader_changed(None, Some(ME), 1),
        elected(1, 1),
        phase(Phase::Ready, 10),
        set(Timer::Soft, 13_620),
        set(Timer::Hard, 15_620),
        start_term(1, 1_020),
        promoted(1),
        read_members(4),
    ];
    assert_eq!(node.answer(1_030, Answer::held(version(ME, 1, 1)).applied()), expected);
    assert_eq!(node.core.phase(), Phase::Ready);
}

#[test]
fn a_live_lease_ends_the_cold_start_at_the_first_look() {
    let mut node = Node::new(settings());
    node.start(0);
    let actions = node.answer(0, Answer::held(version("a", 4, 9)));
    let expected = [
        heartbeat(0),
        set(Timer::Beat, 5_000),
        leader_changed(None, Some("a"), 4),
        phase(Phase::Ready, 0),
        joined("a"),
        // Without a view the node has no rank: it goes after the eight that have.
        drawn(&actions, Timer::Takeover, 16_800..=19_300),
    ];
    assert_eq!(actions, expected);
}

#[test]
fn a_live_lease_seen_while_observing_ends_it_too() {
    let mut node = Node::new(settings());
    node.start(0);
    node.answer(10, Answer::free());
    node.due(1_010, Timer::ColdStart);
    node.due(5_000, Timer::Beat);
    let actions = node.answer(5_010, Answer::held(version("a", 1, 1)));
    assert_eq!(node.core.phase(), Phase::Ready);
    let takeover = drawn(&actions, Timer::Takeover, 21_810..=24_310);
    let expected = [
        heartbeat(10),
        set(Timer::Beat, 10_000),
        leader_changed(None, Some("a"), 1),
        phase(Phase::Ready, 5_000),
        joined("a"),
        takeover,
    ];
    assert_eq!(actions, expected);
    assert_eq!(node.members(5_020, vec![heard(ME, 1)]), [], "the watch is over");
}

#[test]
fn an_expired_lease_is_no_coordinator_and_is_watched_first() {
    let mut node = Node::new(settings());
    node.start(0);
    let expected = [
        heartbeat(0),
        set(Timer::Beat, 5_000),
        leader_changed(None, Some("a"), 4),
        set(Timer::ColdStart, 1_000),
    ];
    assert_eq!(node.answer(0, Answer::held(version("a", 4, 9)).left(0)), expected);
}

#[test]
fn members_that_could_not_be_read_are_read_again() {
    let mut node = observed();
    let again = node.fail(3_010, "members", Failure::Unknown);
    assert_eq!(again, [set(Timer::ColdStart, 5_010)]);
    assert_eq!(node.due(5_010, Timer::ColdStart), [read_members(3)]);
}

#[test]
fn with_skip_cold_start_it_claims_at_the_first_look() {
    let mut node = Node::new(at_once());
    node.start(0);
    let expected = [
        heartbeat(10),
        set(Timer::Beat, 5_000),
        phase(Phase::Election, 10),
        Beat::claim(2, 1, Claim::Vacant, None).sent(2),
        cancel(Timer::Beat),
    ];
    assert_eq!(node.answer(10, Answer::free()), expected);
}
