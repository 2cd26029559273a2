//! The bench itself, against the program as the tests build it: times are shown and not judged,
//! what must hold is.

use std::process::Command;

use serde_json::Value;

#[test]
fn a_few_failovers_end_well_and_are_told_in_json() {
    let bench = Command::new(env!("CARGO_BIN_EXE_baton-bench"))
        .args(["failover", "--trials", "2", "--arms", "kill,resign", "--no-bars", "--json"])
        .args(["--baton", env!("CARGO_BIN_EXE_baton-under-test")])
        .output()
        .expect("it was built for this test");
    let said = String::from_utf8_lossy(&bench.stderr);
    assert!(bench.status.success(), "{said}");
    let report: Value = serde_json::from_slice(&bench.stdout).expect("it prints JSON alone");
    let rows = report["rows"].as_array().expect("it has rows");
    let counts: Vec<_> = rows.iter().map(|row| row["spread"]["count"].as_u64()).collect();
    assert_eq!(counts, [Some(2), Some(2)], "{report}");
    assert!(rows.iter().all(|row| row["verdict"] == "shown"), "{report}");
    let checks = report["checks"].as_array().expect("it has checks");
    assert!(!checks.is_empty() && checks.iter().all(|check| check["verdict"] == "met"));
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
