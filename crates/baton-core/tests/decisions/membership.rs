//! Membership: the leader alone reads the records, and publishes a view when it changed.

use baton_core::DemotionReason::Released;
use baton_core::protocol::ReleaseReason::FencedOff;
use baton_core::protocol::{Failure, Member, NodeProfile, Outcome, Recording, Request, View};
use baton_core::settings::{Policy, Settings};
use baton_core::timer::Timer;
use baton_core::{Action, Command, Event};

use crate::harness::expect::{
    cancel, demoted, emit, heartbeat, in_line, publish, read_members, set, stop_term,
    workers_updated,
};
use crate::harness::store::{Answer, heard, unheard, view};
use crate::harness::{ME, Node, id, ms, settings, version};

/// A fresh leader in epoch 1 whose first reading of the members, request 3, is out.
fn fresh(settings: Settings) -> Node {
    let mut node = Node::new(settings.tune(|it| it.skip_cold_start = true));
    node.start(0);
    node.answer(0, Answer::free());
    node.answer(10, Answer::held(version(ME, 1, 1)).applied());
    node
}

/// Renews at this time, as the so-manieth write of the lease.
fn renew(node: &mut Node, now: u64, attempt: u64) -> Vec<Action> {
    node.due(now, Timer::Beat);
    node.answer(now, Answer::held(version(ME, 1, attempt)).applied())
}

fn silent(name: &str, beat: u64, silent_ms: u64) -> Member {
    Member { silent_for: Some(ms(silent_ms)), ..heard(name, beat) }
}

fn timed_out(name: &str) -> Action {
    emit(Event::WorkerTimedOut { worker: id(name) })
}

fn dead(name: &str) -> Action {
    emit(Event::WorkerDead { worker: id(name) })
}

#[test]
fn a_fresh_coordinator_publishes_its_first_view_under_its_epoch() {
    let mut node = fresh(settings());
    let first = view(ME, (1, 1), &["a", ME, "z"], &["a", "z"]);
    let members = vec![heard("a", 5), heard(ME, 2), heard("z", 9)];
    assert_eq!(node.members(20, members), [publish(4, first)]);
    let applied = node.done(30, "publish-view", Outcome::Applied);
    let told = [in_line("a", 1, 1), in_line("z", 1, 1)];
    assert_eq!(applied, [&told[..], &[workers_updated(1, 1, 3)]].concat());
    assert!(node.core.snapshot().active_workers().eq([&id("a"), &id(ME), &id("z")]));
}

#[test]
fn the_members_are_read_while_something_moves_and_published_only_when_they_changed() {
    let mut node = Node::leader(&["z"]);
    assert_eq!(renew(&mut node, 5_000, 2).last(), Some(&read_members(6)));
    assert_eq!(node.members(5_010, vec![heard(ME, 3), heard("z", 2)]), [], "nothing changed");
    assert!(!renew(&mut node, 10_000, 3).contains(&read_members(8)), "all is calm");
    assert_eq!(renew(&mut node, 15_000, 4).last(), Some(&read_members(9)));
    let second = view(ME, (1, 2), &["b", ME, "z"], &["b", "z"]);
    let members = vec![heard("b", 1), heard(ME, 5), heard("z", 4)];
    assert_eq!(node.members(15_010, members), [publish(10, second)]);
    node.done(15_020, "publish-view", Outcome::Applied);
    assert_eq!(renew(&mut node, 20_000, 5).last(), Some(&read_members(12)), "a node joined");
}

#[test]
fn records_without_ages_are_read_at_every_beat() {
    let mut node = Node::leader(&["z"]);
    for (round, request) in [(1, 6), (2, 8), (3, 10)] {
        assert_eq!(renew(&mut node, round * 5_000, round + 1).last(), Some(&read_members(request)));
        let ageless = |mut member: Member| {
            member.silent_for = None;
            member
        };
        let members = [heard(ME, round + 2), heard("z", round + 1)].map(ageless);
        assert_eq!(node.members(round * 5_000 + 10, members.into()), []);
    }
}

#[test]
fn a_record_that_says_nothing_new_may_wait_at_every_second_look() {
    let mut node = Node::follower();
    let mut may_wait = |now: u64, load: u32| {
        node.command(now, Command::SetLoad(load));
        let sent = node.due(now, Timer::Beat);
        node.answer(now, Answer::held(version("a", 4, 10)));
        let beat = |action: &Action| match action {
            Action::Send { request: Request::Beat(beat), .. } => {
                Some(beat.recording == Recording::MayWait)
            }
            _ => None,
        };
        sent.iter().find_map(beat)
    };
    let looks = [(5_000, 0), (10_000, 0), (15_000, 0), (20_000, 7), (25_000, 7), (30_000, 7)];
    let told: Vec<Option<bool>> = looks.map(|(now, load)| may_wait(now, load)).into();
    let wanted = [false, true, false, false, true, false];
    assert_eq!(told, wanted.map(Some), "a new load is written at once");
}

#[test]
fn a_follower_never_reads_the_members_and_adopts_the_view_it_is_given() {
    let mut node = Node::follower();
    node.due(5_000, Timer::Beat);
    let newer = view("a", (4, 2), &["a", ME], &[ME]);
    let expected = [
        heartbeat(0),
        set(Timer::Beat, 10_000),
        workers_updated(4, 2, 2),
        set(Timer::Takeover, 21_000),
    ];
    assert_eq!(node.answer(5_000, Answer::held(version("a", 4, 10)).view(newer)), expected);
}

#[test]
fn an_older_view_is_not_adopted() {
    let mut node = Node::follower();
    for older in [(4, 1), (3, 99)] {
        node.hint(5_000, baton_core::protocol::Hint::Look);
        node.due(5_000, Timer::Beat);
        let answer = Answer::held(version("a", 4, 9)).view(view("b", older, &["b"], &["b"]));
        let actions = node.answer(5_000, answer);
        assert!(actions.iter().all(|action| *action != workers_updated(older.0, older.1, 1)));
        let known = node.core.view().expect("it has one");
        assert_eq!(known.coordinator, id("a"));
    }
}

#[test]
fn a_publication_whose_reply_was_lost_is_followed_by_one_of_a_new_number() {
    let mut node = fresh(settings());
    node.members(20, vec![heard(ME, 2)]);
    let soon = node.fail(2_020, "publish-view", Failure::Unknown);
    assert_eq!(soon, [set(Timer::Beat, 2_020)]);
    renew(&mut node, 2_020, 2);
    let second = view(ME, (1, 2), &[ME], &[]);
    assert_eq!(node.members(2_030, vec![heard(ME, 3)]), [publish(7, second)]);
}

#[test]
fn a_publication_that_was_refused_looks_at_the_lease() {
    let mut node = fresh(settings());
    node.members(20, vec![heard(ME, 2)]);
    let refused = node.done(200, "publish-view", Outcome::Conflict);
    assert_eq!(refused, [set(Timer::Beat, 200)]);
    assert_eq!(node.core.view(), None);
}

#[test]
fn a_coordinator_that_stays_fenced_off_although_it_holds_the_lease_hands_over() {
    let mut node = fresh(settings());
    node.members(20, vec![heard(ME, 2)]);
    node.done(200, "publish-view", Outcome::Conflict);
    renew(&mut node, 200, 2);
    node.members(210, vec![heard(ME, 3)]);
    let reason = Released(FencedOff);
    let expected = [cancel(Timer::Soft), demoted(1, reason), stop_term(1, reason, 2_220)];
    assert_eq!(node.done(220, "publish-view", Outcome::Conflict), expected);
}

#[test]
fn a_silent_node_is_told_dropped_told_dead_and_may_return() {
    let mut node = Node::leader(&["z"]);
    let mut attempt = 1;
    let mut read = |node: &mut Node, now: u64, z_beat: u64, z_silent: u64| {
        attempt += 1;
        renew(node, now, attempt);
        let actions = node.members(now, vec![heard(ME, attempt), silent("z", z_beat, z_silent)]);
        node.done(now, "publish-view", Outcome::Applied);
        actions
    };
    // Its last beat was seen at 20 ms.
    for now in [5_000, 10_000, 15_000, 20_000] {
        assert_eq!(read(&mut node, now, 1, now - 20), []);
    }
    let without = view(ME, (1, 2), &[ME], &[]);
    assert_eq!(read(&mut node, 25_000, 1, 24_980), [timed_out("z"), publish(14, without)]);
    assert_eq!(read(&mut node, 30_000, 1, 29_980), [], "and once");
    assert_eq!(read(&mut node, 35_000, 1, 34_980), [dead("z")]);
    assert_eq!(read(&mut node, 40_000, 1, 39_980), [], "and once");
    let back = view(ME, (1, 3), &[ME, "z"], &["z"]);
    assert_eq!(read(&mut node, 45_000, 2, 0), [publish(23, back)]);
    assert_eq!(node.core.snapshot().metrics().worker_timeouts, 1);
}

#[test]
fn a_record_long_silent_by_the_stores_clock_is_dead_at_the_first_reading() {
    let mut node = Node::follower();
    node.due(50_000, Timer::Beat);
    node.answer(50_000, Answer::vacant(version("a", 4, 10), Some(ME)));
    node.answer(50_010, Answer::held(version(ME, 5, 1)).applied());
    let members = vec![heard(ME, 2), silent("z", 9, 40_000)];
    let only_me = view(ME, (5, 1), &[ME], &[]);
    assert_eq!(node.members(50_020, members), [timed_out("z"), dead("z"), publish(5, only_me)]);
}

#[test]
fn each_policy_puts_the_successors_in_its_order() {
    let priority = |name: &str, priority: i32| {
        let mut member = heard(name, 1);
        member.record.profile = NodeProfile { priority, ..Default::default() }.into();
        member
    };
    let members = || vec![priority("a", 1), priority("b", 9), heard(ME, 2), priority("z", 9)];
    let cases = [
        (Policy::Lexicographic, ["a", "b", "z"]),
        (Policy::Priority, ["b", "z", "a"]),
        (Policy::Incumbent, ["a", "b", "z"]),
    ];
    for (policy, successors) in cases {
        let mut node = fresh(settings().tune(|it| it.policy = policy));
        let expected = view(ME, (1, 1), &["a", "b", ME, "z"], &successors);
        assert_eq!(node.members(20, members()), [publish(4, expected)], "{policy:?}");
    }
}

#[test]
fn first_come_first_served_keeps_the_order_of_arrival_through_a_change_of_coordinator() {
    let incumbent = settings().tune(|it| it.policy = Policy::Incumbent);
    let mut node = Node::follower_with(incumbent, &["z", ME, "b"]);
    node.due(5_000, Timer::Beat);
    node.answer(5_000, Answer::vacant(version("a", 4, 10), Some(ME)));
    node.answer(5_010, Answer::held(version(ME, 5, 1)).applied());
    let members = vec![heard("b", 4), heard("c", 1), heard(ME, 3), heard("z", 8)];
    let expected = view(ME, (5, 1), &["b", "c", ME, "z"], &["z", "b", "c"]);
    assert_eq!(node.members(5_020, members), [publish(5, expected)], "newcomers come last");
}

#[test]
fn nodes_that_were_not_heard_yet_come_last_and_move_up_once_they_are() {
    let mut node = fresh(settings());
    let members = vec![unheard("a", 5), heard(ME, 2), heard("z", 9)];
    let first = View { certain: 1, ..view(ME, (1, 1), &["a", ME, "z"], &["z", "a"]) };
    assert_eq!(node.members(20, members), [publish(4, first)], "a record may be all there is");
    node.done(30, "publish-view", Outcome::Applied);
    renew(&mut node, 5_000, 2);
    let members = vec![unheard("a", 6), heard(ME, 3), heard("z", 10)];
    let second = view(ME, (1, 2), &["a", ME, "z"], &["a", "z"]);
    assert_eq!(node.members(5_010, members), [publish(7, second)]);
}

#[test]
fn ineligible_and_draining_nodes_are_members_but_no_successors() {
    let mut ineligible = heard("a", 1);
    ineligible.record.eligible = false;
    let mut draining = heard("b", 1);
    draining.record.draining = true;
    let mut node = fresh(settings());
    let View { mut members, version, coordinator, .. } =
        view(ME, (1, 1), &["a", "b", ME, "z"], &[]);
    (members[0].candidate, members[1].candidate, members[1].draining) = (false, false, true);
    let expected = View { members, version, coordinator, successors: vec![id("z")], certain: 1 };
    let actions = node.members(20, vec![ineligible, draining, heard(ME, 2), heard("z", 1)]);
    assert_eq!(actions, [publish(4, expected)]);
}

#[test]
fn members_that_arrive_after_the_term_ended_publish_nothing() {
    let mut node = fresh(settings());
    node.command(15, baton_core::Command::Resign);
    assert_eq!(node.members(20, vec![heard(ME, 2)]), []);
}
