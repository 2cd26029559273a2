//! Hints that are forged: however many come and whatever they say, they cost little and put nothing
//! off.

use baton_core::ids::{Epoch, Nonce};
use baton_core::protocol::{Claim, Hint, LeaseIntent, Recording, Request, Version};
use baton_core::timer::Timer;
use baton_core::{Action, Command, Event};

use crate::harness::expect::{Beat, cancel, drawn, emit, heartbeat, set};
use crate::harness::store::{Answer, view};
use crate::harness::{ME, Node, boot, id, settings, version};

/// The lease of `a` as it stands at this moment: it was seen at 0 ms and runs out at 15 000.
fn still_held(now: u64) -> Answer {
    Answer::held(version("a", 4, 9)).left(15_000u64.saturating_sub(now))
}

/// A forged hint that the lease was left to this node.
fn left_to_me(forged: Version) -> Hint {
    Hint::Released { version: forged, successor: Some(id(ME)) }
}

/// Versions that no store has: the epoch that is known, one that will never be, one that is over.
fn forged(n: u64) -> Version {
    let epoch = [Epoch(4), Epoch(u64::MAX), Epoch(3)][(n % 3) as usize];
    Version { epoch, nonce: Nonce { boot: boot("x"), attempt: n } }
}

#[test]
fn a_refused_bid_that_a_hint_caused_moves_nothing() {
    let mut node = Node::follower();
    let bid = Beat::claim(2, 1, Claim::Vacant, Some(forged(0))).seen(4).knows(4, 1);
    assert_eq!(node.hint(1_000, left_to_me(forged(0))), [bid.sent(2), cancel(Timer::Beat)]);
    let refused = node.answer(1_010, still_held(1_010).conflict());
    assert_eq!(refused, [heartbeat(10), set(Timer::Beat, 5_000)], "as if nothing had been asked");
    for beat in [5_000, 10_000, 15_000] {
        node.due(beat, Timer::Beat);
        node.answer(beat, still_held(beat));
    }
    // Just before the lease may be claimed there is another, and its refusal comes just after.
    node.hint(15_990, left_to_me(forged(1)));
    let down = emit(Event::LeaderDown { former: id("a"), proved: false });
    let claimed = Beat::claim(7, 3, Claim::Expired, Some(version("a", 4, 9))).seen(4).knows(4, 1);
    let expected =
        [heartbeat(20), set(Timer::Beat, 20_000), down, claimed.sent(7), cancel(Timer::Beat)];
    let mut got = node.answer(16_010, still_held(16_010).conflict());
    got.retain(|action| *action != cancel(Timer::Takeover));
    assert_eq!(got, expected, "one round trip late, and no pause");
}

#[test]
fn a_turn_drawn_at_random_stands_whatever_hints_bring() {
    let mut node = Node::new(settings());
    node.start(0);
    let successors = ["b", "c", "d", "e", "f", "g", "h", "i", ME];
    let seen = view("a", (4, 1), &successors, &successors);
    let before = node.answer(0, Answer::held(version("a", 4, 9)).view(seen));
    let turn = drawn(&before, Timer::Takeover, 16_800..=19_300);
    assert_eq!(before.last(), Some(&turn));
    for n in 0..2 {
        node.hint(1_000 + n, left_to_me(forged(n)));
        let refused = node.answer(1_000 + n, still_held(1_000 + n).conflict());
        let moved =
            |action: &&Action| matches!(action, Action::SetTimer { timer: Timer::Takeover, .. });
        assert_eq!(refused.iter().find(moved), None);
    }
}

/// What each step of a node under a flood comes to: requests are answered a millisecond later.
fn step(node: &mut Node, now: u64, hint: Hint) -> (usize, usize, bool) {
    let mut actions = node.hint(now, hint);
    actions.extend(node.due(now, Timer::Beat));
    actions.extend(node.due(now, Timer::Takeover));
    let (mut requests, mut claimed) = (0, false);
    for action in &actions {
        let Action::Send { request: Request::Beat(beat), .. } = action else { continue };
        requests += 1;
        claimed = match &beat.lease {
            LeaseIntent::Acquire(acquire) => acquire.claim == Claim::Expired,
            _ => false,
        };
        if !claimed {
            let answer = still_held(now + 1);
            let bids = beat.lease != LeaseIntent::Observe;
            node.answer(now + 1, if bids { answer.conflict() } else { answer });
        }
    }
    let prepared = actions.iter().filter(|action| **action == Action::Prepare).count();
    (requests, prepared, claimed)
}

#[test]
fn a_flood_of_forged_hints_costs_a_few_requests_a_beat_and_puts_no_claim_off() {
    let mut node = Node::follower();
    let (mut requests, mut prepared, mut claimed_at) = (0, 0, None);
    for n in 0..700 {
        let now = 100 + n * 25;
        let hint = match n % 5 {
            0 => Hint::Look,
            1 => Hint::Prepare { epoch: forged(n).epoch },
            2 => Hint::Released { version: forged(n), successor: Some(id("z")) },
            _ => left_to_me(forged(n)),
        };
        let (sent, called, claimed) = step(&mut node, now, hint);
        (requests, prepared) = (requests + sent, prepared + called);
        if claimed {
            claimed_at = Some(now);
            break;
        }
    }
    assert_eq!(claimed_at, Some(16_000), "the very moment that it is due");
    // Three beats, three whole budgets of four looks and two bids and what had gathered before,
    // and the claim.
    assert!(requests <= 3 + 3 * 6 + 6 + 1, "{requests} requests");
    assert!((1..=4).contains(&prepared), "{prepared} calls of prepare");
}

#[test]
fn a_release_told_twice_is_bid_for_once_and_then_looked_at() {
    let mut node = Node::follower();
    let left = version("a", 4, 10);
    node.hint(1_000, left_to_me(left));
    node.answer(1_001, still_held(1_001).conflict());
    assert_eq!(node.hint(1_002, left_to_me(left)), [set(Timer::Beat, 1_100)]);
}

#[test]
fn a_node_handed_to_and_fro_keeps_its_speed() {
    let mut node = Node::follower();
    for n in 0..20 {
        let (now, epoch) = (1_000 + n * 100, 4 + 2 * n);
        let left = version("a", epoch, 10);
        let bid = |action: &Action| match action {
            Action::Send { request: Request::Beat(beat), .. } => {
                matches!(beat.lease, LeaseIntent::Acquire(_))
            }
            _ => false,
        };
        assert!(node.hint(now, left_to_me(left)).iter().any(bid), "hand-over {n}");
        node.answer(now + 5, Answer::held(version(ME, epoch + 1, n + 1)).applied());
        assert_eq!(node.core.held_epoch(), Some(Epoch(epoch + 1)));
        // And back again, which it finds out with a look.
        node.hint(now + 50, Hint::Look);
        node.due(now + 100, Timer::Beat);
        node.answer(now + 100, Answer::held(version("a", epoch + 2, 1)));
        node.stopped(now + 100, epoch + 1);
    }
}

#[test]
fn prepare_is_heeded_once_a_beat_by_a_follower_and_not_for_a_term_that_is_over() {
    let mut node = Node::follower();
    let prepare = |epoch| Hint::Prepare { epoch: Epoch(epoch) };
    assert_eq!(node.hint(1_000, prepare(3)), [], "epoch 4 is known");
    assert_eq!(node.hint(1_001, prepare(4)), [Action::Prepare]);
    assert_eq!(node.hint(1_002, prepare(4)), []);
    assert_eq!(node.hint(1_003, prepare(u64::MAX)), []);
    assert_eq!(node.hint(6_001, prepare(4)), [Action::Prepare]);
    assert_eq!(Node::leader(&["z"]).hint(1_000, prepare(1)), []);
}

/// A change of standing must reach the record, whatever comes while a beat is under way.
#[test]
fn a_hint_does_not_make_a_mere_look_of_a_beat_that_has_something_to_say() {
    let mut node = Node::follower();
    node.due(5_000, Timer::Beat);
    node.command(5_001, Command::SetEligible(false));
    node.hint(5_002, left_to_me(forged(0)));
    assert!(node.answer(5_010, still_held(5_010)).contains(&set(Timer::Beat, 5_100)));
    let sent = node.due(5_100, Timer::Beat);
    let writes = |action: &Action| match action {
        Action::Send { request: Request::Beat(beat), .. } => beat.recording == Recording::Write,
        _ => false,
    };
    assert!(sent.iter().any(writes), "{sent:?}");
}
