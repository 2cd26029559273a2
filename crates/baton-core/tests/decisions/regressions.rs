//! What the core once did wrong, each found by driving it by hand.

use baton_core::ids::{BootId, Epoch, Nonce};
use baton_core::protocol::{Ask, Failure, HandoverKind, Hint, Member, Outcome};
use baton_core::timer::Timer;
use baton_core::{Action, Command, Event, Input, Phase};

use crate::harness::expect::{
    elected, heartbeat, leader_changed, phase, promoted, read_members, set, start_term,
};
use crate::harness::store::{Answer, heard};
use crate::harness::{ME, Node, ask, at, at_once, id, ms, settings, version};

/// A node that won a cold start with a preparation delay; the claim was sent at 1 020 ms.
fn prepared() -> (Node, Vec<Action>) {
    let prepare = settings().tune(|it| it.cold_start_preparation_delay = ms(8_000));
    let mut node = Node::new(prepare);
    node.start(0);
    node.answer(10, Answer::free());
    node.due(1_010, Timer::ColdStart);
    node.members(1_020, vec![heard(ME, 1)]);
    let actions = node.answer(1_030, Answer::held(version(ME, 1, 1)).applied());
    (node, actions)
}

#[test]
fn the_preparation_delay_keeps_the_winner_from_working_at_once() {
    let (mut node, actions) = prepared();
    let expected = [
        heartbeat(10),
        set(Timer::Beat, 6_020),
        leader_changed(None, Some(ME), 1),
        elected(1, 1),
        phase(Phase::Preparing, 10),
        set(Timer::ColdStart, 9_030),
        set(Timer::Soft, 13_620),
        set(Timer::Hard, 15_620),
    ];
    assert_eq!(actions, expected);
    node.due(6_020, Timer::Beat);
    let expected = [
        heartbeat(0),
        set(Timer::Beat, 11_020),
        set(Timer::Soft, 18_620),
        set(Timer::Hard, 20_620),
        read_members(5),
    ];
    let renewed = node.answer(6_020, Answer::held(version(ME, 1, 2)).applied());
    assert_eq!(renewed, expected, "a renewal does not end the preparation");
    let expected = [phase(Phase::Ready, 8_000), start_term(1, 6_020), promoted(1)];
    assert_eq!(node.due(9_030, Timer::ColdStart), expected);
}

#[test]
fn a_phase_is_waited_from_the_start_and_not_from_the_clocks_origin() {
    let mut node = Node::new(settings());
    node.start(1_000_000);
    let actions = node.answer(1_000_010, Answer::held(version("a", 4, 9)));
    assert!(actions.contains(&phase(Phase::Ready, 10)), "{actions:?}");
}

#[test]
fn the_first_beat_is_no_contention_whatever_the_clock_says() {
    let mut node = Node::new(settings());
    node.start(1_000_000);
    let actions = node.answer(1_000_010, Answer::free());
    let told = |action: &Action| matches!(action, Action::Emit(Event::ContentionDetected { .. }));
    assert!(!actions.iter().any(told), "{actions:?}");
}

#[test]
fn a_long_silent_record_is_dead_also_while_the_clock_is_young() {
    let mut node = Node::new(at_once());
    node.start(0);
    node.answer(0, Answer::free());
    node.answer(10, Answer::held(version(ME, 1, 1)).applied());
    let gone = Member { silent_for: Some(ms(3_600_000)), ..heard("a", 9) };
    let actions = node.members(20, vec![gone, heard(ME, 2)]);
    let dead = Action::Emit(Event::WorkerDead { worker: id("a") });
    assert!(actions.contains(&dead), "{actions:?}");
}

#[test]
fn single_instance_mode_never_sends_to_a_store() {
    for command in [Command::SetDraining(true), Command::SetEligible(true)] {
        let mut node = Node::new(settings().tune(|it| it.enabled = false));
        node.start(0);
        let mut actions = node.command(1_000, command);
        actions.extend(node.due(1_000, Timer::Beat));
        let sends = actions.iter().any(|action| matches!(action, Action::Send { .. }));
        assert!(!sends, "{actions:?}");
    }
}

#[test]
fn single_instance_mode_leads_again_after_it_resigned_or_failed_to_start() {
    let resign = Input::Command(Command::Resign);
    for input in [resign, Input::TermFailed { epoch: Epoch(1) }] {
        let mut node = Node::new(settings().tune(|it| it.enabled = false));
        node.start(0);
        node.handle(1_000, input.clone());
        node.stopped(1_010, 1);
        node.due(31_000, Timer::Recover);
        node.due(31_000, Timer::Beat);
        assert!(node.core.is_leader(at(40_000)), "{input:?}");
    }
}

#[test]
fn a_lease_that_ran_out_is_told_as_leader_down() {
    let mut node = Node::follower();
    let mut actions = node.due(15_000, Timer::ElectionCheck);
    actions.extend(node.due(16_000, Timer::Takeover));
    let down = Action::Emit(Event::LeaderDown { former: id("a"), proved: false });
    assert!(actions.contains(&down), "{actions:?}");
}

#[test]
fn a_hint_that_arrives_while_a_beat_is_out_is_not_forgotten() {
    let mut node = Node::follower_with(settings(), &["b", ME]);
    node.due(5_000, Timer::Beat);
    let left = version("a", 4, 10);
    node.hint(5_005, Hint::Released { version: left, successor: Some(id(ME)) });
    // The store read the record before the release.
    let actions = node.answer(5_010, Answer::held(version("a", 4, 9)).left(10_000));
    let planned = actions.iter().rev().find_map(|action| match action {
        Action::SetTimer { timer: Timer::Beat, at } => Some(*at),
        _ => None,
    });
    assert!(planned.is_some_and(|planned| planned <= at(5_110)), "{planned:?}");
}

#[test]
fn a_transfer_asked_for_again_after_a_refusal_is_looked_at_again() {
    let mut node = Node::leader(&["b"]);
    let asked = |attempt| {
        let first = ask("b", HandoverKind::Transfer(id("x")));
        Ask { nonce: Nonce { attempt, ..first.nonce }, ..first }
    };
    node.due(5_000, Timer::Beat);
    node.answer(5_010, Answer::held(version(ME, 1, 2)).applied().asked(asked(1)));
    node.members(5_020, vec![heard("b", 2), heard(ME, 3)]);
    node.done(5_030, "publish-view", Outcome::Applied);
    node.due(10_000, Timer::Beat);
    node.answer(10_010, Answer::held(version(ME, 1, 3)).applied().asked(asked(2)));
    let actions = node.members(10_020, vec![heard("b", 3), heard(ME, 4), heard("x", 1)]);
    let started = Action::Emit(Event::TransferStarted { epoch: Epoch(1), to: id("x") });
    assert!(actions.contains(&started), "{actions:?}");
}

#[test]
fn an_elections_duration_does_not_begin_with_an_earlier_one() {
    let mut node = Node::follower();
    node.due(16_000, Timer::Takeover);
    node.fail(16_100, "beat", Failure::NotDone);
    node.due(20_000, Timer::Takeover);
    node.fail(20_010, "beat", Failure::NotDone);
    // Another one led for ten minutes, then named this one.
    let mut now = 25_000;
    node.due(now, Timer::Takeover);
    node.fail(now + 10, "beat", Failure::NotDone);
    now += 10_000;
    node.command(now, Command::SetEligible(false));
    node.due(now, Timer::Beat);
    node.answer(now, Answer::held(version("b", 5, 1)));
    node.command(now, Command::SetEligible(true));
    node.hint(600_000, Hint::Look);
    node.due(600_000, Timer::Beat);
    node.answer(600_000, Answer::vacant(version("b", 5, 2), Some(ME)));
    node.answer(600_010, Answer::held(version(ME, 6, 4)).applied());
    assert_eq!(node.core.held_epoch(), Some(Epoch(6)));
    assert_eq!(node.core.snapshot().metrics().election_duration_ms, 10);
}

#[test]
fn a_node_that_leaves_while_its_claim_is_out_waits_for_the_outcome() {
    let mut node = Node::new(at_once());
    node.start(0);
    node.answer(0, Answer::free());
    assert_eq!(node.command(10, Command::Leave), [], "the lease may be ours");
    let actions = node.answer(20, Answer::held(version("a", 1, 1)).conflict());
    let asked_to_leave = |action: &Action| match action {
        Action::Send { request, .. } => request.kind() == "leave",
        _ => false,
    };
    assert!(actions.iter().any(asked_to_leave), "{actions:?}");
}

#[test]
fn being_superseded_is_told_once() {
    let mut node = Node::leader(&["z"]);
    let superseded = Action::Emit(Event::NodeSuperseded { by: BootId(1) });
    node.due(5_000, Timer::Beat);
    assert!(node.answer(5_010, Answer::taken(BootId(1), 1)).contains(&superseded));
    node.due(7_510, Timer::Beat);
    let again = node.answer(7_520, Answer::taken(BootId(1), 2));
    assert!(!again.contains(&superseded), "{again:?}");
}

#[test]
fn ensuring_the_coordinator_that_leads_already_is_no_request() {
    let desired = Some(id("a"));
    let ensure = Command::EnsureCoordinator { force: false, desired };
    assert_eq!(Node::follower().command(1_000, ensure), []);
    let desired = Some(id(ME));
    let ensure = Command::EnsureCoordinator { force: false, desired };
    assert_eq!(Node::leader(&["z"]).command(1_000, ensure), []);
}
