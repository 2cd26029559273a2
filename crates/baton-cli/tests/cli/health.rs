//! `health`: one verdict of real processes, with its reasons and a code for scripts.

use rustix::process::Signal;
use serde_json::Value;

use super::support::{LOOK_EVERY, PATIENCE, Said, Sandbox};

use baton_store::clock::{Clock, SystemClock};

fn names(health: &Value) -> Vec<&str> {
    let reasons = health["reasons"].as_array().expect("a list");
    reasons.iter().map(|reason| reason["reason"].as_str().expect("a name")).collect()
}

/// Asks until the answer is the one awaited.
fn until(here: &Sandbox, more: &[&str], what: &str, seen: impl Fn(&Said) -> bool) -> Said {
    let arguments = [&["health", "--json"], more].concat();
    let gives_up_at = SystemClock.now() + PATIENCE;
    loop {
        let said = here.baton(&arguments);
        if seen(&said) {
            return said;
        }
        assert!(SystemClock.now() < gives_up_at, "{what}: {said:?}");
        std::thread::park_timeout(LOOK_EVERY);
    }
}

#[test]
fn a_cluster_that_is_well_is_healthy_and_shows_its_nodes() {
    let here = Sandbox::new();
    let _a = here.serve("a", &[]);
    here.until_led_by("a");
    let _b = here.serve("b", &[]);
    let said = until(&here, &[], "healthy", |said| said.code == Some(0));
    let health = said.json();
    assert_eq!((&health["verdict"], names(&health).len()), (&"healthy".into(), 0));
    assert_eq!((&health["leader"]["node"], &health["leader"]["epoch"]), (&"a".into(), &1.into()));
    assert_eq!(health["counts"]["candidates"], 2);
    assert_eq!((&health["nodes"][0]["role"], &health["format"]), (&"leader".into(), &1.into()));
    assert_eq!(health["nodes"][1]["liveness"], "live");
    assert_eq!(health["sentences"], Value::Array(Vec::new()));
    let said = here.baton(&["health"]);
    here.assert_narrow(&said);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    assert!(said.out.starts_with("healthy\n\nnamespace    default\n"), "{}", said.out);
    assert!(said.out.contains("2 registered, 2 live, 2 may lead"), "{}", said.out);
}

#[test]
fn a_node_that_was_killed_degrades_the_cluster_until_it_is_dead() {
    let here = Sandbox::new();
    let _a = here.serve("a", &[]);
    here.until_led_by("a");
    let b = here.serve("b", &[]);
    until(&here, &[], "healthy", |said| said.code == Some(0));
    b.signal(Signal::KILL);
    let limits = ["--profile", "fast", "--worker-timeout", "2s", "--dead-node-timeout", "2s"];
    let dead = |said: &Said| said.code == Some(6) && names(&said.json()).contains(&"node-dead");
    let health = until(&here, &limits, "b is dead", dead).json();
    assert_eq!(names(&health)[0], "few-candidates", "{health}");
    assert_eq!(health["nodes"][1]["liveness"], "dead");
    let said = here.baton(&[&["health"], limits.as_slice()].concat());
    here.assert_narrow(&said);
    assert_eq!(said.code, Some(6), "{said:?}");
    assert!(said.out.starts_with("degraded\n- only 1 eligible node is live, not 2:"), "{said:?}");
    assert!(said.out.contains("- node b is dead: silent for "), "{}", said.out);
    assert!(said.out.contains("more than dead_node_timeout 2 s"), "{}", said.out);
}

#[test]
fn without_a_coordinator_it_is_critical_and_says_since_when() {
    let here = Sandbox::new();
    let mut a = here.serve("a", &[]);
    here.until_led_by("a");
    a.signal(Signal::TERM);
    assert_eq!(a.ended(), Some(0));
    let said = here.baton(&["health", "--json"]);
    assert_eq!((said.code, said.err.as_str()), (Some(1), ""));
    let health = said.json();
    let mut told = names(&health);
    told.sort_unstable();
    assert_eq!(
        (&health["verdict"], told.as_slice()),
        (&"critical".into(), &["no-coordinator", "no-node"][..])
    );
    assert!(health["reasons"][1]["for_ms"].is_u64() || health["reasons"][0]["for_ms"].is_u64());
    let said = here.baton(&["health"]);
    here.assert_narrow(&said);
    assert!(said.out.starts_with("critical\n"), "{}", said.out);
    assert!(said.out.contains("leader       none\n"), "{}", said.out);
}

#[test]
fn where_the_rest_may_not_lead_no_node_could_take_over() {
    let here = Sandbox::new();
    let _a = here.serve("a", &[]);
    here.until_led_by("a");
    let _b = here.serve("b", &["--eligible", "false"]);
    here.until("b is there", |status| status["members"][1]["state"] == "observer");
    let said = here.baton(&["health", "--json"]);
    assert_eq!(said.code, Some(6), "{said:?}");
    let health = said.json();
    assert_eq!(names(&health), ["few-candidates"], "{health}");
    assert_eq!(health["nodes"][1]["role"], "observer");
    let enough = here.baton(&["health", "--candidates-min", "1"]);
    assert_eq!(enough.code, Some(0), "{enough:?}");
}

#[test]
fn a_store_that_is_not_there_is_told_apart_and_not_made() {
    let here = Sandbox::new();
    here.baton(&["health"]).assert_refused(3, "there is no database at ");
    assert!(!here.path("state").exists());
    let said = here.baton(&["health", "--store", "postgres://me@127.0.0.1:1/x"]);
    said.assert_refused(3, "is the server running, and is the address right?");
}

#[test]
fn the_coordinator_publishes_its_verdict_and_tells_when_it_changes() {
    let here = Sandbox::new();
    let _a = here.serve("a", &["--json"]);
    here.until_led_by("a");
    let out = here.path("a.out");
    let gives_up_at = SystemClock.now() + PATIENCE;
    let told = loop {
        let lines = super::support::lines(&out);
        let events = lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let mut changed = events.filter(|event| event["event"] == "cluster:health-changed");
        if let Some(event) = changed.next() {
            break event;
        }
        assert!(SystemClock.now() < gives_up_at, "{lines:?}");
        std::thread::park_timeout(LOOK_EVERY);
    };
    assert_eq!(told["verdict"], "degraded");
    assert!(names(&told).contains(&"few-candidates"), "{told}");
}

/// Every limit of a judgement can be set, and nothing else is offered.
#[test]
fn the_help_lists_only_what_a_judgement_uses() {
    let here = Sandbox::new();
    let said = here.baton(&["health", "--help"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let words = said.out.split_whitespace().filter_map(|word| word.strip_prefix("--"));
    let flags: std::collections::BTreeSet<&str> = words.collect();
    let expected = [
        "candidates-min",
        "config",
        "dead-node-timeout",
        "flap-threshold",
        "flap-window",
        "heartbeat-interval",
        "heartbeat-jitter",
        "help",
        "json",
        "lease-timeout",
        "namespace",
        "profile",
        "request-timeout",
        "store",
        "worker-timeout",
    ];
    assert_eq!(flags.into_iter().collect::<Vec<_>>(), expected, "{}", said.out);
    here.baton(&["health", "--lifeline", "false"]).assert_refused(2, "--lifeline");
}
