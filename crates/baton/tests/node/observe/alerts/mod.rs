//! Every alert fires where it should and nowhere else, by promtool's own judgement.
//!
//! ```text
//!   series    what a node's scrapes show ──► scenario  a promtool test ──► promtool test rules
//!   mod       the scenarios                            which alerts fire, and no other
//! ```

mod scenario;
mod series;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use scenario::{Scenario, label_names};
use series::Scrape::{Dead, Paused, Shows};
use series::{FOLLOWS, Figures, LEADS, metrics, shows};

use super::documents::document;
use super::promql::Query;

/// Scrapes in a minute.
const MINUTE: usize = 4;

fn rules() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/grafana/alerts.yaml")
}

/// A leader and two followers of another namespace, with whom all is well.
fn others(scenario: Scenario, count: usize) -> Scenario {
    scenario
        .node("other", "x", &[shows(count, LEADS)])
        .node("other", "y", &[shows(count, FOLLOWS)])
        .node("other", "z", &[shows(count, FOLLOWS)])
}

/// Every node of one namespace is killed; a day later the namespace counts as retired.
fn all_dead() -> Scenario {
    let gone = vec![Dead; 1_500];
    others(Scenario::new("all dead").every_minute(), 1_510)
        .node("billing", "a", &[shows(10, LEADS), gone.clone()])
        .node("billing", "b", &[shows(10, FOLLOWS), gone.clone()])
        .node("billing", "c", &[shows(10, FOLLOWS), gone])
        .fires("BatonNoLeader", r#"namespace="billing""#, 12, 1_460)
}

/// The nodes come back after an hour.
fn all_dead_for_an_hour() -> Scenario {
    let gone = vec![Dead; 60 * MINUTE];
    others(Scenario::new("all dead for an hour"), 100 * MINUTE)
        .node("billing", "a", &[shows(40, LEADS), gone.clone(), shows(120, LEADS)])
        .node("billing", "b", &[shows(40, FOLLOWS), gone, shows(120, FOLLOWS)])
        .fires("BatonNoLeader", r#"namespace="billing""#, 12, 71)
}

/// The leader is killed; another node leads a lease later, and one run was missed meanwhile.
fn one_dead() -> Scenario {
    let first = Figures { changes: 1, missed_runs: 1, ..LEADS };
    let saw = Figures { changes: 1, ..FOLLOWS };
    others(Scenario::new("one dead"), 40 * MINUTE)
        .node("billing", "a", &[shows(40, LEADS), vec![Dead; 120]])
        .node("billing", "b", &[shows(41, FOLLOWS), shows(1, first), shows(118, LEADS)])
        .node("billing", "c", &[shows(41, FOLLOWS), shows(1, saw), shows(118, FOLLOWS)])
}

/// No node reaches the store for ten minutes. The leader stops at its deadline.
fn store_away() -> Scenario {
    let cut = Figures { answered: 0, unanswered: 3, breaker: 2, ready: false, ..FOLLOWS };
    let last = Figures { to_deadline: 3, ready: true, breaker: 0, leads: true, ..cut };
    let soon = Figures { ready: true, breaker: 0, ..cut };
    let mut scenario = Scenario::new("store away");
    scenario = scenario
        .node(
            "billing",
            "a",
            &[shows(40, LEADS), shows(1, last), shows(39, cut), shows(120, LEADS)],
        )
        .fires("BatonNoLeader", r#"namespace="billing""#, 13, 21);
    for node in ["b", "c"] {
        let parts = [shows(40, FOLLOWS), shows(1, soon), shows(39, cut), shows(120, FOLLOWS)];
        scenario = scenario.node("billing", node, &parts);
    }
    let nodes = [
        r#"namespace="billing",node="a""#,
        r#"namespace="billing",node="b""#,
        r#"namespace="billing",node="c""#,
    ];
    for node in nodes {
        scenario = scenario
            .fires("BatonBreakerOpen", node, 13, 21)
            .fires("BatonNodeNotReady", node, 14, 21)
            .fires("BatonStoreFails", node, 18, 27);
    }
    scenario
}

/// The leader's process is paused for two minutes, and stops its work once it goes on. What is left
/// to tell is that the deadline passed before: a warning, and nothing critical.
fn paused_leader() -> Scenario {
    let woke = Figures { overran: 1, overrun: 1, changes: 1, ..FOLLOWS };
    let first = Figures { changes: 1, ..LEADS };
    let saw = Figures { changes: 1, ..FOLLOWS };
    Scenario::new("paused leader")
        .node(
            "billing",
            "a",
            &[shows(40, LEADS), vec![Paused; 8], shows(1, woke), shows(111, FOLLOWS)],
        )
        .node("billing", "b", &[shows(42, FOLLOWS), shows(1, first), shows(117, LEADS)])
        .node("billing", "c", &[shows(42, FOLLOWS), shows(1, saw), shows(117, FOLLOWS)])
        .fires("BatonDeadlinePassed", r#"namespace="billing",node="a""#, 13, 23)
}

/// Three nodes are replaced one after another; leadership changes twice, and each new process is
/// ready after a while only.
fn deploy() -> Scenario {
    let starts = [vec![Dead; 2], shows(2, Figures { ready: false, ..FOLLOWS })].concat();
    let (first, saw) = (Figures { changes: 1, ..LEADS }, Figures { changes: 1, ..FOLLOWS });
    others(Scenario::new("deploy"), 40 * MINUTE)
        .node(
            "billing",
            "a",
            &[
                shows(40, LEADS),
                starts.clone(),
                shows(4, FOLLOWS),
                vec![Shows(first)],
                shows(111, LEADS),
            ],
        )
        .node(
            "billing",
            "b",
            &[
                shows(40, FOLLOWS),
                vec![Shows(first)],
                shows(7, LEADS),
                starts.clone(),
                vec![Shows(saw)],
                shows(107, FOLLOWS),
            ],
        )
        .node(
            "billing",
            "c",
            &[
                shows(40, FOLLOWS),
                vec![Shows(saw)],
                shows(7, FOLLOWS),
                vec![Shows(saw)],
                shows(3, FOLLOWS),
                starts,
                shows(104, FOLLOWS),
            ],
        )
}

/// Every other renewal is lost: the term holds, with its deadline near.
fn renewals_lost() -> Scenario {
    let near = Figures { to_deadline: 5, answered: 3, unanswered: 2, ..LEADS };
    Scenario::new("renewals lost")
        .node("billing", "a", &[shows(40, LEADS), shows(40, near), shows(80, LEADS)])
        .node("billing", "b", &[shows(160, FOLLOWS)])
        .fires("BatonDeadlineNear", r#"namespace="billing",node="a""#, 11, 21)
        .fires("BatonStoreFails", r#"namespace="billing",node="a""#, 17, 26)
}

/// Two nodes take leadership from each other every half minute for a while.
fn flapping() -> Scenario {
    let pair = |first: Figures, then: Figures| {
        let change = |figures| Shows(Figures { changes: 1, ..figures });
        [change(first), Shows(first), change(then), Shows(then)].repeat(5)
    };
    Scenario::new("flapping")
        .node("billing", "a", &[shows(40, LEADS), pair(FOLLOWS, LEADS), shows(100, LEADS)])
        .node("billing", "b", &[shows(40, FOLLOWS), pair(LEADS, FOLLOWS), shows(100, FOLLOWS)])
        .fires("BatonLeadershipFlaps", r#"namespace="billing""#, 14, 26)
}

/// A plugin blocks its thread past the deadline for five minutes, then it is stopped.
fn blocked_plugin() -> Scenario {
    let stuck = |overrun| Figures { overrun, changes: u32::from(overrun == 10), ..FOLLOWS };
    let noticed = Shows(Figures { overran: 1, ignored: 1, ..stuck(10) });
    let blocked = (1..20).map(|n| Shows(stuck(10 + n * 15))).collect();
    let first = Figures { changes: 1, ..LEADS };
    let on_a = r#"namespace="billing",node="a""#;
    Scenario::new("blocked plugin")
        .node("billing", "a", &[shows(40, LEADS), vec![noticed], blocked, shows(100, FOLLOWS)])
        .node("billing", "b", &[shows(40, FOLLOWS), shows(1, first), shows(119, LEADS)])
        .fires("BatonWorkOverran", on_a, 11, 16)
        .fires("BatonDeadlinePassed", on_a, 11, 21)
        .fires("BatonPluginBlocks", on_a, 11, 21)
}

/// The store refuses one node, and later shows older data to both.
fn store_refuses_and_goes_back() -> Scenario {
    let refused = Figures { rejected: 1, ..FOLLOWS };
    let back = |figures| shows(1, Figures { went_back: 1, ..figures });
    let b = [shows(40, FOLLOWS), shows(1, refused), shows(79, FOLLOWS), back(FOLLOWS)];
    Scenario::new("store refuses and goes back")
        .node("billing", "a", &[shows(120, LEADS), back(LEADS), shows(279, LEADS)])
        .node("billing", "b", &[b.concat(), shows(279, FOLLOWS)])
        .fires("BatonStoreRefuses", r#"namespace="billing",node="b""#, 11, 21)
        .fires("BatonStoreWentBack", r#"namespace="billing",node="a""#, 31, 91)
        .fires("BatonStoreWentBack", r#"namespace="billing",node="b""#, 31, 91)
}

/// A plugin fails once a minute for ten minutes, and later misses a run now and then.
fn failing_plugin() -> Scenario {
    let once = |figures| [shows(1, figures), shows(3, LEADS)].concat();
    let fails = once(Figures { failed_runs: 1, ..LEADS }).repeat(10);
    let misses = once(Figures { missed_runs: 1, ..LEADS }).repeat(15);
    Scenario::new("failing plugin")
        .node(
            "billing",
            "a",
            &[shows(40, LEADS), fails, shows(80, LEADS), misses, shows(60, LEADS)],
        )
        .node("billing", "b", &[shows(300, FOLLOWS)])
        .fires("BatonPluginFails", r#"namespace="billing",plugin="job""#, 18, 30)
        .fires("BatonPluginMissesWork", r#"namespace="billing",plugin="job""#, 52, 66)
}

/// An outage of the leader costs slots of a schedule. Later a slot is skipped during a run,
/// as the schedule's policy says, and no alert is due.
fn missed_slots() -> Scenario {
    let (late, first) = (Figures { late_slots: 3, ..LEADS }, Figures { changes: 1, ..LEADS });
    let overlap = Figures { overlapped_slots: 1, ..LEADS };
    Scenario::new("missed slots")
        .node("billing", "a", &[shows(40, LEADS), vec![Dead; 260]])
        .node(
            "billing",
            "b",
            &[
                shows(40, FOLLOWS),
                shows(1, first),
                shows(19, LEADS),
                shows(1, late),
                shows(99, LEADS),
                shows(1, overlap),
                shows(139, LEADS),
            ],
        )
        .fires("BatonScheduleMissed", r#"namespace="billing",schedule="report""#, 16, 31)
}

/// Runs of a schedule fail: one alone is no reason to wake a person, the second within an hour is,
/// also on another node.
fn failing_schedule() -> Scenario {
    let fails = |figures| shows(1, Figures { failed_schedule_runs: 1, ..figures });
    let (first, saw) = (Figures { changes: 1, ..LEADS }, Figures { changes: 1, ..FOLLOWS });
    let a = [shows(40, LEADS), fails(LEADS), shows(399, LEADS), fails(LEADS)].concat();
    Scenario::new("failing schedule")
        .node("billing", "a", &[a, shows(60, LEADS), shows(1, saw), shows(498, FOLLOWS)])
        .node(
            "billing",
            "b",
            &[
                shows(501, FOLLOWS),
                shows(1, first),
                shows(20, LEADS),
                fails(LEADS),
                shows(477, LEADS),
            ],
        )
        .fires("BatonScheduleFailing", r#"namespace="billing",schedule="report""#, 132, 172)
}

/// A node that leaves is missed for a moment. Later no node takes its partitions for five minutes.
fn unowned_partitions() -> Scenario {
    let lacks = |count| shows(count, Figures { unowned: 4, ..LEADS });
    let parts =
        [shows(40, LEADS), lacks(1), shows(39, LEADS), lacks(20), shows(40, LEADS)].concat();
    Scenario::new("unowned partitions")
        .node("billing", "a", &[parts])
        .node("billing", "b", &[shows(140, FOLLOWS)])
        .fires("BatonPartitionsUnowned", r#"namespace="billing""#, 22, 25)
}

fn scenarios() -> [Scenario; 14] {
    [
        all_dead(),
        all_dead_for_an_hour(),
        one_dead(),
        store_away(),
        paused_leader(),
        deploy(),
        renewals_lost(),
        flapping(),
        blocked_plugin(),
        store_refuses_and_goes_back(),
        failing_plugin(),
        missed_slots(),
        failing_schedule(),
        unowned_partitions(),
    ]
}

#[test]
fn each_alert_fires_where_it_should_and_nowhere_else() {
    let judged = std::thread::scope(|scope| {
        let scenarios = scenarios().map(|scenario| scope.spawn(move || scenario.judge(&rules())));
        scenarios.map(|it| it.join().expect("a verdict")).map(Result::err)
    });
    let problems: Vec<String> = judged.into_iter().flatten().collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn a_rule_that_is_wrong_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let blind = folder.path().join("rules.yaml");
    let text = document("grafana/alerts.yaml");
    let seeing = text.lines().find(|line| line.contains("last_over_time")).expect("the rule");
    let wrong = text.replace(seeing, "        expr: max by (namespace) (baton_leader) == 0");
    std::fs::write(&blind, wrong).expect("it can be written");
    let said = all_dead_for_an_hour().judge(&blind).expect_err("dead nodes show nothing");
    assert!(said.contains("BatonNoLeader"), "{said}");
}

#[test]
fn every_alert_has_a_scenario_in_which_it_fires_and_text_about_labels_that_it_has() {
    let mut labels: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let scenarios = scenarios();
    for fires in scenarios.iter().flat_map(Scenario::alerts) {
        labels.insert(fires.alert, label_names(fires));
    }
    let text = document("grafana/alerts.yaml");
    let rules = text.split("- alert:").skip(1);
    let mut names = BTreeSet::new();
    for rule in rules {
        let name = rule.lines().next().expect("its name").trim();
        let has = labels.get(name);
        let has = has.unwrap_or_else(|| unreachable!("no scenario in which {name} fires"));
        for asked in rule.split("$labels.").skip(1) {
            let asked: String = asked.chars().take_while(char::is_ascii_alphabetic).collect();
            assert!(has.contains(&asked), "{name} has no label {asked}");
        }
        names.insert(name);
        let query = rule.lines().find_map(|line| line.trim().strip_prefix("expr:"));
        let asked = Query::read(query.expect("a query")).asked;
        let covered: BTreeSet<&str> = metrics().collect();
        assert!(asked.iter().all(|it| covered.contains(it.metric.as_str())), "{asked:?}");
    }
    assert_eq!(names, labels.into_keys().collect());
}

/// The rule for one namespace, which a long outage does not silence, stands in the document.
#[test]
fn the_rule_for_one_namespace_fires_for_as_long_as_no_node_leads() {
    let text = document("metrics.md");
    let rule = text.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next());
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("rules.yaml");
    std::fs::write(&file, rule.expect("a block")).expect("it can be written");
    let gone = vec![Dead; 3_000];
    let fires = r#"namespace="billing""#;
    let scenario = others(Scenario::new("dead for two days").every_minute(), 3_010)
        .node("billing", "a", &[shows(10, LEADS), gone, shows(10, LEADS)])
        .fires("BatonNoLeaderInBilling", fires, 12, 3_011);
    assert_eq!(scenario.judge(&file), Ok(()));
    let still = Scenario::new("dead for ever").every_minute();
    let still = still.node("billing", "a", &[shows(10, LEADS), vec![Dead; 2_000]]).fires(
        "BatonNoLeaderInBilling",
        fires,
        2_010,
        None,
    );
    assert_eq!(still.judge(&file), Ok(()));
}
