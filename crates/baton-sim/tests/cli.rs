//! The command line as people meet it: what goes to which stream, with which exit code.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

fn baton_sim(arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_baton-sim");
    Command::new(program).args(arguments).output().expect("the program was built for this test")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("the program prints UTF-8")
}

/// A file of this test's own.
fn file(name: &str, content: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, content).expect("the build's own folder can be written to");
    path
}

fn path(file: &std::path::Path) -> &str {
    file.to_str().expect("the build's folder has a plain name")
}

/// Runs what makes no sense: one line on stderr, nothing on stdout, exit code 2.
fn assert_refused(arguments: &[&str], expected: &str) {
    let output = baton_sim(arguments);
    let complaint = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {complaint}");
    assert_eq!(text(&output.stdout), "", "{arguments:?}");
    assert_eq!(complaint.lines().count(), 1, "{arguments:?}: {complaint}");
    assert!(complaint.contains(expected), "{arguments:?}: {complaint}");
}

#[test]
fn an_unknown_seed_file_or_fault_is_refused() {
    assert_refused(&["replay", "--file", "/nowhere/seeds.txt"], "/nowhere/seeds.txt");
    assert_refused(&["--seed", "1", "--without", "pauze"], "\"pauze\" is unknown");
    let seeds = file("bad-seeds.txt", "12\ntwelve\n");
    assert_refused(&["replay", "--file", path(&seeds)], ":2: \"twelve\" is not a seed");
}

#[test]
fn a_what_if_file_that_cannot_be_used_is_refused() {
    let cases = [
        (
            "contradiction",
            "worker_timeout = '4s'\nheartbeat_interval = '5s'",
            "worker_timeout (4s) must be at least 10s because of heartbeat_interval (5s)",
        ),
        ("profile", "profile = 'quick'", "profile \"quick\" is unknown"),
        ("key", "leese_timeout = '5s'", "leese_timeout is unknown"),
        ("nested", "[contention]\nlimit = 3", "contention.limit is unknown"),
        ("syntax", "lease_timeout = '5s\n", "line 1: "),
        ("span", "lease_timeout = 'soon'", "lease_timeout: \"soon\" is not a length of time"),
        ("environment", "[environment]\nstore = 's3'", "environment.store is unknown"),
        ("often", "[environment]\ndeploys_per_day = -1", "must be between 0 and 1000"),
    ];
    for (name, content, expected) in cases {
        let config = file(&format!("bad-{name}.toml"), content);
        assert_refused(&["what-if", "--config", path(&config)], expected);
    }
    assert_refused(&["what-if", "--config", "/nowhere/settings.toml"], "/nowhere/settings.toml");
}

#[test]
fn a_cluster_of_none_or_a_plot_into_nowhere_is_refused() {
    let config = file("plain.toml", "");
    let what_if = ["what-if", "--config", path(&config)];
    let with = |more: &[&'static str]| [&what_if[..], more].concat();
    assert_refused(&with(&["--nodes", "0"]), "nodes (0) must be between 1 and 1000");
    assert_refused(&with(&["--nodes", "51", "--plot", "x.svg"]), "between 1 and 50 with --plot");
    assert_refused(&with(&["--plot", "/nowhere/x.svg"]), "/nowhere/x.svg");
}

#[test]
fn a_seed_replays_byte_for_byte() {
    let arguments = ["--seed", "11", "--trace"];
    let (one, other) = (baton_sim(&arguments), baton_sim(&arguments));
    assert!(one.status.success(), "{}", text(&one.stderr));
    assert!(one.stdout.len() > 1_000, "a trace has many lines");
    assert_eq!(one.stdout, other.stdout);
}

#[test]
fn a_seed_of_schedules_replays_byte_for_byte() {
    let arguments = ["schedules", "--seed", "3", "--trace"];
    let (one, other) = (baton_sim(&arguments), baton_sim(&arguments));
    assert!(one.status.success(), "{}", text(&one.stderr));
    assert!(one.stdout.len() > 1_000, "a trace has many lines");
    assert_eq!(one.stdout, other.stdout);
}

#[test]
fn json_can_be_read_and_holds_the_numbers() {
    let one = baton_sim(&["--seed", "5", "--json"]);
    let read: Value = serde_json::from_slice(&one.stdout).expect("JSON");
    assert_eq!(read["seed"], 5);
    let campaign = baton_sim(&["--seeds", "5", "--json"]);
    let read: Value = serde_json::from_slice(&campaign.stdout).expect("JSON");
    assert_eq!(read["seeds"], 5);
    let schedules = baton_sim(&["schedules", "--seeds", "5", "--json"]);
    let read: Value = serde_json::from_slice(&schedules.stdout).expect("JSON");
    assert_eq!((&read["seeds"], &read["violations"]), (&5.into(), &serde_json::json!({})));
    let once = baton_sim(&["once", "--processes", "1", "--json"]);
    let read: Value = serde_json::from_slice(&once.stdout).expect("JSON");
    assert_eq!(
        (&read["configurations"][1]["on_crash"], &read["violations"]),
        (&"skip".into(), &0.into())
    );
    let config = file("json.toml", "profile = 'fast'");
    let arguments = ["what-if", "--config", path(&config), "--runs", "3", "--json"];
    let read: Value = serde_json::from_slice(&baton_sim(&arguments).stdout).expect("JSON");
    assert_eq!(read["config"]["profile"], "fast");
    assert_eq!(read["causes"].as_array().map(Vec::len), Some(6));
    let availability = read["availability_percent"].as_f64().unwrap_or_default();
    assert!((90.0..100.0).contains(&availability), "{availability}");
}

#[test]
fn what_if_prints_a_narrow_table_and_draws_a_lane_for_each_node() {
    let config = file("default.toml", "profile = 'default'");
    let picture = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("default.svg");
    let arguments =
        ["what-if", "--config", path(&config), "--runs", "50", "--plot", path(&picture)];
    let output = baton_sim(&arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    let widest = table.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    assert!((40..=80).contains(&widest), "{widest} columns:\n{table}");
    for row in ["leader killed", "rolling deploy", "leaderless seconds a day", "members"] {
        assert!(table.contains(row), "{row} is missing:\n{table}");
    }
    let picture = std::fs::read_to_string(&picture).expect("the picture was written");
    assert_eq!(picture.matches("class=\"lane\"").count(), 5);
    assert_eq!(baton_sim(&arguments).stdout, output.stdout, "the same seed, the same table");
}

#[test]
fn the_example_file_is_sound() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples-config/what-if.toml");
    let output = baton_sim(&["what-if", "--config", example, "--nodes", "3", "--runs", "5"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("no lifeline: a crash costs the lease"));
}

#[test]
fn a_node_costs_about_a_request_a_beat() {
    let output = baton_sim(&["cost", "--quick"]);
    assert!(output.status.success(), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains(": holds"), "{}", text(&output.stdout));
}
