//! Transfer and forced election: leadership moves because somebody asks, or the refusal says why.

use baton_core::DemotionReason::Released;
use baton_core::ids::Epoch;
use baton_core::protocol::ReleaseReason::{Resigned, Transferred};
use baton_core::protocol::{Hint, Request, Wish};
use baton_core::timer::Timer;
use baton_core::{Action, Command, Event, TransferRefusal, foresee_refusal};

use crate::harness::expect::{
    cancel, demoted, emit, heartbeat, release, send, set, stop_term, workers_updated,
};
use crate::harness::store::{Answer, heard, view};
use crate::harness::{ME, Node, ask, id, ms, settings, version};

fn transfer(to: &str) -> Command {
    Command::Transfer { to: id(to) }
}

fn refused(to: &str, reason: TransferRefusal) -> Action {
    emit(Event::TransferRefused { to: id(to), reason })
}

/// What a coordinator in epoch 1 does about a transfer that it accepts.
fn started(to: &str, by: u64) -> [Action; 5] {
    let reason = Released(Transferred);
    [
        Action::Tell { to: id(to), hint: Hint::Prepare { epoch: Epoch(1) } },
        emit(Event::TransferStarted { epoch: Epoch(1), to: id(to) }),
        cancel(Timer::Soft),
        demoted(1, reason),
        stop_term(1, reason, by),
    ]
}

#[test]
fn a_transfer_warms_the_named_node_up_and_names_it_in_the_release() {
    let mut node = Node::leader(&["a", "z"]);
    assert_eq!(node.command(1_000, transfer("z")), started("z", 3_000));
    let given_up = release(5, version(ME, 1, 1), 2, Some("z"), Transferred);
    assert_eq!(node.stopped(1_100, 1), [given_up], "not the first successor");
}

#[test]
fn a_transfer_is_refused_with_its_reason() {
    let mut node = Node::leader(&[]);
    node.due(5_000, Timer::Beat);
    node.answer(5_010, Answer::held(version(ME, 1, 2)).applied());
    let mut ineligible = heard("i", 1);
    ineligible.record.eligible = false;
    let mut draining = heard("d", 1);
    draining.record.draining = true;
    node.members(5_020, vec![draining, ineligible, heard(ME, 3)]);
    node.done(5_030, "publish-view", baton_core::protocol::Outcome::Applied);
    let cases = [
        ("x", TransferRefusal::NotAMember),
        ("i", TransferRefusal::NotEligible),
        ("d", TransferRefusal::Draining),
        (ME, TransferRefusal::LeadsAlready),
    ];
    for (to, reason) in cases {
        assert_eq!(node.command(5_040, transfer(to)), [refused(to, reason)]);
    }
    assert!(node.core.is_leader(crate::harness::at(5_040)));
}

#[test]
fn a_node_that_fell_silent_is_told_from_one_that_never_was() {
    let mut node = Node::leader(&["a", "z"]);
    node.due(5_000, Timer::Beat);
    node.answer(5_010, Answer::held(version(ME, 1, 2)).applied());
    let mut silent = heard("z", 2);
    silent.silent_for = Some(ms(21_000));
    node.members(5_020, vec![heard("a", 1), heard(ME, 3), silent]);
    node.done(5_030, "publish-view", baton_core::protocol::Outcome::Applied);
    let silent = TransferRefusal::Silent { for_ms: 21_020, limit_ms: 20_000 };
    assert_eq!(node.command(5_040, transfer("z")), [refused("z", silent)]);
    let dead = TransferRefusal::Dead { for_ms: 30_000, limit_ms: 30_000 };
    assert_eq!(node.command(14_020, transfer("z")), [refused("z", dead)]);
    let never = refused("q", TransferRefusal::NotAMember);
    assert_eq!(node.command(14_030, transfer("q")), [never]);
}

#[test]
fn a_refusal_can_be_foreseen_from_a_look_at_the_store() {
    let answer = Answer::held(version("a", 4, 9)).into_reply();
    let seen = view("a", (4, 1), &["a", "d", "i", "z"], &["z"]);
    let mut members: Vec<_> = ["a", "d", "i", "n", "s", "z"].map(|name| heard(name, 1)).into();
    members[1].record.draining = true;
    members[2].record.eligible = false;
    members[4].silent_for = Some(ms(34_000));
    let foresee =
        |to: &str, lease| foresee_refusal(&id(to), lease, Some(&seen), &members, &settings());
    let cases = [
        ("a", Some(TransferRefusal::LeadsAlready)),
        ("d", Some(TransferRefusal::Draining)),
        ("i", Some(TransferRefusal::NotEligible)),
        ("n", Some(TransferRefusal::NotHeardYet)),
        ("q", Some(TransferRefusal::NotAMember)),
        ("s", Some(TransferRefusal::Dead { for_ms: 34_000, limit_ms: 30_000 })),
        ("z", None),
    ];
    for (to, expected) in cases {
        assert_eq!(foresee(to, answer.lease.as_ref()), expected, "{to}");
    }
    let over = Answer::held(version("a", 4, 9)).left(0).into_reply().lease;
    for lease in [None, over.as_ref()] {
        assert_eq!(foresee("z", lease), Some(TransferRefusal::NoCoordinator));
    }
}

#[test]
fn without_a_coordinator_there_is_nobody_to_hand_over() {
    let mut node = Node::new(settings());
    node.start(0);
    let none = TransferRefusal::NoCoordinator;
    assert_eq!(node.command(10, transfer("z")), [refused("z", none)]);
    let mut node = Node::follower();
    let actions = node.command(15_000, transfer("z"));
    assert_eq!(actions, [refused("z", none)], "the lease has run out");
}

#[test]
fn a_follower_passes_a_transfer_on_beside_the_lease() {
    let mut node = Node::follower();
    let wished = ask(ME, Wish::Transfer(id("z")));
    let expected = [send(2, Request::Ask { epoch: Epoch(4), ask: wished })];
    assert_eq!(node.command(1_000, transfer("z")), expected);
}

#[test]
fn a_coordinator_finds_a_transfer_beside_its_lease() {
    let mut node = Node::leader(&["a", "z"]);
    node.due(5_000, Timer::Beat);
    let wished = ask("a", Wish::Transfer(id("z")));
    let mut expected = vec![
        heartbeat(10),
        set(Timer::Beat, 10_000),
        set(Timer::Soft, 17_600),
        set(Timer::Hard, 19_600),
    ];
    expected.extend(started("z", 7_010));
    let asked = Answer::held(version(ME, 1, 2)).applied().asked(wished);
    assert_eq!(node.answer(5_010, asked), expected);
}

#[test]
fn an_ask_that_was_refused_is_not_refused_again_with_every_beat() {
    let mut node = Node::leader(&["a"]);
    let refusals = |actions: &[Action]| {
        let refusal = refused("x", TransferRefusal::NotAMember);
        actions.iter().filter(|action| **action == refusal).count()
    };
    let asked = |attempt| {
        Answer::held(version(ME, 1, attempt)).applied().asked(ask("a", Wish::Transfer(id("x"))))
    };
    node.due(5_000, Timer::Beat);
    assert_eq!(refusals(&node.answer(5_010, asked(2))), 1);
    node.due(10_000, Timer::Beat);
    assert_eq!(refusals(&node.answer(10_010, asked(3))), 0);
}

#[test]
fn the_named_node_prepares() {
    let mut node = Node::follower();
    let hint = Hint::Prepare { epoch: Epoch(4) };
    assert_eq!(node.hint(1_000, hint), [Action::Prepare]);
}

#[test]
fn a_forced_election_makes_the_coordinator_resign() {
    let mut node = Node::leader(&["a"]);
    let force = Command::EnsureCoordinator { force: true, desired: None };
    let reason = Released(Resigned);
    let expected = [cancel(Timer::Soft), demoted(1, reason), stop_term(1, reason, 3_000)];
    assert_eq!(node.command(1_000, force.clone()), expected);
    let mut node = Node::follower();
    let asked = send(2, Request::Ask { epoch: Epoch(4), ask: ask(ME, Wish::Resign) });
    assert_eq!(node.command(1_000, force), [asked]);
}

#[test]
fn ensuring_a_coordinator_that_is_there_does_nothing() {
    let ensure = Command::EnsureCoordinator { force: false, desired: None };
    assert_eq!(Node::leader(&["a"]).command(1_000, ensure.clone()), []);
    assert_eq!(Node::follower().command(1_000, ensure), []);
}

#[test]
fn ensuring_a_desired_coordinator_is_a_transfer() {
    let mut node = Node::leader(&["a", "z"]);
    let ensure = Command::EnsureCoordinator { force: false, desired: Some(id("z")) };
    assert_eq!(node.command(1_000, ensure), started("z", 3_000));
}

#[test]
fn ensuring_a_coordinator_where_there_is_none_looks_at_once() {
    let mut node = Node::new(settings());
    node.start(0);
    node.answer(10, Answer::free());
    let ensure = Command::EnsureCoordinator { force: true, desired: None };
    assert_eq!(node.command(500, ensure), [set(Timer::Beat, 500)]);
}

#[test]
fn a_view_that_names_other_members_decides_who_may_be_named() {
    let mut node = Node::leader(&["a"]);
    node.due(5_000, Timer::Beat);
    let newer = view(ME, (1, 2), &["b", ME], &["b"]);
    let actions = node.answer(5_010, Answer::held(version(ME, 1, 2)).applied().view(newer));
    assert_eq!(actions.last(), Some(&workers_updated(1, 2, 2)));
    let gone = refused("a", TransferRefusal::NotHeardYet);
    assert_eq!(node.command(5_020, transfer("a")), [gone]);
}
