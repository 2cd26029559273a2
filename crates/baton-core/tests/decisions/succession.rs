//! Crashes in quick succession: what a node knows of the dead, and how it is in line at once.

use baton_core::ids::{BootId, Epoch};
use baton_core::protocol::{Claim, Hint, Member, NodeProfile, Outcome, Request, ViewVersion};
use baton_core::timer::Timer;
use baton_core::{Action, Event, LifelineReport};
use std::sync::Arc;

use crate::harness::expect::{
    Beat, cancel, emit, heartbeat, in_line, joined, leader_changed, phase, publish, read_members,
    send, set, workers_updated,
};
use crate::harness::store::{Answer, heard, view};
use crate::harness::{ME, Node, boot, id, settings, version};

/// This node's past self.
const PAST: BootId = BootId(0x6d6d);

const ADDRESS: &str = "127.0.0.1:7000";

fn watch(boot: BootId) -> Action {
    Action::WatchLifeline { boot, address: Arc::from(ADDRESS) }
}

fn down(name: &str) -> Action {
    emit(Event::LeaderDown { former: id(name), proved: true })
}

/// The record that this node's past self left behind.
fn past_record() -> Member {
    let mut member = heard(ME, 7);
    member.record.boot = PAST;
    let lifeline = Some(Arc::from(ADDRESS));
    member.record.profile = Arc::new(NodeProfile { lifeline, ..NodeProfile::default() });
    member
}

/// A node that has found its id taken by its past self, and watches that one's lifeline.
fn restarted() -> Node {
    let mut node = Node::with_lifeline(settings());
    node.start(0);
    let expected = [heartbeat(10), set(Timer::Beat, 2_510), read_members(2)];
    assert_eq!(node.answer(10, Answer::taken(PAST, 7)), expected);
    assert_eq!(node.members(20, vec![past_record()]), [watch(PAST)]);
    node
}

fn refused(node: &mut Node, now: u64, own_host: bool) -> Vec<Action> {
    let report = LifelineReport::Refused;
    node.handle(now, baton_core::Input::Lifeline { boot: PAST, report, own_host })
}

#[test]
fn a_restarted_node_takes_its_id_over_once_its_past_self_is_proved_dead() {
    let mut node = restarted();
    assert_eq!(refused(&mut node, 30, true), [set(Timer::Beat, 30)]);
    let mut look = Beat::look(2);
    look.0.replaces = Some(PAST);
    look.0.node.profile = past_record().record.profile;
    assert_eq!(node.due(30, Timer::Beat), [look.sent(3)]);
}

#[test]
fn a_refusal_on_another_host_proves_nothing_without_an_earlier_connection() {
    let mut node = restarted();
    refused(&mut node, 30, false);
    let sent = node.due(2_510, Timer::Beat);
    let replaces = sent.iter().find_map(|action| match action {
        Action::Send { request: Request::Beat(beat), .. } => Some(beat.replaces),
        _ => None,
    });
    assert_eq!(replaces, Some(None), "the other one may live: {sent:?}");
}

#[test]
fn a_lone_node_that_is_restarted_claims_its_past_selfs_lease_at_once() {
    let mut node = restarted();
    refused(&mut node, 30, true);
    node.due(30, Timer::Beat);
    let mut alone = view(ME, (4, 1), &[ME], &[]);
    alone.members[0].boot = PAST;
    let held = Answer::held(version(ME, 4, 9)).held_by(ME, PAST).view(alone);
    let actions = node.answer(40, held);
    let expected = [
        heartbeat(10),
        set(Timer::Beat, 5_030),
        leader_changed(None, Some(ME), 4),
        down(ME),
        phase(baton_core::Phase::Ready, 40),
        workers_updated(4, 1, 1),
    ];
    assert_eq!(actions[..6], expected);
    let claims = |action: &Action| match action {
        Action::Send { request, .. } => request.kind() == "acquire",
        _ => false,
    };
    assert!(claims(&actions[6]), "no cold start, no turn to wait for: {actions:?}");
}

#[test]
fn successors_that_are_known_to_be_dead_lose_their_turn() {
    let mut node = Node::follower_with(settings(), &["b", "c", ME]);
    node.due(5_000, Timer::Beat);
    node.answer(5_000, Answer::held(version("b", 5, 1)).with_lifeline());
    assert_eq!(node.own_lifeline(6_000, "b", LifelineReport::Refused)[0], down("b"));
    node.due(6_100, Timer::Beat);
    node.answer(6_100, Answer::held(version("c", 6, 1)).with_lifeline());
    let claim = Beat::claim(4, 2, Claim::Dead { boot: boot("c") }, Some(version("c", 6, 1)));
    let expected = [down("c"), claim.seen(6).knows(4, 1).sent(4), cancel(Timer::Beat)];
    let mut actions = node.own_lifeline(7_000, "c", LifelineReport::Refused);
    actions.retain(|action| *action != cancel(Timer::Takeover));
    assert_eq!(actions, expected, "no node is left before this one");
}

#[test]
fn a_new_leader_takes_the_records_of_the_dead_out_and_tells_the_first_in_line() {
    let mut node = Node::follower_with(settings(), &[ME, "y", "z"]);
    node.due(5_000, Timer::Beat);
    node.answer(5_000, Answer::held(version("a", 4, 10)).with_lifeline());
    node.own_lifeline(6_000, "a", LifelineReport::Refused);
    let granted = node.answer(6_010, Answer::held(version(ME, 5, 1)).applied());
    assert!(granted.contains(&read_members(4)), "{granted:?}");
    let members = ["a", ME, "y", "z"].map(|name| heard(name, 3)).to_vec();
    let removal = Request::Leave { node: id("a"), boot: boot("a") };
    let line = view(ME, (5, 1), &[ME, "y", "z"], &["y", "z"]);
    assert_eq!(node.members(6_020, members), [send(5, removal), publish(6, line)]);
    let told = [in_line("y", 5, 1), in_line("z", 5, 1), workers_updated(5, 1, 3)];
    assert_eq!(node.done(6_030, "publish-view", Outcome::Applied), told);
    assert_eq!(node.done(6_040, "leave", Outcome::Applied), []);
}

#[test]
fn a_node_tells_a_leader_once_that_it_is_there_unless_that_is_known() {
    let mut node = Node::new(settings());
    node.start(0);
    let news = |actions: Vec<Action>| {
        actions.into_iter().filter(|it| matches!(it, Action::Tell { .. })).collect::<Vec<_>>()
    };
    assert_eq!(news(node.answer(0, Answer::held(version("a", 4, 9)))), [joined("a")]);
    node.due(5_000, Timer::Beat);
    assert_eq!(news(node.answer(5_000, Answer::held(version("a", 4, 10)))), []);
    node.due(10_000, Timer::Beat);
    let known = Answer::held(version("b", 5, 1)).view(view("b", (5, 1), &["b", ME], &[ME]));
    assert_eq!(news(node.answer(10_000, known)), [], "the view has it");
}

#[test]
fn a_leader_that_is_told_of_a_node_reads_the_records_and_publishes_its_place() {
    let mut node = Node::leader(&["z"]);
    let hint = Hint::Joined { boot: boot("b") };
    assert_eq!(node.hint(1_000, hint.clone()), [read_members(5)]);
    let members = vec![heard("b", 1), heard(ME, 2), heard("z", 2)];
    let line = view(ME, (1, 2), &["b", ME, "z"], &["b", "z"]);
    assert_eq!(node.members(1_010, members), [publish(6, line)]);
    let told = [in_line("b", 1, 2), workers_updated(1, 2, 3)];
    assert_eq!(node.done(1_020, "publish-view", Outcome::Applied), told, "z knows its leader");
    assert_eq!(node.hint(1_030, hint), [], "that is known");
}

#[test]
fn false_news_of_nodes_makes_a_leader_read_only_a_few_times_a_beat() {
    let mut node = Node::leader(&["z"]);
    let mut readings = 0;
    for number in 0..100 {
        let now = 1_000 + number;
        let actions = node.hint(now, Hint::Joined { boot: BootId(u128::from(number)) });
        if !actions.is_empty() {
            readings += 1;
            node.members(now, vec![heard(ME, 2), heard("z", 2)]);
        }
    }
    assert_eq!(readings, 4);
}

#[test]
fn a_node_that_is_told_that_it_is_in_line_looks_and_watches_the_leader() {
    let mut node = Node::follower_with(settings(), &["b", "c", "d", "e", ME]);
    let told = node.hint(1_000, Hint::InLine { view: ViewVersion { epoch: Epoch(5), number: 1 } });
    assert_eq!(told, [set(Timer::Beat, 1_000)]);
    node.due(1_000, Timer::Beat);
    let line = view("b", (5, 1), &["b", ME], &[ME]);
    let actions = node.answer(1_010, Answer::held(version("b", 5, 1)).with_lifeline().view(line));
    let watches = actions.iter().any(|it| matches!(it, Action::WatchLifeline { .. }));
    assert!(watches, "{actions:?}");
    assert_eq!(
        node.hint(2_000, Hint::InLine { view: ViewVersion { epoch: Epoch(5), number: 1 } }),
        [],
        "that is known"
    );
}

/// The holder released the lease and ended; its end was seen first, and the claim on its death came
/// too late.
#[test]
fn a_lease_left_to_this_node_by_a_holder_that_ended_is_claimed_without_a_pause() {
    let mut node = Node::follower();
    node.due(5_000, Timer::Beat);
    node.answer(5_000, Answer::held(version("a", 4, 10)).with_lifeline());
    node.own_lifeline(6_000, "a", LifelineReport::Refused);
    let released = version("a", 4, 11);
    let actions = node.answer(6_010, Answer::vacant(released, Some(ME)).conflict());
    let claim = Beat::claim(4, 2, Claim::Vacant, Some(released)).seen(4).knows(4, 1).sent(4);
    assert!(actions.contains(&claim), "{actions:?}");
}

#[test]
fn a_leader_that_is_told_that_a_node_left_names_another() {
    let mut node = Node::leader(&["a", "z"]);
    let left = Hint::Left { boot: boot("a") };
    assert_eq!(node.hint(1_000, left.clone()), [read_members(5)]);
    let line = view(ME, (1, 2), &[ME, "z"], &["z"]);
    assert_eq!(node.members(1_010, vec![heard(ME, 2), heard("z", 2)]), [publish(6, line)]);
    assert_eq!(node.hint(1_020, left), [], "it is gone already");
}

#[test]
fn a_lone_node_that_ended_in_order_leads_again_without_a_cold_start() {
    let mut node = Node::new(settings());
    node.start(0);
    let mut alone = view(ME, (4, 1), &[ME], &[]);
    alone.members[0].boot = PAST;
    let actions = node.answer(10, Answer::vacant(version(ME, 4, 9), None).view(alone));
    let claim = Beat::claim(2, 1, Claim::Vacant, Some(version(ME, 4, 9))).seen(4).knows(4, 1);
    assert!(actions.contains(&claim.sent(2)), "{actions:?}");

    let mut others = Node::new(settings());
    others.start(0);
    let mut two = view(ME, (4, 1), &[ME, "z"], &["z"]);
    two.members[0].boot = PAST;
    let actions = others.answer(10, Answer::vacant(version(ME, 4, 9), None).view(two));
    assert!(actions.contains(&set(Timer::ColdStart, 1_010)), "z may start too: {actions:?}");
}
