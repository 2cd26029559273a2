//! Event names are stable: every variant is written under its documented name, and comes back.

use std::collections::BTreeSet;
use std::time::Duration;

use baton_core::health::{Reason, Verdict};
use baton_core::ids::Epoch;
use baton_core::protocol::{ReleaseReason, ViewVersion};
use baton_core::schedule::{MissReason, RunOutcome};
use baton_core::{DemotionReason, Event, LateNotice, Phase, TransferRefusal};

use crate::harness::{boot, id};

/// One of each variant, with the names it goes by, the one it is written under first.
fn table() -> Vec<(Event, &'static [&'static str])> {
    let epoch = Epoch(3);
    let reason = DemotionReason::Released(ReleaseReason::Resigned);
    let version = ViewVersion { epoch, number: 2 };
    let (a, b) = (|| id("a"), || id("b"));
    vec![
        (
            Event::LeaderChanged { previous: Some(a()), new: Some(b()), epoch },
            &["leader:changed"][..],
        ),
        (Event::WorkersUpdated { version, workers: 3 }, &["workers:updated"]),
        (Event::WorkerHeartbeat { latency_ms: 4 }, &["worker-heartbeat"]),
        (
            Event::CoordinatorElected { epoch, mandate_ms: 300_000, active: 3 },
            &["coordinator-elected"],
        ),
        (Event::CoordinatorPromoted { epoch }, &["coordinator-promoted", "became_leader"]),
        (Event::CoordinatorDemoted { epoch, reason }, &["coordinator-demoted", "lost_leadership"]),
        (
            Event::CoordinatorEpochRenewed { epoch, mandate_ms: 300_000 },
            &["coordinator-epoch-renewed"],
        ),
        (
            Event::ColdStartPhaseChanged { phase: Phase::Election, waited_ms: 1_000 },
            &["cold-start-phase-changed"],
        ),
        (Event::LeaderDown { former: a(), proved: true }, &["leader_down"]),
        (Event::ElectionCheck { current: Some(a()) }, &["election_check"]),
        (
            Event::ContentionDetected { ratio: 2.5, duration_ms: 12_500, expected_ms: 5_000 },
            &["contention:detected"],
        ),
        (Event::BreakerOpen { failures: 5 }, &["circuitBreaker:open"]),
        (Event::BreakerHalfOpen, &["circuitBreaker:half-open"]),
        (Event::BreakerClosed, &["circuitBreaker:closed"]),
        (Event::StoreUnreachable { epoch, left_ms: 900 }, &["store:unreachable"]),
        (Event::LeaseLost { epoch, reason }, &["lease:lost"]),
        (Event::TermOverran { epoch }, &["term:overran"]),
        (Event::StoreWentBack { seen: epoch, stored: Epoch(1) }, &["store:went-back"]),
        (Event::LeaderFlapping { changes: 5, window_ms: 600_000 }, &["leader:flapping"]),
        (Event::NodeIdTaken { by: boot("a") }, &["node:id-taken"]),
        (Event::NodeSuperseded { by: boot("a") }, &["node:superseded"]),
        (Event::WorkerTimedOut { worker: a() }, &["worker:timed-out"]),
        (Event::WorkerDead { worker: a() }, &["worker:dead"]),
        (Event::TransferStarted { epoch, to: b() }, &["transfer:started"]),
        (
            Event::TransferRefused { to: b(), reason: TransferRefusal::NotAMember },
            &["transfer:refused"],
        ),
        (unwatched(), &["lifeline:unwatched"]),
        (Event::StoreRejected, &["store:rejected"]),
    ]
    .into_iter()
    .chain(of_plugins(epoch, reason))
    .chain(of_schedules())
    .chain(of_partitions())
    .collect()
}

fn of_partitions() -> Vec<(Event, &'static [&'static str])> {
    let (partition, error) = ("default/orders#3".to_owned(), "no more".to_owned());
    vec![
        (Event::PartitionsChanged { gained: 4, lost: 0, owned: 12 }, &["partitions:changed"]),
        (Event::PartitionFailed { partition, error, restart_in_ms: 1_000 }, &["partition:failed"]),
    ]
}

fn unwatched() -> Event {
    let (after, because) = (Duration::from_secs(15), "its lifeline is off".to_owned());
    Event::LifelineUnwatched(LateNotice::new(after, because, "set it"))
}

/// The events that go by a plugin's name too, and what plugins tell.
fn of_plugins(epoch: Epoch, reason: DemotionReason) -> Vec<(Event, &'static [&'static str])> {
    vec![
        (
            Event::PluginPromoted { plugin: "ttl".to_owned(), epoch },
            &["plugin:promoted", "plugin:ttl:promoted"][..],
        ),
        (
            Event::PluginDemoted { plugin: "ttl".to_owned(), epoch, reason },
            &["plugin:demoted", "plugin:ttl:demoted"],
        ),
        (
            Event::HealthChanged { verdict: Verdict::Critical, reasons: vec![Reason::NoNode] },
            &["cluster:health-changed"],
        ),
        (
            Event::PluginFailed {
                plugin: "ttl".to_owned(),
                error: "no disk".to_owned(),
                restart_in_ms: Some(100),
            },
            &["plugin:failed", "plugin:ttl:failed"],
        ),
        (
            Event::PluginSwept {
                plugin: "ttl".to_owned(),
                target: "sqlite table sessions".to_owned(),
                records: 7,
            },
            &["plugin:swept", "plugin:ttl:swept"],
        ),
        (
            Event::PluginIgnoredCancellation { plugin: "ttl".to_owned() },
            &["plugin:ignored-cancellation", "plugin:ttl:ignored-cancellation"],
        ),
    ]
}

fn of_schedules() -> Vec<(Event, &'static [&'static str])> {
    let schedule = || "report".to_owned();
    vec![
        (
            Event::ScheduleStarted { schedule: schedule(), slot_ms: 1_000, attempt: 1, late_ms: 2 },
            &["schedule:started"][..],
        ),
        (
            Event::ScheduleEnded {
                schedule: schedule(),
                slot_ms: 1_000,
                attempt: 1,
                took_ms: 5,
                outcome: RunOutcome::Failed("exit code 3".to_owned()),
                retry_at_ms: Some(2_000),
            },
            &["schedule:ended"],
        ),
        (
            Event::ScheduleMissed {
                schedule: schedule(),
                count: 3,
                first_ms: 1_000,
                last_ms: 3_000,
                reason: MissReason::Late,
            },
            &["schedule:missed"],
        ),
    ]
}

#[test]
fn every_event_is_written_under_its_documented_name_and_read_back() {
    for (event, names) in table() {
        assert_eq!(event.names(), names);
        let json = serde_json::to_value(&event).expect("plain data");
        assert_eq!(json["event"], names[0]);
        let back: Event = serde_json::from_value(json).expect("what was written");
        assert_eq!(back, event);
    }
}

#[test]
fn the_table_has_every_variant() {
    // The message lists every name that is known. It fails the day an event is added.
    let text = r#"{"event":"no such event"}"#;
    let message = serde_json::from_str::<Event>(text).expect_err("unknown").to_string();
    for (_, names) in table() {
        assert!(message.contains(&format!("`{}`", names[0])), "{} in {message}", names[0]);
    }
    let known = message.matches('`').count() / 2 - 1;
    assert_eq!(known, table().len(), "{message}");
}

#[test]
fn the_names_of_the_seeds_are_all_there_and_none_twice() {
    let documented = [
        "leader:changed",
        "workers:updated",
        "worker-heartbeat",
        "coordinator-elected",
        "coordinator-promoted",
        "coordinator-demoted",
        "coordinator-epoch-renewed",
        "cold-start-phase-changed",
        "became_leader",
        "lost_leadership",
        "leader_down",
        "election_check",
        "contention:detected",
        "circuitBreaker:open",
        "circuitBreaker:half-open",
        "circuitBreaker:closed",
    ];
    let table = table();
    let all: Vec<&str> = table.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    for name in documented {
        assert!(all.contains(&name), "{name} is missing");
    }
    let distinct: BTreeSet<&str> = all.iter().copied().collect();
    assert_eq!(distinct.len(), all.len(), "a name means one thing");
}

#[test]
fn an_event_reads_as_people_expect_it() {
    let reason = DemotionReason::HigherEpoch(Epoch(4));
    let cases = [
        (
            Event::CoordinatorDemoted { epoch: Epoch(3), reason },
            r#"{"event":"coordinator-demoted","epoch":3,"reason":{"higher-epoch":4}}"#,
        ),
        (
            Event::CoordinatorDemoted { epoch: Epoch(3), reason: DemotionReason::WindowClosed },
            r#"{"event":"coordinator-demoted","epoch":3,"reason":"window-closed"}"#,
        ),
        (
            Event::LeaderChanged { previous: None, new: Some(id("a")), epoch: Epoch(1) },
            r#"{"event":"leader:changed","previous":null,"new":"a","epoch":1}"#,
        ),
        (Event::BreakerHalfOpen, r#"{"event":"circuitBreaker:half-open"}"#),
    ];
    for (event, expected) in cases {
        assert_eq!(serde_json::to_string(&event).expect("plain data"), expected);
    }
}
