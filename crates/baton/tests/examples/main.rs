//! Every example runs to its end and prints what it promises.

#[cfg(all(feature = "http", feature = "postgres"))]
mod axum_service;
#[cfg(all(
    feature = "etcd",
    feature = "mysql",
    feature = "postgres",
    feature = "redis",
    feature = "s3",
    feature = "sqlite"
))]
mod fenced;

use std::path::PathBuf;
use std::process::Command;

/// Examples are built beside the tests.
fn built(name: &str) -> PathBuf {
    let mut folder = std::env::current_exe().expect("a test has a path");
    folder.pop();
    folder.pop();
    folder.join("examples").join(name)
}

/// What the example prints, on a database of its own.
fn lines(name: &str) -> Vec<String> {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("example.db");
    lines_with(name, &format!("sqlite://{}", file.display()))
}

/// What the example prints, on this store.
fn lines_with(name: &str, url: &str) -> Vec<String> {
    let ran = Command::new(built(name)).arg(url).output();
    let ran = ran.expect("`cargo test -p baton` builds it");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{said}{}", String::from_utf8_lossy(&ran.stderr));
    said.lines().map(str::to_owned).collect()
}

#[test]
fn leader_works_for_three_rounds_and_hands_over() {
    let said = lines("leader");
    assert!(said[0].ends_with(" stands by"), "{said:?}");
    assert_eq!(
        said[1..],
        ["epoch 1: round 1", "epoch 1: round 2", "epoch 1: round 3", "handed over"]
    );
}

#[cfg(feature = "http")]
#[test]
fn getting_started_works_and_hands_over() {
    let said = lines("getting_started");
    assert_eq!(said, [1, 2, 3].map(|piece| format!("web-1 works in epoch 1: piece {piece}")));
}

#[test]
fn plugin_works_and_is_told_to_stop() {
    let said = lines("plugin");
    assert_eq!(said[..3], ["epoch 1: swept", "epoch 1: swept", "epoch 1: swept"]);
    assert_eq!(said.last().map(String::as_str), Some("stopped"));
}

#[test]
fn every_counts_its_reports_in_a_document_of_its_own() {
    let said = lines("every");
    assert_eq!(said[..3], ["epoch 1: report 1", "epoch 1: report 2", "epoch 1: report 3"]);
}

#[test]
fn fenced_write_is_refused_once_a_later_epoch_acted() {
    let said = lines("fenced_write");
    let late = "epoch 1 is behind 2, which was admitted to invoices; its term is over";
    assert_eq!(said, ["epoch 1: written", "epoch 2: admitted", late]);
}

#[test]
fn namespaces_lead_each_on_its_own() {
    let said = lines("namespaces");
    assert_eq!(said, ["billing: epoch 1", "mail: epoch 1", "search: epoch 1"]);
}

#[test]
fn health_changes_when_another_node_can_take_over() {
    let said = lines("health");
    let lone = "  only 1 eligible node is live, not 2: no node could take over";
    assert_eq!(said.first().map(String::as_str), Some("degraded"));
    assert!(said.iter().any(|line| line == lone), "{said:?}");
    assert_eq!(said.last().map(String::as_str), Some("healthy"));
}

#[test]
fn polls_are_answered_once_and_tried_again() {
    let said = lines("polls");
    assert_eq!(said, ["New(1), Duplicate(1)", "completed at attempt 2: pencil: 80 cents"]);
}

#[test]
fn schedule_runs_once_a_second() {
    let said = lines("schedule");
    assert!(said.len() >= 3, "{said:?}");
    assert!(said.iter().all(|line| line.ends_with(" attempt 1 in epoch 1")), "{said:?}");
    let slots: std::collections::BTreeSet<&str> =
        said.iter().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(slots.len(), said.len(), "{said:?}");
}

#[test]
fn partitions_begin_once_each_and_end_with_the_node() {
    let said = lines("partitions");
    let count = |end: &str| said.iter().filter(|line| line.ends_with(end)).count();
    assert_eq!((count(" begins"), count(" ends"), said.len()), (12, 12, 24), "{said:?}");
    assert!(said.contains(&"default/orders#11 begins".to_owned()), "{said:?}");
}

#[test]
fn once_does_its_work_in_one_of_three_instances() {
    assert_eq!(lines("once"), ["attempt 1 in epoch 1", "DoneBefore"]);
}

#[test]
fn observer_sees_the_leader_and_is_none() {
    let said = lines("observer");
    assert!(said[0].contains("\"event\":\"leader:changed\""), "{said:?}");
    assert!(said[1].ends_with("leads in epoch 1, and this node does not: false"), "{said:?}");
}

#[test]
fn counters_are_exact_before_and_after_they_are_consolidated() {
    let said = lines("counters");
    assert_eq!(said, ["orders: 100", "stock: 700", "consolidated: true, orders: 100"]);
}

#[test]
fn ttl_removes_what_has_expired_and_nothing_else() {
    assert_eq!(lines("ttl"), ["sqlite table sessions: 2 expired", "1 left"]);
}

/// A reader who copies an example has `baton` and crates that are published, and no other of ours.
#[test]
fn examples_import_none_of_the_crates_behind_baton() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let files = std::fs::read_dir(folder).expect("the examples are there");
    let paths: Vec<PathBuf> = files.map(|file| file.expect("it can be read").path()).collect();
    assert!(paths.len() > 10, "{paths:?}");
    for path in paths {
        let source = std::fs::read_to_string(&path).expect("an example is text");
        let behind: Vec<&str> = source.lines().filter(|line| line.contains("baton_")).collect();
        assert_eq!(behind, Vec::<&str>::new(), "{}", path.display());
    }
}
