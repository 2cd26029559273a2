//! What the core carries for partitions: reports, hints of them, and what those may cost.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, Lineage};
use baton_core::partition::{AssignmentVersion, PartitionReport, PartitionSet};
use baton_core::protocol::{Hint, Member, NodeProfile, Request};
use baton_core::timer::Timer;
use baton_core::{Action, Command, Input, LifelineReport};

use crate::harness::store::{Answer, heard, view};
use crate::harness::{ME, Node, at, boot, id, version};

fn report(version: u64) -> Arc<PartitionReport> {
    Arc::new(PartitionReport {
        lineage: Lineage(1),
        session: 1,
        acked: AssignmentVersion { slot: 0, version },
        stopping: PartitionSet::default(),
    })
}

/// A leader that coordinates partitions, and has read the records of `b` and of itself.
fn coordinator() -> Node {
    let mut node = Node::leader(&["b"]);
    let versions = Arc::<BTreeMap<BootId, AssignmentVersion>>::default();
    node.handle(40, Input::Assigned { epoch: Epoch(1), versions });
    node.members(50, vec![saying(1), heard(ME, 1)]);
    node
}

/// The record of `b`, which acknowledges this version with the beat of the same number.
fn saying(version: u64) -> Member {
    let mut member = heard("b", version);
    member.record.partitions = Some(report(version));
    member
}

fn reads(actions: &[Action]) -> bool {
    let is_reading = |it: &Action| matches!(it, Action::Send { request: Request::ReadMembers, .. });
    actions.iter().any(is_reading)
}

/// Is a hint of this beat of `b` a reason to read the records?
fn reported(node: &mut Node, now: u64, beat: u64) -> bool {
    reads(&node.hint(now, Hint::Reported { boot: boot("b"), beat }))
}

#[test]
fn a_coordinator_that_begins_while_the_records_are_read_has_them_read_again() {
    let mut node = Node::leader(&["b"]);
    node.due(5_000, Timer::Beat);
    let renewed = node.answer(5_010, Answer::held(version(ME, 1, 2)).applied());
    assert!(reads(&renewed));
    let versions = Arc::<BTreeMap<BootId, AssignmentVersion>>::default();
    node.handle(5_020, Input::Assigned { epoch: Epoch(1), versions });
    let asked_before = node.members(5_030, vec![heard("b", 1), heard(ME, 1)]);
    assert!(reads(&asked_before));
    let asked_after = node.members(5_040, vec![heard("b", 1), heard(ME, 1)]);
    let sent = asked_after.iter().find_map(|it| match it {
        Action::MembersRead(reading) => Some(reading.sent),
        _ => None,
    });
    assert_eq!(sent, Some(at(5_030)));
}

#[test]
fn reports_that_are_news_are_read_however_many_come_and_others_are_not() {
    let mut node = coordinator();
    for step in 0..50 {
        let now = 100 + 10 * step;
        assert!(reported(&mut node, now, 2 + step), "{step}");
        node.members(now + 1, vec![saying(2 + step), heard(ME, 1)]);
        assert!(!reported(&mut node, now + 2, 2 + step), "it was shown");
    }
    let read = (0..50).filter(|step| {
        let now = 1_000 + 10 * step;
        let is_read = reported(&mut node, now, u64::MAX);
        if is_read {
            node.members(now + 1, vec![saying(51), heard(ME, 1)]);
        }
        is_read
    });
    assert_eq!(read.count(), 4, "as many as false hints may cost in a beat");
}

#[test]
fn reports_while_the_records_are_read_cost_one_more_reading() {
    let mut node = coordinator();
    assert!(reported(&mut node, 100, 2));
    for now in 101..140 {
        assert!(!reported(&mut node, now, 3));
    }
    let again = node.members(140, vec![saying(2), heard(ME, 1)]);
    assert!(reads(&again));
    assert!(!reads(&node.members(150, vec![saying(3), heard(ME, 1)])));
    assert!(reported(&mut node, 160, 4), "and leave the budget as it was");
}

#[test]
fn the_lifeline_of_an_owner_is_watched_until_it_ends_although_its_record_is_gone() {
    let mut node = coordinator();
    let mut owner = saying(1);
    let profile = NodeProfile { lifeline: Some(Arc::from("b")), ..NodeProfile::default() };
    owner.record.profile = Arc::new(profile);
    let version = AssignmentVersion { slot: 0, version: 1 };
    let versions = Arc::new(BTreeMap::from([(boot("b"), version)]));
    node.handle(60, Input::Assigned { epoch: Epoch(1), versions });
    assert!(reported(&mut node, 100, 2));
    let seen = node.members(110, vec![owner, heard(ME, 1)]);
    let watches = Action::WatchLifeline { boot: boot("b"), address: Arc::from("b") };
    assert!(seen.contains(&watches), "{seen:?}");
    let unwatches = Action::UnwatchLifeline { boot: boot("b") };
    assert!(reads(&node.hint(200, Hint::Left { boot: boot("b") })));
    assert!(!node.members(210, vec![heard(ME, 1)]).contains(&unwatches));
    let ended = node.own_lifeline(220, "b", LifelineReport::Refused);
    assert!(reads(&ended) && ended.contains(&unwatches), "{ended:?}");
    let handed = node.members(230, vec![heard(ME, 1)]);
    let proves = |it: &Action| match it {
        Action::MembersRead(reading) => reading.dead == [boot("b")],
        _ => false,
    };
    assert!(handed.iter().any(proves), "{handed:?}");
}

/// A follower of `a`, whose record with a report of its partitions was just written.
fn owner() -> (Node, Vec<Action>) {
    let mut node = Node::follower();
    node.handle(100, Input::ReportPartitions(Some(report(1))));
    node.due(100, Timer::Beat);
    let written = node.answer(110, Answer::held(version("a", 4, 9)));
    (node, written)
}

fn tells_leader(actions: &[Action]) -> bool {
    let tells = |it: &Action| match it {
        Action::Tell { to, hint: Hint::Reported { boot: of, .. } } => {
            (to, *of) == (&id("a"), boot(ME))
        }
        _ => false,
    };
    actions.iter().any(tells)
}

#[test]
fn the_leader_is_told_of_a_report_and_of_a_node_that_drains() {
    let (mut node, written) = owner();
    assert!(tells_leader(&written));
    assert_eq!(node.core.snapshot().written_report, Some(report(1)));
    node.command(1_000, Command::SetDraining(true));
    node.due(1_000, Timer::Beat);
    assert!(tells_leader(&node.answer(1_010, Answer::held(version("a", 4, 9)))));
    node.due(5_000, Timer::Beat);
    assert!(!tells_leader(&node.answer(5_010, Answer::held(version("a", 4, 9)))), "once");
}

#[test]
fn a_node_that_leaves_shows_as_draining_at_once_while_its_services_run() {
    let (mut node, _) = owner();
    node.handle(1_000, Input::ServicesRun(true));
    node.command(1_000, Command::Leave);
    let beat = node.due(1_000, Timer::Beat);
    let drains = |it: &Action| match it {
        Action::Send { request: Request::Beat(beat), .. } => beat.node.draining,
        _ => false,
    };
    assert!(beat.iter().any(drains), "{beat:?}");
    assert!(tells_leader(&node.answer(1_010, Answer::held(version("a", 4, 9)))));
}

#[test]
fn a_look_that_brings_a_new_view_costs_nothing() {
    let (mut node, _) = owner();
    let looks = |node: &mut Node, number: u64| {
        let now = 110 * number;
        let moved = view("a", (4, number), &[ME, "z", "a"], &[ME, "z"]);
        node.hint(now, Hint::Assigned { view: moved.version });
        let sent = node.due(now, Timer::Beat);
        node.answer(now + 1, Answer::held(version("a", 4, 9)).view(moved));
        sent.iter().any(|it| matches!(it, Action::Send { request: Request::Beat(_), .. }))
    };
    for number in 2..40 {
        assert!(looks(&mut node, number), "{number}");
        assert_eq!(node.core.snapshot().view.map(|view| view.version.number), Some(number));
    }
}

#[test]
fn a_beat_that_was_sent_before_the_clock_stood_still_opens_no_window() {
    let (mut node, _) = owner();
    let written = |node: &Node| node.core.snapshot().written_at;
    let first = written(&node).expect("its report was written");
    node.handle(200, Input::ReportPartitions(Some(report(2))));
    node.due(200, Timer::Beat);
    node.handle(250, Input::ClockLeapt { by: Duration::from_millis(40) });
    node.answer(260, Answer::held(version("a", 4, 9)));
    let snapshot = node.core.snapshot();
    assert_eq!(snapshot.clock_leapt, Duration::from_millis(40));
    assert_eq!(
        snapshot.written_at,
        Some(first - Duration::from_millis(40)),
        "the first, dated back"
    );
    node.handle(400, Input::ReportPartitions(Some(report(3))));
    node.due(400, Timer::Beat);
    node.answer(410, Answer::held(version("a", 4, 9)));
    assert!(written(&node).is_some_and(|at| at > first), "one that was sent after it does");
}
