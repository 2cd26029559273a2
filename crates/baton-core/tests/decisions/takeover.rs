//! Takeover: who claims a lease that is, or will be, free, and when.

use baton_core::ids::{BootId, Epoch};
use baton_core::protocol::{Claim, Hint, Version};
use baton_core::timer::Timer;
use baton_core::{Action, Event, LifelineReport};

use crate::harness::expect::{
    Beat, cancel, drawn, emit, heartbeat, leader_changed, phase, set, workers_updated,
};
use crate::harness::store::{Answer, view};
use crate::harness::{ME, Node, boot, id, settings, version};

/// The second beat of a follower of `a`, as a claim under request 2.
fn claim(count: u64, ground: Claim, expect: Version) -> Beat {
    Beat::claim(count, 1, ground, Some(expect)).seen(expect.epoch.0).knows(4, 1)
}

/// A follower of `a` that is connected to the lifeline of `a`.
fn connected(successors: &[&str]) -> Node {
    let mut node = watching(successors);
    assert_eq!(node.lifeline(500, "a", LifelineReport::Alive), []);
    node
}

/// A follower of `a` that watches the lifeline of `a`.
fn watching(successors: &[&str]) -> Node {
    following(successors, Answer::held(version("a", 4, 9)).with_lifeline())
}

/// A follower of `a` in this line of successors, which has seen the lease so.
fn following(successors: &[&str], lease: Answer) -> Node {
    let mut node = Node::new(settings());
    node.start(0);
    let members: Vec<&str> = successors.iter().copied().chain(["a"]).collect();
    node.answer(0, lease.view(view("a", (4, 1), &members, successors)));
    node
}

fn down(proved: bool) -> Action {
    emit(Event::LeaderDown { former: id("a"), proved })
}

#[test]
fn each_successor_waits_for_the_expiry_the_delay_and_its_turn() {
    for (successors, due) in [
        (vec![ME, "z"], 16_000),
        (vec!["b", ME], 16_100),
        (vec!["b", "c", "d", "e", "f", "g", "h", ME], 16_700),
    ] {
        let mut node = Node::new(settings());
        node.start(0);
        let seen = view("a", (4, 1), &successors, &successors);
        let expected = [
            heartbeat(0),
            set(Timer::Beat, 5_000),
            leader_changed(None, Some("a"), 4),
            phase(baton_core::Phase::Ready, 0),
            workers_updated(4, 1, successors.len()),
            set(Timer::Takeover, due),
        ];
        assert_eq!(node.answer(0, Answer::held(version("a", 4, 9)).view(seen)), expected);
    }
}

#[test]
fn a_node_beyond_the_last_rank_takes_a_random_turn_after_them() {
    let successors = ["b", "c", "d", "e", "f", "g", "h", "i", ME];
    let mut node = Node::new(settings());
    node.start(0);
    let seen = view("a", (4, 1), &successors, &successors);
    let actions = node.answer(0, Answer::held(version("a", 4, 9)).view(seen));
    assert_eq!(actions.last(), Some(&drawn(&actions, Timer::Takeover, 16_800..=19_300)));
}

#[test]
fn a_renewal_seen_in_time_moves_the_takeover() {
    let mut node = Node::follower();
    node.due(5_000, Timer::Beat);
    let expected = [heartbeat(10), set(Timer::Beat, 10_000), set(Timer::Takeover, 21_010)];
    assert_eq!(node.answer(5_010, Answer::held(version("a", 4, 10))), expected);
}

#[test]
fn an_expired_lease_is_claimed_as_expired() {
    let mut node = Node::follower();
    let claimed = claim(2, Claim::Expired, version("a", 4, 9)).sent(2);
    let expected = [down(false), claimed, cancel(Timer::Beat)];
    assert_eq!(node.due(16_000, Timer::Takeover), expected);
}

#[test]
fn a_hiccup_shorter_than_the_delay_changes_nothing() {
    let mut node = Node::follower();
    for (sent, left) in [(5_000, 10_000), (10_000, 5_000), (15_000, 0)] {
        node.due(sent, Timer::Beat);
        let actions = node.answer(sent, Answer::held(version("a", 4, 9)).left(left));
        assert_eq!(actions, [heartbeat(0), set(Timer::Beat, sent + 5_000)], "still the same");
    }
    assert_eq!(node.core.leader(crate::harness::at(15_000)), None);
    node.hint(15_500, Hint::Look);
    node.due(15_500, Timer::Beat);
    let expected = [heartbeat(10), set(Timer::Beat, 20_000), set(Timer::Takeover, 31_510)];
    assert_eq!(node.answer(15_510, Answer::held(version("a", 4, 10))), expected);
}

#[test]
fn without_a_clock_in_the_store_the_observer_counts_from_the_first_receipt() {
    let mut node = Node::new(settings());
    node.start(0);
    let seen = view("a", (4, 1), &["a", ME], &[ME]);
    let answer = Answer::held(version("a", 4, 9)).observer().view(seen);
    let actions = node.answer(40, answer.clone());
    // Received at 40, then 15 s and 1 % of it, the margin, and the delay.
    assert_eq!(actions.last(), Some(&set(Timer::Takeover, 16_440)));
    node.due(5_000, Timer::Beat);
    let expected = [heartbeat(10), set(Timer::Beat, 7_500)];
    assert_eq!(node.answer(5_010, answer), expected, "the same version is no newer");
    node.due(10_000, Timer::Beat);
    let renewed = Answer::held(version("a", 4, 10)).observer();
    let expected = [heartbeat(10), set(Timer::Beat, 12_500), set(Timer::Takeover, 26_410)];
    assert_eq!(node.answer(10_010, renewed), expected);
}

#[test]
fn the_named_successor_claims_at_once() {
    let mut node = Node::follower_with(settings(), &["b", ME]);
    node.due(5_000, Timer::Beat);
    let vacant = version("a", 4, 10);
    let expected = [
        heartbeat(10),
        set(Timer::Beat, 10_000),
        leader_changed(Some("a"), None, 4),
        claim(3, Claim::Vacant, vacant).sent(3),
        cancel(Timer::Beat),
    ];
    let mut got = node.answer(5_010, Answer::vacant(vacant, Some(ME)));
    got.retain(|action| *action != cancel(Timer::Takeover));
    assert_eq!(got, expected);
}

#[test]
fn others_than_the_named_one_wait_a_beat_and_their_turn() {
    let mut node = Node::follower_with(settings(), &["b", ME]);
    node.due(5_000, Timer::Beat);
    let actions = node.answer(5_010, Answer::vacant(version("a", 4, 10), Some("b")));
    assert_eq!(actions.last(), Some(&set(Timer::Takeover, 10_110)), "it looks once a beat");
}

#[test]
fn a_release_that_names_no_node_leaves_only_the_turn() {
    let mut node = Node::follower_with(settings(), &["b", ME]);
    node.due(5_000, Timer::Beat);
    let actions = node.answer(5_010, Answer::vacant(version("a", 4, 10), None));
    assert_eq!(actions.last(), Some(&set(Timer::Takeover, 5_110)));
}

#[test]
fn a_hint_of_the_release_lets_the_named_one_claim_that_version_unseen() {
    let mut node = Node::follower_with(settings(), &["b", ME]);
    let left = version("a", 4, 10);
    let hint = Hint::Released { version: left, successor: Some(id(ME)) };
    let bid = Beat::claim(2, 1, Claim::Vacant, Some(left)).seen(4).knows(4, 1);
    assert_eq!(node.hint(1_000, hint), [bid.sent(2), cancel(Timer::Beat)]);
}

#[test]
fn a_hint_that_is_old_or_names_another_only_looks_sooner() {
    // Another node's turn is not disturbed.
    for (epoch, named, then) in [(3, ME, 1_000), (4, "b", 1_100)] {
        let mut node = Node::follower_with(settings(), &["b", ME]);
        let successor = Some(id(named));
        let hint = Hint::Released { version: version("a", epoch, 10), successor };
        assert_eq!(node.hint(1_000, hint), [set(Timer::Beat, then)]);
    }
}

#[test]
fn a_node_far_down_the_line_does_not_heed_hints() {
    let mut node = Node::follower_with(settings(), &["b", "c", "d", ME]);
    assert_eq!(node.hint(1_000, Hint::Look), [], "a thousand that look would be a stampede");
}

#[test]
fn the_first_successors_watch_the_lifeline_and_the_others_do_not() {
    let watch = Action::WatchLifeline { boot: boot("a"), address: "a".into() };
    for (successors, watches) in
        [(vec![ME], true), (vec!["b", "c", ME], true), (vec!["b", "c", "d", ME], false)]
    {
        let mut node = Node::new(settings());
        node.start(0);
        let seen = view("a", (4, 1), &successors, &successors);
        let held = Answer::held(version("a", 4, 9)).with_lifeline().view(seen);
        assert_eq!(node.answer(0, held).contains(&watch), watches, "{successors:?}");
    }
}

#[test]
fn a_watch_ends_with_the_holder() {
    let mut node = watching(&["b", ME]);
    node.due(5_000, Timer::Beat);
    let actions = node.answer(5_010, Answer::vacant(version("a", 4, 10), Some("b")));
    assert_eq!(actions.last(), Some(&Action::UnwatchLifeline { boot: boot("a") }));
}

const DENIALS: [LifelineReport; 2] =
    [LifelineReport::Refused, LifelineReport::OtherBoot(BootId(1))];

#[test]
fn a_proved_death_is_told_and_claimed_at_once_by_the_first() {
    for report in DENIALS {
        let ground = Claim::Dead { boot: boot("a") };
        let expected =
            [down(true), claim(2, ground, version("a", 4, 9)).sent(2), cancel(Timer::Beat)];
        let mut node = connected(&[ME, "z"]);
        assert_eq!(node.lifeline(1_000, "a", report), expected);
        assert_eq!(node.core.leader(crate::harness::at(1_000)), None);
        // On its own host a node needs no earlier connection: no network lies between.
        assert_eq!(watching(&[ME, "z"]).own_lifeline(1_000, "a", report), expected);
    }
}

/// A firewall refuses the first dial to a process that lives.
#[test]
fn a_refusal_without_an_earlier_connection_proves_nothing_and_only_looks() {
    for report in DENIALS {
        let mut node = watching(&[ME, "z"]);
        assert_eq!(node.lifeline(1_000, "a", report), [set(Timer::Beat, 1_000)]);
        assert!(node.core.leader(crate::harness::at(1_000)).is_some());
    }
}

/// A firewall that begins to refuse resets what was connected; a process that dies does not.
#[test]
fn a_refusal_after_a_reset_proves_nothing_until_the_process_answers_again() {
    for report in DENIALS {
        let mut node = connected(&[ME, "z"]);
        node.lifeline(1_000, "a", LifelineReport::Broken);
        assert!(!node.lifeline(1_001, "a", report).contains(&down(true)));
        node.lifeline(1_500, "a", LifelineReport::Alive);
        assert!(node.lifeline(2_000, "a", report).contains(&down(true)));
    }
}

/// What was known of one boot, or of one address, says nothing of another.
#[test]
fn a_connection_counts_for_its_own_boot_and_watch_only() {
    let mut node = connected(&[ME, "z"]);
    node.due(5_000, Timer::Beat);
    node.answer(5_010, Answer::held(version("b", 5, 1)).with_lifeline());
    let refused = node.lifeline(6_000, "b", LifelineReport::Refused);
    assert!(!refused.contains(&down(true)), "{refused:?}");
    let late = node.lifeline(6_100, "a", LifelineReport::Refused);
    assert!(!late.contains(&down(true)), "{late:?}");
}

/// The store sees the holder alive, or does not see yet that it is gone.
#[test]
fn a_claim_of_death_that_the_store_doubts_is_made_again_after_a_growing_pause() {
    let mut node = connected(&[ME, "z"]);
    node.lifeline(1_000, "a", LifelineReport::Refused);
    let mut now = 1_000;
    let mut pauses = Vec::new();
    while now < 4_000 {
        let refused = Answer::held(version("a", 4, 9)).with_lifeline().conflict();
        let actions = node.answer(now, refused);
        let at = actions.iter().find_map(|action| match action {
            Action::SetTimer { timer: Timer::Takeover, at } => Some(at.as_micros() / 1_000),
            _ => None,
        });
        let at = at.expect("another claim is planned");
        pauses.push(at - now);
        now = at;
        node.due(now, Timer::Takeover);
    }
    assert_eq!(pauses[..6], [1, 1, 2, 4, 8, 16]);
    assert_eq!(pauses.last(), Some(&625), "an eighth of a beat at most");
}

#[test]
fn an_answer_takes_the_proof_of_death_back() {
    let mut node = connected(&["b", ME]);
    assert!(node.lifeline(1_000, "a", LifelineReport::Refused).contains(&down(true)));
    node.lifeline(1_010, "a", LifelineReport::Alive);
    assert!(node.core.leader(crate::harness::at(1_010)).is_some());
}

#[test]
fn a_proved_death_leaves_the_second_its_turn() {
    let mut node = connected(&["b", ME]);
    let expected = [down(true), set(Timer::Takeover, 1_100)];
    assert_eq!(node.lifeline(1_000, "a", LifelineReport::Refused), expected);
    assert_eq!(node.lifeline(1_010, "a", LifelineReport::Refused), [set(Timer::Beat, 1_010)]);
}

#[test]
fn a_closed_or_silent_lifeline_proves_nothing_and_only_looks() {
    for report in [LifelineReport::Closed, LifelineReport::TimedOut, LifelineReport::Broken] {
        let mut node = watching(&[ME]);
        assert_eq!(node.lifeline(1_000, "a", report), [set(Timer::Beat, 1_000)]);
    }
    let same = LifelineReport::OtherBoot(boot("a"));
    assert_eq!(watching(&[ME]).lifeline(1_000, "a", same), [set(Timer::Beat, 1_000)]);
    assert_eq!(watching(&[ME]).lifeline(1_000, "a", LifelineReport::Alive), []);
}

#[test]
fn the_death_of_a_process_that_does_not_hold_the_lease_frees_nothing() {
    let mut node = watching(&[ME]);
    assert_eq!(node.lifeline(1_000, "z", LifelineReport::Refused), [set(Timer::Beat, 1_000)]);
}

#[test]
fn a_proof_is_over_once_another_process_holds_the_lease() {
    let mut node = connected(&["b", ME]);
    node.lifeline(1_000, "a", LifelineReport::Refused);
    node.due(1_050, Timer::Beat);
    node.due(5_000, Timer::Beat);
    let actions = node.answer(5_010, Answer::held(version("b", 5, 1)));
    let expected = [
        heartbeat(10),
        set(Timer::Beat, 10_000),
        leader_changed(Some("a"), Some("b"), 5),
        // The one ahead leads now: this node is next.
        set(Timer::Takeover, 21_010),
        Action::UnwatchLifeline { boot: boot("a") },
    ];
    assert_eq!(actions, expected);
    assert_eq!(node.core.known_epoch(), Epoch(5));
}

/// The beat under way may have been served before the release: another look follows it, without the
/// pause that keeps hints from becoming a loop.
#[test]
fn a_lease_left_to_this_node_while_it_beats_is_looked_at_once_more() {
    let mut node = Node::follower();
    node.due(5_000, Timer::Beat);
    let released = version("a", 4, 10);
    let hint = Hint::Released { version: released, successor: Some(id(ME)) };
    assert_eq!(node.hint(5_002, hint), []);
    let actions = node.answer(5_003, Answer::held(version("a", 4, 9)));
    assert!(actions.contains(&set(Timer::Beat, 5_003)), "{actions:?}");
}

#[test]
fn what_is_asked_of_the_holder_is_none_of_a_followers_business() {
    assert_eq!(Node::follower().hint(5_000, Hint::Asked), []);
}

/// A lease that observers time counts from when they saw it.
#[test]
fn without_a_clock_in_the_store_the_first_in_line_looks_twice_a_beat() {
    let seen = || Answer::held(version("a", 4, 9)).observer();
    let mut first = following(&[ME, "b"], seen());
    first.due(5_000, Timer::Beat);
    let beaten = first.answer(5_010, Answer::held(version("a", 4, 10)).observer());
    assert!(beaten.contains(&set(Timer::Beat, 7_500)), "{beaten:?}");
    first.due(7_500, Timer::Beat);
    let looked = first.answer(7_510, Answer::held(version("a", 4, 10)).observer());
    assert!(looked.contains(&set(Timer::Beat, 10_000)), "{looked:?}");
    let mut second = following(&["b", ME], seen());
    second.due(5_000, Timer::Beat);
    let beaten = second.answer(5_010, Answer::held(version("a", 4, 10)).observer());
    assert!(beaten.contains(&set(Timer::Beat, 10_000)), "{beaten:?}");
}
