//! Resigning and leaving: the work stops, then the record is released, then the node goes.

use baton_core::DemotionReason::Released;
use baton_core::ids::Epoch;
use baton_core::protocol::ReleaseReason::{NotEligible, Resigned, Shutdown};
use baton_core::protocol::{Failure, HandoverKind, Hint, Outcome, Request};
use baton_core::timer::Timer;
use baton_core::{Action, Command, Input};

use crate::harness::expect::{
    Beat, cancel, demoted, drawn, heartbeat, leave, left, release, send, set, stop_term,
};
use crate::harness::store::Answer;
use crate::harness::{ME, Node, ask, id, settings, version};

fn told(successor: &str, attempt: u64) -> Action {
    let (to, version) = (id(successor), version(ME, 1, attempt));
    Action::Tell { hint: Hint::Released { version, successor: Some(to.clone()) }, to }
}

#[test]
fn resigning_stops_the_work_then_releases_naming_the_first_successor_then_tells_it() {
    let mut node = Node::leader(&["a", "z"]);
    let reason = Released(Resigned);
    let expected = [cancel(Timer::Soft), demoted(1, reason), stop_term(1, reason, 3_000)];
    assert_eq!(node.command(1_000, Command::Resign), expected);
    let given_up = release(5, version(ME, 1, 1), 2, Some("a"), Resigned);
    assert_eq!(node.stopped(1_100, 1), [given_up]);
    let actions = node.done(1_110, "release", Outcome::Applied);
    let takeover = drawn(&actions, Timer::Takeover, 16_810..=19_310);
    let expected = [told("a", 2), cancel(Timer::Hard), set(Timer::Beat, 1_110), takeover];
    assert_eq!(actions, expected);
    assert_eq!(node.core.ended_epoch(), Epoch(1));
}

#[test]
fn a_second_resignation_changes_nothing() {
    let mut node = Node::leader(&["a"]);
    node.command(1_000, Command::Resign);
    assert_eq!(node.command(1_001, Command::SetEligible(false)), [set(Timer::Beat, 1_001)]);
    node.stopped(1_100, 1);
    assert_eq!(node.stopped(1_101, 1), [], "a second proof is no second release");
}

#[test]
fn proof_for_another_term_proves_nothing() {
    let mut node = Node::leader(&["a"]);
    node.command(1_000, Command::Resign);
    assert_eq!(node.stopped(1_100, 7), []);
    assert_eq!(node.core.held_epoch(), Some(Epoch(1)));
}

#[test]
fn a_release_whose_reply_was_lost_is_looked_up_and_sent_again_if_need_be() {
    let mut node = Node::leader(&["a"]);
    node.command(1_000, Command::Resign);
    node.stopped(1_100, 1);
    let soon = node.fail(3_100, "release", Failure::Unknown);
    assert_eq!(soon, [set(Timer::Beat, 3_100)]);
    let look = Beat::look(3).seen(1).knows(1, 1).sent(6);
    assert_eq!(node.due(3_100, Timer::Beat), [look], "a term that stopped is not renewed");
    let again = release(7, version(ME, 1, 1), 3, Some("a"), Resigned);
    let still_ours = Answer::held(version(ME, 1, 1)).left(10_000);
    assert_eq!(node.answer(3_110, still_ours), [heartbeat(10), set(Timer::Beat, 8_100), again]);
}

#[test]
fn a_release_whose_reply_was_lost_though_it_took_place_ends_the_term() {
    let mut node = Node::leader(&["a"]);
    node.command(1_000, Command::Resign);
    node.stopped(1_100, 1);
    node.fail(3_100, "release", Failure::Unknown);
    node.due(3_100, Timer::Beat);
    let actions = node.answer(3_110, Answer::vacant(version(ME, 1, 2), Some("a")));
    assert_eq!(node.core.held_epoch(), None);
    let expected = [
        heartbeat(10),
        set(Timer::Beat, 8_100),
        crate::harness::expect::leader_changed(Some(ME), None, 1),
        cancel(Timer::Hard),
        set(Timer::Beat, 3_200),
        drawn(&actions, Timer::Takeover, 8_910..=11_410),
    ];
    assert_eq!(actions, expected, "the named one goes first, this one a beat later");
}

#[test]
fn a_refused_release_ends_the_term_and_looks() {
    let mut node = Node::leader(&["a"]);
    node.command(1_000, Command::Resign);
    node.stopped(1_100, 1);
    let actions = node.done(1_110, "release", Outcome::Conflict);
    let takeover = drawn(&actions, Timer::Takeover, 16_810..=19_310);
    assert_eq!(actions, [cancel(Timer::Hard), set(Timer::Beat, 1_110), takeover]);
}

#[test]
fn a_coordinator_leaves_in_order_stop_release_hint_deregister_halt() {
    let mut node = Node::leader(&["a"]);
    let reason = Released(Shutdown);
    let expected = [cancel(Timer::Soft), demoted(1, reason), stop_term(1, reason, 3_000)];
    assert_eq!(node.command(1_000, Command::Leave), expected);
    assert_eq!(node.command(1_001, Command::Leave), [], "once is enough");
    let given_up = release(5, version(ME, 1, 1), 2, Some("a"), Shutdown);
    assert_eq!(node.stopped(1_100, 1), [given_up]);
    let expected = [told("a", 2), cancel(Timer::Hard), leave(6)];
    assert_eq!(node.done(1_110, "release", Outcome::Applied), expected);
    assert_eq!(node.done(1_120, "leave", Outcome::Applied), [left("a"), Action::Halt]);
    assert_eq!(node.due(5_000, Timer::Beat), [], "nothing follows");
}

#[test]
fn a_node_releases_the_lease_but_beats_on_and_keeps_its_record_until_its_services_have_stopped() {
    let mut node = Node::leader(&["a"]);
    assert_eq!(node.handle(500, Input::ServicesRun(true)), []);
    node.command(1_000, Command::Leave);
    node.stopped(1_100, 1);
    let expected = [told("a", 2), cancel(Timer::Hard)];
    assert_eq!(node.done(1_110, "release", Outcome::Applied), expected);
    for now in [5_000, 10_000] {
        let beat = node.due(now, Timer::Beat);
        let request = |action: &Action| match action {
            Action::Send { request: Request::Beat(beat), .. } => Some(beat.node.draining),
            _ => None,
        };
        assert_eq!(beat.iter().find_map(request), Some(true), "it beats, on its way out");
        node.answer(now + 10, Answer::held(version("a", 2, 1)));
    }
    assert_eq!(node.handle(11_000, Input::ServicesRun(false)), [leave(8)]);
    assert_eq!(node.done(11_010, "leave", Outcome::Applied), [left("a"), Action::Halt]);
}

#[test]
fn a_coordinator_that_leaves_while_a_renewal_is_out_waits_for_it() {
    let mut node = Node::leader(&["a"]);
    node.due(5_000, Timer::Beat);
    node.command(5_010, Command::Leave);
    assert_eq!(node.stopped(5_020, 1), []);
    let given_up = release(6, version(ME, 1, 2), 3, Some("a"), Shutdown);
    let expected = [heartbeat(100), set(Timer::Beat, 10_000), given_up];
    assert_eq!(node.answer(5_100, Answer::held(version(ME, 1, 2)).applied()), expected);
}

#[test]
fn a_coordinator_that_leaves_without_a_store_is_gone_by_the_hard_deadline() {
    let mut node = Node::leader(&["a"]);
    node.command(1_000, Command::Leave);
    node.stopped(1_100, 1);
    node.fail(3_100, "release", Failure::Unknown);
    assert_eq!(node.due(14_600, Timer::Hard), [cancel(Timer::Hard), leave(6)]);
    assert_eq!(node.fail(16_600, "leave", Failure::Unknown), [Action::Halt]);
}

#[test]
fn a_follower_leaves_by_taking_its_record_out() {
    let mut node = Node::follower();
    assert_eq!(node.command(1_000, Command::Leave), [cancel(Timer::Takeover), leave(2)]);
    assert_eq!(node.fail(3_000, "leave", Failure::Unknown), [left("a"), Action::Halt]);
}

#[test]
fn a_node_that_was_never_registered_has_nothing_to_take_out() {
    let mut node = Node::new(settings());
    node.start(0);
    assert_eq!(node.command(10, Command::Leave), [], "its first beat may yet register it");
    assert_eq!(node.fail(20, "beat", Failure::NotDone).last(), Some(&Action::Halt));
}

#[test]
fn a_grant_that_arrives_after_the_node_decided_to_leave_is_given_back() {
    let mut node = Node::new(crate::harness::at_once());
    node.start(0);
    node.answer(0, Answer::free());
    node.command(10, Command::Leave);
    let actions = node.answer(20, Answer::held(version(ME, 1, 1)).applied());
    let reason = baton_core::protocol::ReleaseReason::GivenBack;
    assert_eq!(actions.last(), Some(&release(3, version(ME, 1, 1), 2, None, reason)));
    assert_eq!(node.core.held_epoch(), None);
}

#[test]
fn a_follower_passes_a_resignation_on_beside_the_lease() {
    let mut node = Node::follower();
    let asked = send(2, Request::Ask { epoch: Epoch(4), ask: ask(ME, HandoverKind::Resign) });
    assert_eq!(node.command(1_000, Command::Resign), [asked]);
    assert_eq!(node.command(1_001, Command::Resign), [], "one at a time");
    assert_eq!(node.done(1_010, "ask", Outcome::Applied), [set(Timer::Beat, 1_010)]);
}

#[test]
fn a_coordinator_heeds_what_it_finds_beside_its_lease_once() {
    let mut node = Node::leader(&["a"]);
    node.due(5_000, Timer::Beat);
    let reason = Released(Resigned);
    let asked = Answer::held(version(ME, 1, 2)).applied().asked(ask("a", HandoverKind::Resign));
    let expected = [
        heartbeat(10),
        set(Timer::Beat, 10_000),
        set(Timer::Soft, 17_600),
        set(Timer::Hard, 19_600),
        cancel(Timer::Soft),
        demoted(1, reason),
        stop_term(1, reason, 7_010),
    ];
    assert_eq!(node.answer(5_010, asked), expected);
}

#[test]
fn a_draining_coordinator_hands_over() {
    let mut node = Node::leader(&["a"]);
    let reason = Released(NotEligible);
    let expected = [
        cancel(Timer::Soft),
        demoted(1, reason),
        stop_term(1, reason, 3_000),
        set(Timer::Beat, 1_000),
    ];
    assert_eq!(node.command(1_000, Command::SetDraining(true)), expected);
    let given_up = release(5, version(ME, 1, 1), 2, Some("a"), NotEligible);
    assert_eq!(node.stopped(1_100, 1), [given_up]);
}
