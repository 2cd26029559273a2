//! The bench itself, against the program as the tests build it: times are shown and not judged,
//! what must hold is.

use std::process::Command;

use serde_json::Value;

/// Tries each arm twice, checks that all ended well, and names the rows of the table.
fn fails_over(store: &str, arms: &str) -> Vec<String> {
    let bench = Command::new(env!("CARGO_BIN_EXE_baton-bench"))
        .args(["failover", "--trials", "2", "--arms", arms, "--store", store])
        .args(["--peer-trials", "0", "--no-bars", "--json"])
        .args(["--baton", env!("CARGO_BIN_EXE_baton-under-test")])
        .output()
        .expect("it was built for this test");
    let said = String::from_utf8_lossy(&bench.stderr);
    assert!(bench.status.success(), "{said}");
    let report: Value = serde_json::from_slice(&bench.stdout).expect("it prints JSON alone");
    let rows = report["rows"].as_array().expect("it has rows");
    let shown = |row: &Value| row["verdict"] == "shown" && row["spread"]["count"] == 2;
    assert!(rows.iter().all(shown), "{report}");
    let checks = report["checks"].as_array().expect("it has checks");
    assert!(!checks.is_empty() && checks.iter().all(|check| check["verdict"] == "met"));
    rows.iter().filter_map(|row| row["name"].as_str().map(str::to_owned)).collect()
}

#[test]
fn a_few_failovers_on_a_file_end_well_and_are_told_in_json() {
    let rows = ["sqlite kill -9", "sqlite resign", "sqlite asked"];
    assert_eq!(fails_over("sqlite", "kill,resign,asked"), rows);
}

#[test]
fn a_few_failovers_on_a_server_of_the_bench_s_own_end_well() {
    assert_eq!(fails_over("redis", "kill"), ["redis kill -9"]);
}

#[test]
fn schedules_of_every_second_are_counted_and_none_is_doubled() {
    let bench = Command::new(env!("CARGO_BIN_EXE_baton-bench"))
        .args(["cron", "--store", "sqlite", "--schedules", "60", "--seconds", "4"])
        .args(["--no-bars", "--json", "--baton", env!("CARGO_BIN_EXE_baton-under-test")])
        .output()
        .expect("it was built for this test");
    // On a busy machine slots may be late or missed, which is told and no error.
    let said = String::from_utf8_lossy(&bench.stderr);
    assert!(matches!(bench.status.code(), Some(0 | 1)), "{said}");
    let report: Value = serde_json::from_slice(&bench.stdout).expect("it prints JSON alone");
    let doubled = &report["checks"][0];
    assert_eq!(doubled["name"], "sqlite, 60: slots doubled", "{report}");
    assert_eq!(doubled["verdict"], "met", "{report}");
    let sheets = report["sheets"].as_array().expect("it has tables");
    assert_eq!(sheets.len(), 3, "{report}");
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let bench = Command::new(env!("CARGO_BIN_EXE_baton-bench"))
        .args(["micro", "--baton", "no/such/baton"])
        .output()
        .expect("it was built for this test");
    assert_eq!(bench.status.code(), Some(3));
    let said = String::from_utf8_lossy(&bench.stderr);
    assert!(said.contains("no/such/baton is not there; build it"), "{said}");
}
