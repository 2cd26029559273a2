//! The circuit breaker: holds beats back while the store keeps failing, and never a deadline.

use baton_core::protocol::Failure;
use baton_core::timer::Timer;
use baton_core::{Action, BreakerState, Command, Event};

use crate::harness::expect::{
    Beat, cancel, demoted, drawn, emit, heartbeat, set, stop_term, unreachable,
};
use crate::harness::store::Answer;
use crate::harness::{ME, Node, at, ms, settings, version};

fn open(failures: u32) -> Action {
    emit(Event::BreakerOpen { failures })
}

/// Fails this many beats in a row, the first sent at 5 000 ms, each failing 10 ms after its send.
/// Returns when the last one failed, and what came of it.
fn fail_beats(node: &mut Node, times: u32) -> (u64, Vec<Action>) {
    let (mut now, mut last) = (5_000, Vec::new());
    for _ in 0..times {
        node.due(now, Timer::Beat);
        last = node.fail(now + 10, "beat", Failure::NotDone);
        now += 1_510;
        if node.core.snapshot().breaker.failure_count == 4 {
            now += 1_000;
        }
    }
    (now - 1_500, last)
}

/// A follower whose breaker has just opened, and when.
fn opened() -> (Node, u64) {
    let mut node = Node::follower_with(settings(), &["b", "c", ME]);
    let (now, _) = fail_beats(&mut node, 5);
    assert_eq!(node.core.snapshot().breaker.state, BreakerState::Open);
    (node, now)
}

#[test]
fn it_opens_after_five_failures_and_holds_a_follower_back_for_a_lease_at_most() {
    let mut node = Node::follower();
    let (_, fourth) = fail_beats(&mut node.clone(), 4);
    assert!(!fourth.contains(&open(4)), "{fourth:?}");
    let (now, actions) = fail_beats(&mut node, 5);
    // 30 s is the setting, 15 s the lease. The claim that would be due waits as well.
    let held = [open(5), set(Timer::Beat, now + 15_000), set(Timer::Takeover, now + 15_000)];
    assert_eq!(actions, held);
    let status = node.core.snapshot().breaker;
    assert_eq!((status.failure_count, status.failure_threshold), (5, 5));
    assert_eq!((status.reset_timeout_ms, status.trips), (15_000, 1));
}

#[test]
fn while_it_is_open_nothing_is_sent() {
    let (mut node, now) = opened();
    let mut actions = node.due(now + 1_000, Timer::Beat);
    actions.extend(node.due(now + 5_000, Timer::Takeover));
    actions.extend(node.hint(now + 6_000, baton_core::protocol::Hint::Asked));
    actions.extend(node.command(now + 7_000, Command::SetDraining(true)));
    let sent = actions.iter().filter(|action| matches!(action, Action::Send { .. })).count();
    assert_eq!(sent, 0, "{actions:?}");
}

#[test]
fn one_probe_passes_and_a_reply_closes_it() {
    let (mut node, now) = opened();
    let actions = node.due(now + 15_000, Timer::Beat);
    assert_eq!(actions[0], emit(Event::BreakerHalfOpen));
    assert_eq!(node.core.snapshot().breaker.state, BreakerState::HalfOpen);
    let actions = node.answer(now + 15_010, Answer::held(version("a", 4, 20)));
    assert_eq!(actions[..2], [emit(Event::BreakerClosed), heartbeat(10)]);
    let status = node.core.snapshot().breaker;
    assert_eq!((status.state, status.failure_count), (BreakerState::Closed, 0));
}

/// A node that may lead next hears from the store and tries it, though not in a loop.
#[test]
fn a_sign_of_life_brings_the_probe_forward() {
    let mut node = Node::follower_with(settings(), &[ME, "b", "c"]);
    let (now, _) = fail_beats(&mut node, 5);
    let hint = || baton_core::protocol::Hint::Look;
    // It was sent 10 ms before it failed: a fifth of a beat after that it may be tried again.
    let actions = node.hint(now + 100, hint());
    assert_eq!(actions[0], set(Timer::Beat, now + 990));
    assert_eq!(node.due(now + 990, Timer::Beat)[0], emit(Event::BreakerHalfOpen));
    node.fail(now + 995, "beat", Failure::NotDone);
    // By now a claim is due, and is the probe.
    let actions = node.hint(now + 7_000, hint());
    assert!(actions.contains(&emit(Event::BreakerHalfOpen)), "{actions:?}");
    let actions = node.answer(now + 7_010, Answer::held(version("a", 4, 20)));
    assert_eq!(actions[0], emit(Event::BreakerClosed));
}

#[test]
fn a_probe_that_fails_opens_it_again_for_as_long() {
    let (mut node, now) = opened();
    node.due(now + 15_000, Timer::Beat);
    let actions = node.fail(now + 17_000, "beat", Failure::Unknown);
    let held = [open(6), set(Timer::Beat, now + 32_000), set(Timer::Takeover, now + 32_000)];
    assert_eq!(actions, held);
    assert_eq!(node.core.snapshot().breaker.trips, 1, "it never closed in between");
}

#[test]
fn it_closes_after_as_many_probes_as_are_asked_for() {
    let two = settings().tune(|it| it.circuit_breaker.half_open_max_attempts = 2);
    let mut node = Node::follower_with(two, &[ME]);
    let (now, _) = fail_beats(&mut node, 5);
    node.due(now + 15_000, Timer::Beat);
    let first = node.answer(now + 15_010, Answer::held(version("a", 4, 20)));
    assert!(!first.contains(&emit(Event::BreakerClosed)));
    node.due(now + 20_000, Timer::Beat);
    let second = node.answer(now + 20_010, Answer::held(version("a", 4, 21)));
    assert_eq!(second[0], emit(Event::BreakerClosed));
}

#[test]
fn a_shorter_reset_than_the_lease_is_kept() {
    let four_seconds = settings().tune(|it| it.circuit_breaker.reset_timeout = ms(4_000));
    let mut node = Node::follower_with(four_seconds, &[ME]);
    let (now, actions) = fail_beats(&mut node, 5);
    assert_eq!(actions[..2], [open(5), drawn(&actions, Timer::Beat, now + 4_000..=now + 5_000)]);
}

#[test]
fn a_coordinator_is_not_held_back() {
    let mut node = Node::leader(&[]);
    for (now, failures) in [(5_000, 1), (6_300, 2), (7_600, 3), (8_900, 4)] {
        node.due(now, Timer::Beat);
        node.fail(now + 10, "beat", Failure::NotDone);
        assert_eq!(node.core.snapshot().breaker.failure_count, failures);
    }
    node.due(10_200, Timer::Beat);
    let actions = node.fail(10_210, "beat", Failure::NotDone);
    let again = drawn(&actions, Timer::Beat, 10_835..=11_460);
    assert_eq!(actions, [open(5), unreachable(1, 2_390), again], "a beat soon, breaker or not");
    let probe = Beat::renew(8, 7, version(ME, 1, 1)).seen(1).knows(1, 1).sent(10);
    assert_eq!(node.due(11_460, Timer::Beat), [emit(Event::BreakerHalfOpen), probe]);
}

#[test]
fn a_coordinator_behind_an_open_breaker_steps_down_in_time() {
    let mut node = Node::leader(&[]);
    for now in [5_000, 6_300, 7_600, 8_900, 10_200] {
        node.due(now, Timer::Beat);
        node.fail(now + 10, "beat", Failure::NotDone);
    }
    assert_eq!(node.core.snapshot().breaker.state, BreakerState::Open);
    let reason = baton_core::DemotionReason::WindowClosed;
    let expected = [cancel(Timer::Soft), demoted(1, reason), stop_term(1, reason, 14_600)];
    assert_eq!(node.due(12_600, Timer::Soft), expected);
    assert!(!node.core.is_leader(at(12_600)));
}

#[test]
fn a_request_that_the_store_rejects_is_told() {
    let mut node = Node::follower();
    node.due(5_000, Timer::Beat);
    let actions = node.fail(5_010, "beat", Failure::Rejected);
    assert_eq!(actions, [emit(Event::StoreRejected), drawn(&actions, Timer::Beat, 5_135..=5_260)]);
}
