//! What can be asked of a node: getters follow the clock of the question, and numbers add up.

use baton_core::ids::Epoch;
use baton_core::protocol::Failure;
use baton_core::timer::Timer;
use baton_core::{BreakerState, Command, Event};

use crate::harness::expect::{emit, set};
use crate::harness::store::{Answer, heard};
use crate::harness::{ME, Node, at, at_once, id, ms, settings, version};

#[test]
fn the_leader_is_the_holder_of_a_live_lease() {
    let mut node = Node::new(settings());
    assert_eq!(node.core.leader(at(0)), None);
    node.start(0);
    node.answer(10, Answer::held(version("a", 4, 9)));
    assert_eq!(node.core.leader(at(10)), Some(&id("a")));
    assert_eq!(node.core.leader(at(15_009)), Some(&id("a")));
    assert_eq!(node.core.leader(at(15_010)), None, "it has run out, without any input");
    assert_eq!(Node::leader(&[]).core.leader(at(30)), Some(&id(ME)));
}

#[test]
fn time_without_a_coordinator_adds_up_by_the_clock_of_the_question() {
    let mut node = Node::new(settings());
    node.start(0);
    node.answer(10, Answer::held(version("a", 4, 9)));
    assert_eq!(node.core.snapshot().leaderless(at(15_010)), ms(10), "until it was seen");
    assert_eq!(node.core.snapshot().leaderless(at(15_510)), ms(510), "and since the lease ran out");
    let mut node = Node::leader(&["a"]);
    let before = node.core.snapshot().leaderless(at(1_000));
    node.command(1_000, Command::Resign);
    assert_eq!(node.core.snapshot().leaderless(at(1_300)), before + ms(300), "it leads no more");
}

#[test]
fn a_node_leads_only_within_its_window() {
    let node = Node::leader(&[]);
    assert!(node.core.is_leader(at(14_599)));
    assert!(!node.core.is_leader(at(14_600)));
    assert!(!Node::follower().core.is_leader(at(0)));
}

#[test]
fn a_coordinator_that_was_told_to_stop_does_not_lead_though_its_work_may_act() {
    let mut node = Node::leader(&["a"]);
    node.command(1_000, Command::Resign);
    assert!(!node.core.is_leader(at(1_000)));
    assert!(!node.core.may_start_work(at(1_000), Epoch(1)));
    assert!(node.core.window(at(1_000)).is_some());
    node.stopped(1_100, 1);
    assert_eq!(node.core.window(at(1_100)), None, "nothing runs any more");
    assert_eq!(node.core.held_epoch(), Some(Epoch(1)), "the record still names it");
}

#[test]
fn the_active_workers_are_those_of_the_last_view() {
    let node = Node::follower();
    assert!(node.core.snapshot().active_workers().eq([&id("a"), &id(ME), &id("z")]));
    assert_eq!(Node::new(settings()).core.snapshot().active_workers().count(), 0);
}

#[test]
fn the_breaker_reports_its_settings_in_effect() {
    let mut node = Node::follower();
    node.due(5_000, Timer::Beat);
    node.fail(5_010, "beat", Failure::NotDone);
    let status = node.core.snapshot().breaker;
    assert_eq!((status.state, status.failure_count, status.trips), (BreakerState::Closed, 1, 0));
    assert_eq!((status.failure_threshold, status.reset_timeout_ms), (5, 15_000));
}

#[test]
fn the_election_check_reports_who_coordinates() {
    let mut node = Node::follower();
    let current = emit(Event::ElectionCheck { current: Some(id("a")) });
    let again = set(Timer::ElectionCheck, 10_000);
    assert_eq!(node.due(5_000, Timer::ElectionCheck), [current, again]);
    let no_leader = emit(Event::ElectionCheck { current: None });
    let again = set(Timer::ElectionCheck, 20_500);
    assert_eq!(node.due(15_500, Timer::ElectionCheck), [no_leader, again]);
}

#[test]
fn the_metrics_of_a_cold_start_that_was_won() {
    let mut node = Node::new(at_once());
    node.start(100);
    node.answer(110, Answer::free());
    node.answer(140, Answer::held(version(ME, 1, 1)).applied());
    node.members(150, vec![heard(ME, 1), heard("z", 1)]);
    let report = node.core.snapshot().metrics();
    assert_eq!(
        (report.heartbeat_count, report.worker_registrations, report.worker_timeouts),
        (2, 2, 0)
    );
    assert_eq!(
        (report.election_count, report.election_duration_ms, report.leader_changes),
        (1, 30, 1)
    );
    assert_eq!((report.start_time, report.last_heartbeat_time), (at(100), at(140)));
    let latencies = [report.latency_p50_ms, report.latency_p95_ms, report.latency_p99_ms];
    assert_eq!((latencies, report.latency_sum_ms), ([10.0, 30.0, 30.0], 40.0));
    assert_eq!(node.core.snapshot().leaderless(at(150)), ms(40), "until it led");
}

#[test]
fn a_beat_that_got_no_answer_is_not_counted() {
    let mut node = Node::follower();
    node.due(5_000, Timer::Beat);
    node.fail(7_000, "beat", Failure::Unknown);
    let report = node.core.snapshot().metrics();
    assert_eq!((report.heartbeat_count, report.last_heartbeat_time), (1, at(0)));
}

#[test]
fn a_contradiction_in_the_settings_is_refused_before_anything_starts() {
    let me = Node::new(settings()).core.identity().clone();
    let contradictory = settings().tune(|it| it.worker_timeout = ms(4_000));
    let refused = baton_core::Core::new(me, contradictory.into(), 1);
    let message = refused.expect_err("4 s is too short").to_string();
    assert_eq!(message, "worker_timeout (4s) must be at least 2 × heartbeat_interval (5s)");
}
