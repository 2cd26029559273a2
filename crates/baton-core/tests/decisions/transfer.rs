//! Transfer and forced election: leadership moves on request, or the refusal says why.

use baton_core::DemotionReason::Released;
use baton_core::ids::Epoch;
use baton_core::protocol::ReleaseReason::{Resigned, Transferred};
use baton_core::protocol::{Failure, HandoverKind, Hint, Request};
use baton_core::timer::Timer;
use baton_core::{Action, Command, Event, TransferRefusal, foresee_refusal};

use crate::harness::expect::{cancel, demoted, emit, heartbeat, release, send, set, stop_term};
use crate::harness::store::{Answer, heard};
use crate::harness::{ME, Node, ask, id, ms, settings, version};

fn transfer(to: &str) -> Command {
    Command::Transfer { to: id(to) }
}

fn refused(to: &str, reason: TransferRefusal) -> Action {
    emit(Event::TransferRefused { to: id(to), reason })
}

/// Is the action a request to read the records?
fn reads(action: &Action) -> bool {
    matches!(action, Action::Send { request: Request::ReadMembers, .. })
}

/// Does the leader read the records before it decides, and do nothing else?
fn is_reading(actions: &[Action]) -> bool {
    matches!(actions, [only] if reads(only))
}

/// What a leader in epoch 1 does about a transfer that it accepts.
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
    let members = || vec![draining.clone(), ineligible.clone(), heard(ME, 3)];
    node.members(5_020, members());
    node.done(5_030, "publish-view", baton_core::protocol::Outcome::Applied);
    let cases = [
        ("x", TransferRefusal::NotAMember),
        ("i", TransferRefusal::NotEligible),
        ("d", TransferRefusal::Draining),
        (ME, TransferRefusal::LeadsAlready),
    ];
    for (to, reason) in cases {
        let asked = node.command(5_040, transfer(to));
        let told = match reason {
            TransferRefusal::LeadsAlready => asked,
            _ => {
                assert!(is_reading(&asked), "{asked:?}");
                node.members(5_050, members())
            }
        };
        assert_eq!(told, [refused(to, reason)], "{to}");
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
    let members = || vec![heard("a", 1), heard(ME, 3), silent.clone()];
    node.members(5_020, members());
    node.done(5_030, "publish-view", baton_core::protocol::Outcome::Applied);
    let mut told = |now: u64, to: &str| {
        assert!(is_reading(&node.command(now, transfer(to))), "{to}");
        let told = node.members(now + 10, members());
        told.into_iter().find(|it| matches!(it, Action::Emit(Event::TransferRefused { .. })))
    };
    let silent = TransferRefusal::Silent { for_ms: 21_030, limit_ms: 20_000 };
    assert_eq!(told(5_040, "z"), Some(refused("z", silent)));
    let dead = TransferRefusal::Dead { for_ms: 30_000, limit_ms: 30_000 };
    assert_eq!(told(14_010, "z"), Some(refused("z", dead)));
    assert_eq!(told(14_030, "q"), Some(refused("q", TransferRefusal::NotAMember)));
}

#[test]
fn a_node_that_joined_since_the_last_reading_is_read_before_it_is_refused() {
    let mut node = Node::leader(&["a"]);
    assert!(is_reading(&node.command(1_000, transfer("n"))));
    let actions = node.members(1_010, vec![heard("a", 1), heard(ME, 1), heard("n", 1)]);
    assert!(actions.ends_with(&started("n", 3_010)), "{actions:?}");
}

#[test]
fn a_reading_that_began_before_the_transfer_was_asked_for_does_not_decide_it() {
    let mut node = Node::leader(&["a"]);
    node.due(5_000, Timer::Beat);
    let began = node.answer(5_010, Answer::held(version(ME, 1, 2)).applied());
    assert!(began.iter().any(reads), "{began:?}");
    assert_eq!(node.command(5_020, transfer("n")), [], "a reading is under way");
    let again = node.members(5_030, vec![heard("a", 1), heard(ME, 2)]);
    assert!(is_reading(&again), "{again:?}");
    let actions = node.members(5_040, vec![heard("a", 1), heard(ME, 2), heard("n", 1)]);
    assert!(actions.ends_with(&started("n", 7_040)), "{actions:?}");
}

#[test]
fn a_transfer_whose_reading_fails_is_refused() {
    let mut node = Node::leader(&["a"]);
    assert!(is_reading(&node.command(1_000, transfer("n"))));
    let actions = node.fail(1_010, "members", Failure::Unknown);
    assert!(actions.contains(&refused("n", TransferRefusal::NotAMember)), "{actions:?}");
}

#[test]
fn a_transfer_in_doubt_ends_with_its_term() {
    let mut node = Node::leader(&["a"]);
    assert!(is_reading(&node.command(1_000, transfer("n"))));
    node.command(1_010, Command::Resign);
    let actions = node.members(1_020, vec![heard("a", 1), heard(ME, 1), heard("n", 1)]);
    assert_eq!(actions, [], "the term is on its way out already");
}

#[test]
fn a_refusal_can_be_foreseen_from_a_look_at_the_store() {
    let answer = Answer::held(version("a", 4, 9)).into_reply();
    let mut members: Vec<_> = ["a", "d", "i", "n", "s", "z"].map(|name| heard(name, 1)).into();
    members[1].record.draining = true;
    members[2].record.eligible = false;
    members[4].silent_for = Some(ms(34_000));
    let foresee = |to: &str, lease| foresee_refusal(&id(to), lease, &members, &settings());
    let cases = [
        ("a", Some(TransferRefusal::LeadsAlready)),
        ("d", Some(TransferRefusal::Draining)),
        ("i", Some(TransferRefusal::NotEligible)),
        ("n", None),
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
fn without_a_coordinator_no_node_can_hand_over() {
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
    let wished = ask(ME, HandoverKind::Transfer(id("z")));
    let expected = [send(2, Request::Ask { epoch: Epoch(4), ask: wished })];
    assert_eq!(node.command(1_000, transfer("z")), expected);
}

#[test]
fn a_coordinator_finds_a_transfer_beside_its_lease() {
    let mut node = Node::leader(&["a", "z"]);
    node.due(5_000, Timer::Beat);
    let wished = ask("a", HandoverKind::Transfer(id("z")));
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
        Answer::held(version(ME, 1, attempt))
            .applied()
            .asked(ask("a", HandoverKind::Transfer(id("x"))))
    };
    let members = || vec![heard("a", 2), heard(ME, 3)];
    node.due(5_000, Timer::Beat);
    assert!(node.answer(5_010, asked(2)).iter().any(reads));
    assert_eq!(refusals(&node.members(5_020, members())), 1);
    node.due(10_000, Timer::Beat);
    assert_eq!(refusals(&node.answer(10_010, asked(3))), 0);
    assert_eq!(refusals(&node.members(10_020, members())), 0);
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
    let asked = send(2, Request::Ask { epoch: Epoch(4), ask: ask(ME, HandoverKind::Resign) });
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
