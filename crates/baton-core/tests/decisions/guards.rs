//! The smaller guards: contention, flapping, and the fence for tasks.

use baton_core::ids::Epoch;
use baton_core::protocol::Failure;
use baton_core::settings::Settings;
use baton_core::timer::Timer;
use baton_core::{Action, Core, Event};

use crate::harness::expect::{emit, heartbeat, leader_changed, set};
use crate::harness::store::Answer;
use crate::harness::{Node, at, settings, version};

fn contention(ratio: f64, duration_ms: u64) -> Action {
    emit(Event::ContentionDetected { ratio, duration_ms, expected_ms: 5_000 })
}

/// A beat that is due at the first time and answered at the second.
fn beat(node: &mut Node, due: u64, answered: u64, attempt: u64) -> Vec<Action> {
    node.due(due, Timer::Beat);
    node.answer(answered, Answer::held(version("a", 4, attempt)))
}

#[test]
fn a_beat_of_more_than_twice_the_interval_is_contention_once_per_rate_limit() {
    let mut node = Node::follower();
    let actions = beat(&mut node, 5_000, 15_000, 10);
    assert_eq!(actions[..2], [heartbeat(10_000), set(Timer::Beat, 15_000)], "just twice");
    let actions = beat(&mut node, 15_000, 26_000, 11);
    assert_eq!(actions[..2], [heartbeat(11_000), contention(2.2, 11_000)]);
    let actions = beat(&mut node, 26_000, 55_999, 12);
    assert_eq!(actions[..2], [heartbeat(29_999), set(Timer::Beat, 55_999)], "too soon to say");
    let actions = beat(&mut node, 55_999, 75_999, 13);
    assert_eq!(actions[..2], [heartbeat(20_000), contention(4.0, 20_000)]);
}

#[test]
fn a_beat_that_was_tried_again_counts_from_its_first_try() {
    let mut node = Node::follower();
    node.due(5_000, Timer::Beat);
    node.fail(7_000, "beat", Failure::Unknown);
    let actions = beat(&mut node, 14_000, 16_000, 10);
    assert_eq!(actions[..2], [heartbeat(2_000), contention(2.2, 11_000)]);
}

#[test]
fn contention_can_be_switched_off() {
    let off = settings().tune(|it| it.contention.enabled = false);
    let mut node = Node::follower_with(off, &["m"]);
    let actions = beat(&mut node, 5_000, 16_000, 10);
    assert_eq!(actions[..2], [heartbeat(11_000), set(Timer::Beat, 16_000)]);
}

/// Sees `a` and `b` take turns, every 5 s from 5 000 ms on, from epoch 5; returns the last look.
fn flap(node: &mut Node, changes: u64, apart: u64) -> Vec<Action> {
    let mut last = Vec::new();
    for change in 1..=changes {
        let name = if change % 2 == 0 { "a" } else { "b" };
        let now = change * apart;
        node.due(now, Timer::Beat);
        last = node.answer(now, Answer::held(version(name, 4 + change, 1)));
    }
    last.retain(|action| matches!(action, Action::Emit(_)));
    last
}

#[test]
fn five_changes_within_ten_minutes_are_worth_a_warning() {
    let mut node = Node::follower();
    let fourth = flap(&mut node.clone(), 3, 5_000);
    assert_eq!(fourth, [heartbeat(0), leader_changed(Some("a"), Some("b"), 7)]);
    let warning = emit(Event::LeaderFlapping { changes: 5, window_ms: 600_000 });
    let fifth = flap(&mut node, 4, 5_000);
    assert_eq!(fifth, [heartbeat(0), warning, leader_changed(Some("b"), Some("a"), 8)]);
    assert_eq!(node.core.snapshot().metrics().leader_changes, 5);
}

#[test]
fn changes_that_are_far_apart_are_not() {
    let off = settings().tune(|it| it.contention.enabled = false);
    let mut node = Node::follower_with(off, &["m"]);
    let last = flap(&mut node, 9, 200_000);
    assert_eq!(last, [heartbeat(0), leader_changed(Some("a"), Some("b"), 13)]);
}

/// A core that has known epoch 4 since 0 ms and epoch 5 since 100 s.
fn known_5(settings: Settings) -> Core {
    let mut node = Node::follower_with(settings, &["m"]);
    node.due(100_000, Timer::Beat);
    node.answer(100_000, Answer::held(version("b", 5, 1)));
    assert_eq!(node.core.known_epoch(), Epoch(5));
    node.core
}

#[test]
fn known_epoch_5_the_table_of_the_scenarios() {
    let cases = [
        (5, 100_000, true, "the present one"),
        (5, 900_000, true, "the present one, for ever"),
        (6, 100_000, true, "a later one"),
        (4, 100_000, true, "the previous one at once"),
        (4, 105_000, true, "the previous one for five seconds"),
        (4, 105_001, false, "the previous one after five seconds"),
        (3, 100_000, false, "an older one"),
        (0, 100_000, false, "no epoch at all"),
    ];
    for (epoch, now, accepted, what) in cases {
        let mut core = known_5(settings());
        assert_eq!(core.is_epoch_valid(at(now), Epoch(epoch), at(100_000)), accepted, "{what}");
    }
}

#[test]
fn a_later_epoch_is_adopted_and_the_grace_begins_anew() {
    let mut core = known_5(settings());
    assert!(core.is_epoch_valid(at(200_000), Epoch(6), at(200_000)));
    assert_eq!(core.known_epoch(), Epoch(6));
    assert!(core.is_epoch_valid(at(204_000), Epoch(5), at(199_000)));
    assert!(!core.is_epoch_valid(at(206_000), Epoch(5), at(199_000)));
    assert!(!core.is_epoch_valid(at(201_000), Epoch(4), at(199_000)));
}

#[test]
fn a_task_of_the_previous_epoch_created_after_the_grace_is_refused() {
    let mut core = known_5(settings());
    assert!(!core.is_epoch_valid(at(104_000), Epoch(4), at(106_000)));
}

#[test]
fn with_fencing_off_every_epoch_is_accepted() {
    let mut core = known_5(settings().tune(|it| it.epoch_fencing_enabled = false));
    for epoch in [0, 3, 4, 5, 6] {
        assert!(core.is_epoch_valid(at(900_000), Epoch(epoch), at(0)), "epoch {epoch}");
    }
    assert_eq!(core.known_epoch(), Epoch(5), "and none adopted");
}
