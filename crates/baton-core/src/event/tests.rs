//! Names and sentences of events.

use super::*;

#[test]
fn an_event_is_serialised_under_its_first_name() {
    let events = [
        Event::BreakerHalfOpen,
        Event::CoordinatorPromoted { epoch: Epoch(3) },
        Event::ElectionCheck { current: None },
        Event::LeaderDown { former: NodeId::new("a").expect("valid"), proved: true },
    ];
    for event in events {
        let json = serde_json::to_value(&event).expect("plain data");
        assert_eq!(json["event"], event.name());
        let back: Event = serde_json::from_value(json).expect("what was written");
        assert_eq!(back, event);
    }
}

#[test]
fn events_have_sentences() {
    let node = |name| NodeId::new(name).expect("valid");
    let cases = [
        (
            Event::LeaderChanged {
                previous: Some(node("a")),
                new: Some(node("b")),
                epoch: Epoch(4),
            },
            "b leads, epoch 4, after a",
        ),
        (
            Event::LeaderDown { former: node("a"), proved: true },
            "leader a is dead: its port refuses connections",
        ),
        (
            Event::CoordinatorDemoted {
                epoch: Epoch(3),
                reason: DemotionReason::HigherEpoch(Epoch(4)),
            },
            "this node no longer leads, epoch 3: epoch 4 has begun",
        ),
        (Event::BreakerHalfOpen, "the next beat probes the store"),
        (Event::WorkerTimedOut { worker: node("c") }, "c is silent and was removed from the view"),
        (
            Event::HealthChanged {
                verdict: Verdict::Critical,
                reasons: vec![Reason::NoNode, Reason::NoCandidate { registered: 1 }],
            },
            "the cluster is critical: no node is registered: start one; and 1 more",
        ),
    ];
    for (event, expected) in cases {
        assert_eq!(event.to_string(), expected);
    }
}

#[test]
fn every_event_has_a_sentence() {
    // At least one event of each name.
    let events = include_str!("samples.jsonl");
    for line in events.lines() {
        let event: Event = serde_json::from_str(line).expect(line);
        assert_ne!(event.to_string(), event.name(), "it has none in sentence.rs");
    }
}

#[test]
fn two_names_for_the_same_thing_are_aliases() {
    let promoted = Event::CoordinatorPromoted { epoch: Epoch(1) };
    assert_eq!(promoted.names(), ["coordinator-promoted", "became_leader"]);
    let reason = DemotionReason::WindowClosed;
    let demoted = Event::CoordinatorDemoted { epoch: Epoch(1), reason };
    assert_eq!(demoted.names(), ["coordinator-demoted", "lost_leadership"]);
}
