//! One test a reason, and what holds of every verdict.

use std::sync::Arc;
use std::time::Duration;

use super::{Facts, Health, Limits, Liveness, PluginNote, Reason, Role, Silences, Verdict, judge};
use crate::ids::{BootId, Epoch, Lineage, NodeId, Nonce};
use crate::protocol::{
    Expiry, Holder, LeaseSnapshot, Member, NodeProfile, NodeRecord, ReleaseReason, TermEnd,
    TermRecord, Version, View, ViewMember, ViewVersion,
};
use crate::rng::Rng;
use crate::settings::Settings;
use crate::time::Moment;

const NOW_MS: u64 = 1_700_000_000_000;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn id(name: &str) -> NodeId {
    NodeId::new(name).expect("valid")
}

fn boot(name: &str) -> BootId {
    BootId(u128::from(name.as_bytes()[0]))
}

fn member(name: &str) -> Member {
    let record = NodeRecord {
        id: id(name),
        boot: boot(name),
        beat: 7,
        eligible: true,
        draining: false,
        load: 0,
        seen: Epoch(4),
        partitions: None,
        profile: Arc::new(NodeProfile::default()),
    };
    Member { record, silent_for: Some(ms(1_000)) }
}

fn term(epoch: u64, node: &str, ago_ms: u64) -> TermRecord {
    TermRecord {
        epoch: Epoch(epoch),
        node: id(node),
        boot: boot(node),
        began_ms: NOW_MS - ago_ms,
        ended: None,
        gap_ms: (epoch > 1).then_some(10),
        gap_at_most_ms: None,
    }
}

fn view(epoch: u64, names: &[&str]) -> Arc<View> {
    let member = |name: &&str| ViewMember {
        id: id(name),
        boot: boot(name),
        candidate: true,
        draining: false,
        assignment: None,
    };
    Arc::new(View {
        version: ViewVersion { epoch: Epoch(epoch), number: 1 },
        coordinator: id("a"),
        members: names.iter().map(member).collect(),
        successors: Vec::new(),
        certain: 0,
    })
}

/// `a` leads in epoch 4, `b` and `c` could take over, and nothing is wrong.
fn well() -> Facts {
    let version = Version { epoch: Epoch(4), nonce: Nonce { boot: boot("a"), attempt: 9 } };
    let lease = LeaseSnapshot {
        version,
        holder: Some(Holder { node: id("a"), boot: boot("a"), lifeline: None }),
        successor: None,
        ttl: ms(15_000),
        expiry: Expiry::Left(ms(13_000)),
        lineage: Lineage(1),
        asked: None,
    };
    Facts {
        at_ms: NOW_MS,
        lease: Some(lease),
        lease_unchanged_for: Duration::ZERO,
        lineage: Lineage(1),
        view: Some(view(4, &["a", "b", "c"])),
        members: vec![member("a"), member("b"), member("c")],
        terms: vec![term(4, "a", 3_600_000)],
        store_took: ms(4),
        plugins: vec![PluginNote { name: "ttl".to_owned(), failures: 9, doing: "resting".into() }],
    }
}

fn lease(facts: &mut Facts) -> &mut LeaseSnapshot {
    facts.lease.as_mut().expect("it is led")
}

fn judged(change: impl FnOnce(&mut Facts)) -> Health {
    let mut facts = well();
    change(&mut facts);
    judge(&facts, &Limits::of(&Settings::default()))
}

/// Exactly these names, in this order, and the first one's sentence.
#[track_caller]
fn assert_told(health: &Health, verdict: Verdict, names: &[&str], sentence: &str) {
    let told: Vec<&str> = health.reasons.iter().map(Reason::name).collect();
    assert_eq!((health.verdict, told.as_slice()), (verdict, names));
    assert_eq!(health.reasons[0].to_string(), sentence);
}

#[test]
fn a_cluster_that_is_well_has_no_reason_and_says_who_leads() {
    let health = judged(|_| {});
    assert_eq!((health.verdict, health.reasons.len()), (Verdict::Healthy, 0));
    assert_eq!((health.leader.node, health.leader.epoch), (Some(id("a")), 4));
    assert_eq!(health.leader.lease_left_ms, Some(13_000));
    let counts = health.counts;
    assert_eq!((counts.registered, counts.live, counts.candidates), (3, 3, 3));
    assert_eq!(health.nodes[0].role, Role::Leader);
}

#[test]
fn a_node_that_stands_still_is_late_then_silent_then_dead() {
    let cases = [
        (15_000, Liveness::Live, ""),
        (
            16_000,
            Liveness::Late,
            "node b has been silent for 16 s, more than heartbeat_interval 5 s × 3",
        ),
        (
            20_500,
            Liveness::Silent,
            "node b has been silent for 20.5 s, more than worker_timeout 20 s",
        ),
        (
            34_000,
            Liveness::Dead,
            "node b is dead: silent for 34 s, more than dead_node_timeout 30 s",
        ),
    ];
    for (silent, liveness, sentence) in cases {
        let health = judged(|facts| facts.members[1].silent_for = Some(ms(silent)));
        assert_eq!(health.nodes[1].liveness, liveness, "{silent}");
        let told = health.reasons.first().map(ToString::to_string).unwrap_or_default();
        assert_eq!((told.as_str(), health.reasons.len()), (sentence, usize::from(silent > 15_000)));
        assert_eq!(health.verdict == Verdict::Healthy, silent == 15_000);
    }
}

#[test]
fn where_no_record_tells_the_age_the_view_does() {
    let health = judged(|facts| {
        facts.members[2].silent_for = None;
        facts.view = Some(view(4, &["a", "b"]));
    });
    let sentence = "node c is registered, but not in the view of epoch 4: it is silent, or new";
    assert_told(&health, Verdict::Degraded, &["node-unseen"], sentence);
    let older = judged(|facts| {
        facts.members[2].silent_for = None;
        facts.terms[0].began_ms = NOW_MS - 100;
        facts.view = Some(view(3, &["a", "b"]));
    });
    assert_eq!(older.verdict, Verdict::Healthy, "an older view says nothing of now");
}

#[test]
fn an_election_is_no_alarm_until_its_time_is_over() {
    let released = |ago_ms: u64| {
        judged(|facts| {
            lease(facts).holder = None;
            let end = TermEnd::Released(ReleaseReason::Resigned);
            facts.terms[0].ended = Some((NOW_MS - ago_ms, end));
        })
    };
    let names = &["no-coordinator"];
    let sentence = "no leader for 4.2 s, an election may take 20 s";
    assert_told(&released(4_200), Verdict::Degraded, names, sentence);
    let sentence = "no leader for 20.1 s, more than 20 s";
    assert_told(&released(20_100), Verdict::Critical, names, sentence);
}

#[test]
fn a_lease_that_ran_out_has_been_over_since_its_holder_fell_silent() {
    let lapsed = |silent: u64| {
        judged(|facts| {
            lease(facts).expiry = Expiry::Left(Duration::ZERO);
            facts.members[0].silent_for = Some(ms(silent));
        })
    };
    let health = lapsed(17_000);
    let names = &["no-coordinator", "node-late"];
    let sentence = "no leader for 2 s, an election may take 20 s";
    assert_told(&health, Verdict::Degraded, names, sentence);
    assert_eq!((health.leader.node, health.nodes[0].role), (None, Role::Candidate));
    let sentence = "no leader for 3 s, an election may take 20 s";
    assert_told(&lapsed(3_000), Verdict::Degraded, &["no-coordinator"], sentence);
}

#[test]
fn where_observers_time_the_lease_it_must_be_seen_to_stand_still() {
    let watched = |span: u64| {
        judged(|facts| {
            lease(facts).expiry = Expiry::Observer;
            facts.lease_unchanged_for = ms(span);
        })
    };
    assert_eq!(watched(0).leader.lease_left_ms, None);
    assert_eq!(watched(11_000).verdict, Verdict::Healthy);
    assert_eq!(watched(12_500).reasons[0].name(), "lease-not-renewed");
    assert_eq!(watched(15_000).reasons[0].name(), "no-coordinator");
}

#[test]
fn an_unused_namespace_is_critical() {
    let health = judged(|facts| {
        (facts.lease, facts.view) = (None, None);
        facts.members.clear();
        facts.terms.clear();
    });
    let names = &["no-coordinator", "no-node"];
    assert_told(&health, Verdict::Critical, names, "no leader");
    assert_eq!(health.reasons[1].to_string(), "no node is registered: start one");
}

#[test]
fn nodes_that_may_not_lead_take_nothing_over() {
    let rest = |facts: &mut Facts| {
        facts.members[1].record.eligible = false;
        facts.members[2].record.draining = true;
    };
    let sentence = "only 1 eligible node is live, not 2: no node could take over";
    assert_told(&judged(rest), Verdict::Degraded, &["few-candidates"], sentence);
    let health = judged(|facts| {
        rest(facts);
        lease(facts).holder = None;
        facts.members.remove(0);
    });
    assert_eq!(health.verdict, Verdict::Critical);
    let sentence = "none of 2 registered nodes is live and may lead: start one";
    assert_eq!(health.reasons[1].to_string(), sentence);
}

#[test]
fn a_lone_node_is_well_where_one_is_enough() {
    let mut facts = well();
    facts.members.truncate(1);
    let limits = Limits { candidates_min: 1, ..Limits::of(&Settings::default()) };
    assert_eq!(judge(&facts, &limits).verdict, Verdict::Healthy);
    let limits = Limits { candidates_min: 4, ..limits };
    let told = judge(&well(), &limits).reasons[0].to_string();
    assert_eq!(told, "only 3 eligible nodes are live, fewer than 4");
}

#[test]
fn a_renewal_that_is_missing_is_told_before_the_lease_is_over() {
    let health = judged(|facts| lease(facts).expiry = Expiry::Left(ms(2_900)));
    let sentence = "the lease of a has 2.9 s left of 15 s: two renewals are missing";
    assert_told(&health, Verdict::Degraded, &["lease-not-renewed"], sentence);
    let health = judged(|facts| lease(facts).expiry = Expiry::Left(ms(3_000)));
    assert_eq!(health.verdict, Verdict::Healthy);
}

#[test]
fn a_slow_store_is_told_and_one_that_outlasts_a_request_is_critical() {
    let slow = |took: u64| judged(|facts| facts.store_took = ms(took));
    assert_eq!(slow(1_000).verdict, Verdict::Healthy);
    let sentence = "the store took 1.2 s to answer, more than 1 s";
    assert_told(&slow(1_200), Verdict::Degraded, &["store-slow"], sentence);
    assert_eq!(slow(2_001).verdict, Verdict::Critical);
}

#[test]
fn data_that_went_back_is_told() {
    let health = judged(|facts| facts.lineage = Lineage(2));
    let sentence = "the store returned older data: its lineage is 2, the lease's 1";
    assert_told(&health, Verdict::Degraded, &["store-went-back"], sentence);
}

#[test]
fn changes_within_the_window_are_counted_and_the_first_term_is_none() {
    let changed = |count: u64| {
        judged(|facts| {
            let ended = |n: u64| TermRecord {
                ended: Some((NOW_MS, TermEnd::Expired)),
                ..term(n, "b", 599_000 - n)
            };
            facts.terms = (1..=count).rev().map(ended).collect();
            facts.terms.push(term(1, "b", 700_000));
        })
    };
    assert_eq!(changed(5).leader.changes, 4);
    assert_eq!(changed(5).verdict, Verdict::Healthy);
    let sentence = "leadership changed 6 times in 10 min, limit 5";
    assert_told(&changed(7), Verdict::Degraded, &["flapping"], sentence);
}

#[test]
fn a_coordinator_has_two_beats_to_publish_its_view() {
    let behind = |ago: u64| {
        judged(|facts| {
            facts.view = Some(view(3, &["a", "b", "c"]));
            facts.terms[0].began_ms = NOW_MS - ago;
        })
    };
    assert_eq!(behind(12_000).verdict, Verdict::Healthy);
    let sentence = "the view is of epoch 3, though epoch 4 has lasted 13 s, more than 12 s";
    assert_told(&behind(13_000), Verdict::Degraded, &["view-behind"], sentence);
}

#[test]
fn a_plugin_that_fails_now_is_told_and_one_that_recovered_is_not() {
    let failing = |doing: &str, failures: u64| {
        judged(|facts| {
            facts.plugins = vec![PluginNote { name: "ttl".into(), failures, doing: doing.into() }];
        })
    };
    let sentence = "plugin ttl has failed 5 times and does not work";
    assert_told(&failing("failing", 5), Verdict::Degraded, &["plugin-failing"], sentence);
    let sentence = "plugin ttl has failed and does not work";
    assert_told(&failing("gave-up", 1), Verdict::Degraded, &["plugin-failing"], sentence);
    assert_eq!(failing("working", 5).verdict, Verdict::Healthy);
}

#[test]
fn silence_is_told_by_beats_that_stand_still_where_the_store_has_no_clock() {
    let at = |seconds: u64| Moment::from_micros(seconds * 1_000_000);
    let mut silences = Silences::default();
    let mut look = |now, beats: [u64; 2]| {
        let mut members = vec![member("a"), member("b")];
        for (member, beat) in members.iter_mut().zip(beats) {
            (member.silent_for, member.record.beat) = (None, beat);
        }
        silences.fill_in(at(now), &mut members);
        members.iter().map(|member| member.silent_for).collect::<Vec<_>>()
    };
    assert_eq!(look(0, [1, 1]), [None, None]);
    assert_eq!(look(30, [9, 1]), [None, Some(ms(30_000))]);
    assert_eq!(look(60, [9, 1]), [Some(ms(30_000)), Some(ms(60_000))]);
    assert_eq!(look(61, [9, 2]), [Some(ms(31_000)), None]);
}

/// Facts with whatever may be wrong, drawn.
fn drawn(rng: &mut Rng) -> Facts {
    let mut facts = well();
    let lease = lease(&mut facts);
    lease.expiry = match rng.below(4) {
        0 => Expiry::Observer,
        _ => Expiry::Left(ms(rng.below(15_000))),
    };
    if rng.one_in(4) {
        lease.holder = None;
    }
    lease.lineage = Lineage(rng.between(1, 2));
    facts.lease_unchanged_for = ms(rng.below(3) * 8_000);
    facts.store_took = ms(rng.below(3_000));
    facts.view = Some(view(rng.between(3, 4), &["a", "b"]));
    facts.terms = (0..rng.below(9)).map(|n| term(4, "a", n * 100_000)).collect();
    for member in &mut facts.members {
        member.silent_for = (!rng.one_in(4)).then(|| ms(rng.below(40_000)));
        member.record.eligible = !rng.one_in(3);
        member.record.draining = rng.one_in(3);
    }
    facts.members.truncate(usize::try_from(rng.below(4)).expect("small"));
    facts.plugins[0].doing = if rng.one_in(2) { "failing" } else { "working" }.to_owned();
    facts
}

#[test]
fn the_verdict_is_the_worst_reason_and_healthy_without_any() {
    let mut rng = Rng::new(11);
    let mut met = [0_u32; 3];
    for _ in 0..3_000 {
        let health = judge(&drawn(&mut rng), &Limits::of(&Settings::default()));
        let worst = health.reasons.iter().map(Reason::verdict).max();
        assert_eq!(health.verdict, worst.unwrap_or(Verdict::Healthy));
        assert_eq!(health.reasons.is_empty(), health.verdict == Verdict::Healthy);
        assert!(health.reasons.is_sorted_by_key(|reason| std::cmp::Reverse(reason.verdict())));
        for reason in &health.reasons {
            let json = serde_json::to_value(reason).expect("plain data");
            assert_eq!(json["reason"], reason.name());
            assert_eq!(reason.to_string().lines().count(), 1);
        }
        let text = serde_json::to_string(&health).expect("plain data");
        assert_eq!(serde_json::from_str::<Health>(&text).expect("what was written"), health);
        met[health.verdict as usize] += 1;
        let short = health.clone().shortened(1, 1);
        assert_eq!(short.reasons.len() + short.reasons_left_out, health.reasons.len());
        assert_eq!(short.nodes.len() + short.nodes_left_out, health.nodes.len());
        assert!(short.reasons.len() <= 1 && short.nodes.len() <= 1);
    }
    assert!(met.iter().all(|count| *count > 0), "{met:?}");
}
