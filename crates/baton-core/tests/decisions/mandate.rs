//! The mandate: a term is protected for a while, confirmed now and then, and yields to a better
//! node only if that is wanted.

use baton_core::DemotionReason::Released;
use baton_core::ids::Epoch;
use baton_core::protocol::{Outcome, ReleaseReason::Preempted};
use baton_core::settings::{Policy, Preempt, Settings};
use baton_core::timer::Timer;
use baton_core::{Action, Event};

use crate::harness::expect::{
    cancel, demoted, emit, heartbeat, read_members, release, set, stop_term,
};
use crate::harness::store::{Answer, heard, unheard};
use crate::harness::{ME, Node, settings, version};

/// Renews and reads the members `a` and `m` every 5 s until the given second, which is not part
/// of it; returns what came out that is not routine.
fn lead_until(node: &mut Node, seconds: u64) -> Vec<Action> {
    let mut told = Vec::new();
    for round in 1..seconds / 5 {
        let now = round * 5_000;
        node.due(now, Timer::Beat);
        told.extend(node.answer(now, Answer::held(version(ME, 1, round + 1)).applied()));
        told.extend(node.members(now, vec![heard("a", round), heard(ME, round + 2)]));
        node.done(now, "publish-view", Outcome::Applied);
    }
    told.retain(|action| match action {
        Action::Emit(event) => !matches!(event, Event::WorkerHeartbeat { .. }),
        Action::StopTerm { .. } => true,
        _ => false,
    });
    told
}

fn preempted() -> Settings {
    settings().tune(|it| it.preempt = Preempt::AfterMandate)
}

fn confirmed() -> Action {
    emit(Event::CoordinatorEpochRenewed { epoch: Epoch(1), mandate_ms: 300_000 })
}

#[test]
fn a_better_node_never_replaces_a_live_coordinator_by_default() {
    let mut node = Node::leader(&["a"]);
    assert_eq!(lead_until(&mut node, 300), []);
    assert!(node.core.is_leader(crate::harness::at(295_000)));
}

#[test]
fn the_mandate_is_confirmed_when_its_maximum_has_passed() {
    let mut node = Node::leader(&["a"]);
    lead_until(&mut node, 305);
    node.due(305_000, Timer::Beat);
    let expected = [
        heartbeat(0),
        set(Timer::Beat, 310_000),
        set(Timer::Soft, 317_600),
        set(Timer::Hard, 319_600),
        confirmed(),
        read_members(node.sent("beat").0 + 1),
    ];
    let actions = node.answer(305_000, Answer::held(version(ME, 1, 62)).applied());
    assert_eq!(actions, expected, "the term began at 10 ms, so not at 300 000");
}

#[test]
fn with_preemption_a_better_node_is_yielded_to_once_the_minimum_has_passed() {
    let mut node = Node::leader_with(preempted(), &["a"]);
    assert_eq!(lead_until(&mut node, 65), [], "not before");
    node.due(65_000, Timer::Beat);
    let reason = Released(Preempted);
    let expected = [
        heartbeat(0),
        set(Timer::Beat, 70_000),
        set(Timer::Soft, 77_600),
        set(Timer::Hard, 79_600),
        cancel(Timer::Soft),
        demoted(1, reason),
        stop_term(1, reason, 67_000),
    ];
    let renewed = version(ME, 1, 14);
    assert_eq!(node.answer(65_000, Answer::held(renewed).applied()), expected);
    let given_up = release(node.sent("beat").0 + 1, renewed, 15, Some("a"), Preempted);
    assert_eq!(node.stopped(65_100, 1), [given_up]);
}

#[test]
fn a_worse_node_is_not_yielded_to() {
    let mut node = Node::leader_with(preempted(), &["z"]);
    let mut told = Vec::new();
    for round in 1..=20 {
        let now = round * 5_000;
        node.due(now, Timer::Beat);
        told.extend(node.answer(now, Answer::held(version(ME, 1, round + 1)).applied()));
        told.extend(node.members(now, vec![heard(ME, round + 2), heard("z", round + 1)]));
    }
    assert!(!told.iter().any(|action| matches!(action, Action::StopTerm { .. })));
}

#[test]
fn a_better_node_that_was_never_heard_is_not_yielded_to() {
    let mut node = Node::leader_with(preempted(), &[]);
    let mut told = Vec::new();
    for round in 1..=3 {
        let now = 60_000 + round * 5_000;
        // The term was renewed all along; only the last rounds are played.
        if round == 1 {
            told.extend(lead_quietly(&mut node, 60));
        }
        node.due(now, Timer::Beat);
        told.extend(node.answer(now, Answer::held(version(ME, 1, 12 + round)).applied()));
        told.extend(node.members(now, vec![unheard("a", 1), heard(ME, round + 20)]));
        node.done(now, "publish-view", Outcome::Applied);
    }
    assert!(!told.iter().any(|action| matches!(action, Action::StopTerm { .. })), "{told:?}");
}

/// Renews alone every 5 s up to and including this second.
fn lead_quietly(node: &mut Node, seconds: u64) -> Vec<Action> {
    let mut told = Vec::new();
    for round in 1..=seconds / 5 {
        let now = round * 5_000;
        node.due(now, Timer::Beat);
        told.extend(node.answer(now, Answer::held(version(ME, 1, round + 1)).applied()));
        told.extend(node.members(now, vec![heard(ME, round + 2)]));
    }
    told
}

#[test]
fn under_first_come_first_served_no_node_is_better() {
    let incumbent = preempted().tune(|it| it.policy = Policy::Incumbent);
    let mut node = Node::leader_with(incumbent, &["a"]);
    assert_eq!(lead_until(&mut node, 120), []);
}
