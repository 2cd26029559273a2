//! `serve`: takes part, tells what happens, leaves when told to.

use baton_store::clock::{Clock, SystemClock};
use rustix::process::Signal;
use serde_json::Value;

use super::support::{LOOK_EVERY, PATIENCE, Sandbox, lines};

#[test]
fn events_are_told_as_sentences_until_the_node_leaves() {
    let here = Sandbox::new();
    let mut a = here.serve("a", &[]);
    here.until_led_by("a");
    a.signal(Signal::TERM);
    assert_eq!(a.ended(), Some(0));
    let told = lines(&here.path("a.out"));
    assert!(told.iter().any(|line| line.ends_with("this node leads, epoch 1")), "{told:?}");
    let last = told.last().expect("something was told");
    assert!(last.contains("this node no longer leads, epoch 1: shut down"), "{told:?}");
    let status = here.status().expect("the database is there");
    assert!(status["coordinator"].is_null(), "{status}");
    assert_eq!(status["members"], Value::Array(Vec::new()));
}

#[test]
fn events_are_told_as_json_lines_too() {
    let here = Sandbox::new();
    let mut a = here.serve("a", &["--json", "--verbose"]);
    here.until_led_by("a");
    a.signal(Signal::INT);
    assert_eq!(a.ended(), Some(0));
    let told: Vec<Value> = lines(&here.path("a.out"))
        .iter()
        .map(|line| serde_json::from_str(line).expect("each line is JSON"))
        .collect();
    let promoted = told.iter().find(|event| event["event"] == "coordinator-promoted");
    let promoted = promoted.expect("it led");
    assert_eq!((&promoted["node"], &promoted["epoch"]), (&"a".into(), &1.into()));
    assert!(promoted["at_ms"].is_u64() && promoted["namespace"] == "default", "{promoted}");
    assert!(told.iter().any(|event| event["event"] == "worker-heartbeat"), "{told:?}");
}

#[test]
fn a_killed_coordinator_is_followed_by_the_next_one() {
    let here = Sandbox::new();
    let a = here.serve("a", &[]);
    here.until_led_by("a");
    let _b = here.serve("b", &[]);
    here.until("b is a successor", |status| status["successors"][0] == "b");
    a.signal(Signal::KILL);
    assert_eq!(here.until_led_by("b")["epoch"], 2);
    let terms = here.baton(&["history", "--json"]).json();
    assert_eq!(terms[0]["node"], "b");
}

#[test]
fn a_node_that_leads_alone_needs_no_store() {
    let here = Sandbox::new();
    let mut a = here.serve("alone", &["--enabled", "false", "--store", "sqlite:///nowhere/x.db"]);
    let out = here.path("alone.out");
    let gives_up_at = SystemClock.now() + PATIENCE;
    while !lines(&out).iter().any(|line| line.contains("this node leads")) {
        assert!(SystemClock.now() < gives_up_at, "it does not lead: {:?}", lines(&out));
        std::thread::park_timeout(LOOK_EVERY);
    }
    a.signal(Signal::TERM);
    assert_eq!(a.ended(), Some(0));
    assert!(!here.database().exists());
}
