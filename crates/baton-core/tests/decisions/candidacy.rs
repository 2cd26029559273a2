//! Candidacy: who stands for election, and who may use the node's id at all.

use baton_core::DemotionReason::{Released, Superseded};
use baton_core::ids::{BootId, Epoch};
use baton_core::protocol::ReleaseReason;
use baton_core::protocol::ReleaseReason::{GivenBack, NotEligible, PluginsFailed};
use baton_core::protocol::{Claim, Outcome};
use baton_core::timer::Timer;
use baton_core::{Action, Command, Event, Input};

use crate::harness::expect::{
    Beat, cancel, demoted, emit, heartbeat, leader_changed, release, set, stop_term,
};
use crate::harness::store::Answer;
use crate::harness::{ME, Node, at_once, settings, version};

/// Another process that goes by the name of the node under test.
const OTHER: BootId = BootId(0x6d6d);

fn is_claim(action: &Action) -> bool {
    matches!(action, Action::Send { request, .. } if request.kind() == "acquire")
}

#[test]
fn an_ineligible_node_observes_and_never_claims() {
    let mut node = Node::new(at_once().tune(|it| it.eligible = false));
    let mut actions = node.start(0);
    actions.extend(node.answer(0, Answer::free()));
    actions.extend(node.due(60_000, Timer::Takeover));
    actions.extend(node.due(60_000, Timer::Beat));
    actions.extend(node.answer(60_010, Answer::vacant(version("a", 4, 9), Some(ME))));
    assert!(!actions.iter().any(is_claim), "{actions:?}");
    let mut look = Beat::look(1);
    look.0.node.eligible = false;
    assert_eq!(actions[1], look.sent(1), "and its record says so");
}

#[test]
fn unhealthy_and_draining_nodes_take_their_claim_back_until_they_recover() {
    let cases = [
        (Command::SetEligible(false), Command::SetEligible(true)),
        (Command::SetHealthy(false), Command::SetHealthy(true)),
        (Command::SetDraining(true), Command::SetDraining(false)),
    ];
    for (out, back) in cases {
        let mut node = Node::follower();
        let expected = [set(Timer::Beat, 1_000), cancel(Timer::Takeover)];
        assert_eq!(node.command(1_000, out.clone()), expected, "{out:?}");
        assert_eq!(node.command(1_000, back.clone()), [set(Timer::Takeover, 16_000)], "{back:?}");
    }
}

#[test]
fn a_beat_says_what_the_node_has_to_say_of_itself() {
    let mut node = Node::follower();
    node.command(1_000, Command::SetDraining(true));
    node.command(1_000, Command::SetHealthy(false));
    assert_eq!(node.command(1_000, Command::SetLoad(12)), [], "the next beat carries it");
    let mut look = Beat::look(2).seen(4).knows(4, 1);
    (look.0.node.draining, look.0.node.eligible, look.0.node.load) = (true, false, 12);
    assert_eq!(node.due(1_000, Timer::Beat), [look.sent(2)]);
}

#[test]
fn a_coordinator_that_falls_ill_hands_over() {
    let mut node = Node::leader(&["z"]);
    let reason = Released(NotEligible);
    let expected = [
        cancel(Timer::Soft),
        demoted(1, reason),
        stop_term(1, reason, 3_000),
        set(Timer::Beat, 1_000),
    ];
    assert_eq!(node.command(1_000, Command::SetHealthy(false)), expected);
}

#[test]
fn a_grant_to_a_node_that_became_ineligible_meanwhile_is_given_back() {
    let mut node = Node::new(at_once());
    node.start(0);
    node.answer(0, Answer::free());
    node.command(5, Command::SetEligible(false));
    let given_back = release(3, version(ME, 1, 1), 2, None, GivenBack);
    let expected =
        [heartbeat(10), set(Timer::Beat, 100), leader_changed(None, Some(ME), 1), given_back];
    assert_eq!(node.answer(10, Answer::held(version(ME, 1, 1)).applied()), expected);
}

#[test]
fn a_coordinator_whose_plugins_do_not_start_hands_over_and_recovers_after_two_leases() {
    let mut node = Node::leader(&["z"]);
    let reason = Released(PluginsFailed);
    let expected = [
        set(Timer::Recover, 31_000),
        cancel(Timer::Soft),
        demoted(1, reason),
        stop_term(1, reason, 3_000),
    ];
    assert_eq!(node.handle(1_000, Input::TermFailed { epoch: Epoch(1) }), expected);
    let given_up = release(5, version(ME, 1, 1), 2, Some("z"), PluginsFailed);
    assert_eq!(node.stopped(1_010, 1), [given_up]);
    let told = node.done(1_020, "release", Outcome::Applied);
    assert_eq!(told[1..], [cancel(Timer::Hard), set(Timer::Beat, 1_020)], "no claim is planned");

    node.due(1_020, Timer::Beat);
    let vacant = version(ME, 1, 2);
    let actions = node.answer(1_030, Answer::vacant(vacant, Some("z")));
    assert!(!actions.iter().any(is_claim), "{actions:?}");
    let claim = Beat::claim(4, 3, Claim::Vacant, Some(vacant)).seen(1).knows(1, 1).sent(7);
    let actions = node.due(31_000, Timer::Recover);
    assert_eq!(actions, [set(Timer::Beat, 31_000), claim, cancel(Timer::Beat)]);
}

#[test]
fn a_failed_start_of_another_term_means_nothing() {
    let mut node = Node::leader(&["z"]);
    assert_eq!(node.handle(1_000, Input::TermFailed { epoch: Epoch(9) }), []);
}

#[test]
fn a_node_whose_id_a_living_process_has_is_refused() {
    let mut node = Node::new(settings());
    node.start(0);
    let first = [heartbeat(10), set(Timer::Beat, 2_510)];
    assert_eq!(node.answer(10, Answer::taken(OTHER, 7)), first, "it may be a dead past self");
    node.due(2_510, Timer::Beat);
    let taken = emit(Event::NodeIdTaken { by: OTHER });
    let expected = [heartbeat(10), set(Timer::Beat, 5_020), taken, Action::Halt];
    assert_eq!(node.answer(2_520, Answer::taken(OTHER, 8)), expected);
}

#[test]
fn a_silent_predecessor_is_replaced_after_two_beats() {
    let mut node = Node::new(settings());
    node.start(0);
    node.answer(0, Answer::taken(OTHER, 7));
    for round in 1..=3 {
        let now = round * 2_500;
        assert_eq!(node.due(now, Timer::Beat), [Beat::look(round + 1).sent(round + 1)]);
        let expected = [heartbeat(0), set(Timer::Beat, now + 2_500)];
        assert_eq!(node.answer(now, Answer::taken(OTHER, 7)), expected);
    }
    assert_eq!(node.due(10_000, Timer::Beat), [Beat::look(5).sent(5)]);
    let at_once = [heartbeat(0), set(Timer::Beat, 12_500), set(Timer::Beat, 10_000)];
    assert_eq!(node.answer(10_000, Answer::taken(OTHER, 7)), at_once, "two beats of silence");
    let mut look = Beat::look(6);
    look.0.replaces = Some(OTHER);
    assert_eq!(node.due(10_000, Timer::Beat), [look.sent(6)]);
    let expected = [heartbeat(0), set(Timer::Beat, 15_000), set(Timer::ColdStart, 11_000)];
    assert_eq!(node.answer(10_000, Answer::free()), expected, "it is registered");
}

#[test]
fn a_node_without_its_id_neither_claims_nor_leads() {
    let mut node = Node::new(at_once());
    node.start(0);
    node.answer(0, Answer::taken(OTHER, 7));
    let hint = baton_core::protocol::Hint::Released {
        version: version("a", 4, 1),
        successor: Some(crate::harness::id(ME)),
    };
    let actions = node.hint(100, hint);
    assert_eq!(actions, [set(Timer::Beat, 100)]);
}

#[test]
fn a_follower_that_was_superseded_stops() {
    let mut node = Node::follower();
    node.due(5_000, Timer::Beat);
    let superseded = emit(Event::NodeSuperseded { by: OTHER });
    let expected =
        [heartbeat(10), set(Timer::Beat, 7_510), superseded, cancel(Timer::Takeover), Action::Halt];
    assert_eq!(node.answer(5_010, Answer::taken(OTHER, 1)), expected);
}

#[test]
fn a_coordinator_that_was_superseded_stops_its_work_releases_and_halts() {
    let mut node = Node::leader(&["z"]);
    node.due(5_000, Timer::Beat);
    let expected = [
        heartbeat(10),
        set(Timer::Beat, 7_510),
        emit(Event::NodeSuperseded { by: OTHER }),
        cancel(Timer::Soft),
        demoted(1, Superseded),
        stop_term(1, Superseded, 7_010),
    ];
    assert_eq!(node.answer(5_010, Answer::taken(OTHER, 1)), expected);
    let given_up = release(6, version(ME, 1, 1), 3, None, ReleaseReason::Superseded);
    assert_eq!(node.stopped(5_100, 1), [given_up]);
    let expected = [cancel(Timer::Hard), Action::Halt];
    assert_eq!(node.done(5_110, "release", Outcome::Applied), expected, "it has no record");
}

#[test]
fn a_restarted_node_does_not_take_its_past_selfs_lease_for_its_own() {
    let mut node = Node::new(at_once());
    node.start(0);
    node.answer(0, Answer::held(version(ME, 4, 9)).by_boot(OTHER));
    assert_eq!(node.core.held_epoch(), None);
    assert!(!node.core.is_leader(crate::harness::at(0)));
}
