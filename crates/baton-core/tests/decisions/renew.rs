//! Renewal: one beat per interval, a new nonce each time, and deadlines that move with the send.

use baton_core::ids::Epoch;
use baton_core::protocol::{HandoverKind, Hint, LeaseIntent, Request};
use baton_core::timer::Timer;
use baton_core::{Action, Input};

use crate::harness::expect::{Beat, cancel, heartbeat, read_members, set, window};
use crate::harness::store::{Answer, heard};
use crate::harness::{ME, Node, ask, at, version};

#[test]
fn a_beat_renews_the_version_held_with_a_new_nonce() {
    let mut node = Node::leader(&["z"]);
    let renewal = Beat::renew(3, 2, version(ME, 1, 1)).seen(1).knows(1, 1);
    assert_eq!(node.due(5_000, Timer::Beat), [renewal.sent(5)]);
    let expected = [
        heartbeat(100),
        set(Timer::Beat, 10_000),
        set(Timer::Soft, 17_600),
        set(Timer::Hard, 19_600),
        read_members(6),
    ];
    assert_eq!(node.answer(5_100, Answer::held(version(ME, 1, 2)).applied()), expected);
    assert_eq!(node.core.window(at(5_100)), Some((Epoch(1), window(5_000))));

    let renewal = Beat::renew(4, 3, version(ME, 1, 2)).seen(1).knows(1, 1);
    assert_eq!(node.due(10_000, Timer::Beat), [renewal.sent(7)]);
}

#[test]
fn ten_renewals_in_a_row_keep_the_epoch_and_move_the_deadlines() {
    let mut node = Node::leader(&[]);
    for round in 1..=10 {
        let sent = round * 5_000;
        node.due(sent, Timer::Beat);
        let renewed = version(ME, 1, round + 1);
        let mut expected = vec![
            heartbeat(50),
            set(Timer::Beat, sent + 5_000),
            set(Timer::Soft, sent + 12_600),
            set(Timer::Hard, sent + 14_600),
        ];
        // All is calm, and so the members are read at every second beat.
        let reads = round % 2 == 1;
        expected.extend(reads.then(|| read_members(6 + 3 * (round / 2))));
        assert_eq!(node.answer(sent + 50, Answer::held(renewed).applied()), expected);
        if reads {
            assert_eq!(node.members(sent + 60, vec![heard(ME, round + 2)]), []);
        }
    }
    assert_eq!(node.core.held_epoch(), Some(Epoch(1)));
}

#[test]
fn a_timer_that_comes_early_is_set_again() {
    let mut node = Node::leader(&[]);
    assert_eq!(node.due(4_000, Timer::Beat), [set(Timer::Beat, 5_000)]);
}

#[test]
fn a_second_beat_is_not_sent_while_one_is_under_way() {
    let mut node = Node::leader(&[]);
    node.due(5_000, Timer::Beat);
    let mut sent = node.due(5_000, Timer::Beat);
    sent.extend(node.hint(5_200, Hint::Look));
    sent.extend(node.due(5_200, Timer::Beat));
    let beats = sent
        .iter()
        .filter(|action| matches!(action, Action::Send { request: Request::Beat(_), .. }));
    assert_eq!(beats.count(), 0, "{sent:?}");
}

#[test]
fn a_hint_beats_sooner_though_never_in_a_tight_loop() {
    let mut node = Node::leader(&[]);
    assert_eq!(node.hint(50, Hint::Look), [set(Timer::Beat, 100)], "a fiftieth of a beat");
    assert_eq!(node.hint(60, Hint::Look), [], "it is planned already");
    let mut node = Node::leader(&[]);
    assert_eq!(node.hint(2_000, Hint::Look), [set(Timer::Beat, 2_000)]);
    assert_eq!(node.hint(2_000, Hint::ViewMoved), [], "a view is not urgent");
}

#[test]
fn a_slow_reply_does_not_make_the_beats_catch_up_in_a_burst() {
    let mut node = Node::leader(&[]);
    node.due(5_000, Timer::Beat);
    let actions = node.answer(11_000, Answer::held(version(ME, 1, 2)).applied());
    assert_eq!(actions[1], set(Timer::Beat, 11_000), "one at once, counted from now");
    node.due(11_000, Timer::Beat);
    let actions = node.answer(11_010, Answer::held(version(ME, 1, 3)).applied());
    assert_eq!(actions[1], set(Timer::Beat, 16_000));
}

#[test]
fn a_stale_answer_changes_nothing() {
    let mut node = Node::new(crate::harness::at_once());
    node.start(0);
    node.answer(0, Answer::vacant(version("a", 4, 9), Some(ME)));
    node.answer(10, Answer::held(version(ME, 5, 1)).applied());
    node.due(5_000, Timer::Beat);
    let stale = Answer::vacant(version("a", 4, 9), None).asked(ask("a", HandoverKind::Resign));
    assert_eq!(node.answer(5_010, stale), [heartbeat(10), set(Timer::Beat, 10_000)]);
    assert_eq!(node.core.held_epoch(), Some(Epoch(5)));
}

#[test]
fn an_invitation_is_accepted_when_the_beat_is_nearly_due() {
    let mut node = Node::leader(&["z"]);
    assert_eq!(node.handle(4_000, Input::Invited), [], "a second early is too early");
    let renewal = Beat::renew(3, 2, version(ME, 1, 1)).seen(1).knows(1, 1);
    let expected = [renewal.sent(5), cancel(Timer::Beat)];
    assert_eq!(node.handle(4_500, Input::Invited), expected, "a tenth of the interval is not");
    assert_eq!(node.handle(4_501, Input::Invited), [], "one beat at a time");
}

fn looks(actions: &[Action]) -> bool {
    actions.iter().any(|action| match action {
        Action::Send { request: Request::Beat(beat), .. } => beat.lease == LeaseIntent::Observe,
        _ => false,
    })
}

/// Whatever others ask for, and however often: a look costs the store no write, and no renewal
/// comes later for it.
#[test]
fn a_hint_makes_a_coordinator_look_and_renewals_keep_their_time() {
    let mut node = Node::leader(&["z"]);
    for now in [1_000, 2_000, 3_000, 4_000] {
        assert_eq!(node.hint(now, Hint::Asked), [set(Timer::Beat, now)]);
        assert!(looks(&node.due(now, Timer::Beat)));
        let seen = node.answer(now + 10, Answer::held(version(ME, 1, 1)));
        assert!(seen.contains(&set(Timer::Beat, 5_000)), "{seen:?}");
    }
    let renewal = Beat::renew(7, 2, version(ME, 1, 1)).seen(1).knows(1, 1);
    assert_eq!(node.due(5_000, Timer::Beat), [renewal.sent(9)]);
}

#[test]
fn a_hint_during_a_renewal_is_a_look_after_it() {
    let mut node = Node::leader(&["z"]);
    node.due(5_000, Timer::Beat);
    assert_eq!(node.hint(5_010, Hint::Asked), []);
    let renewed = node.answer(5_020, Answer::held(version(ME, 1, 2)).applied());
    assert!(renewed.contains(&set(Timer::Beat, 5_100)), "{renewed:?}");
    assert!(looks(&node.due(5_100, Timer::Beat)));
    let seen = node.answer(5_110, Answer::held(version(ME, 1, 2)));
    assert!(seen.contains(&set(Timer::Beat, 10_000)), "{seen:?}");
}
