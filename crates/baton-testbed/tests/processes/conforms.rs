//! The conformance suite on the fixture of a file.

use std::time::Duration;

use baton_store::conformance::{self, SuiteSettings};
use baton_testbed::subject::{InOneProcess, Processes};

use crate::file::File;

fn settings() -> SuiteSettings {
    let (ttl, lateness) = (Duration::from_millis(600), Duration::from_millis(20));
    SuiteSettings { ttl, lateness, increments: 2 }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn across_processes() {
    let report = conformance::run(&Processes::new(File::new(), settings())).await;
    assert_eq!(report.failures(), Vec::<&conformance::CaseReport>::new(), "{report}");
    // A restart, copies, and what is no lease are not this fixture's.
    let left: Vec<&str> = report.not_arrangeable().iter().map(|line| line.theme).collect();
    assert!(!left.contains(&"deaths") && !left.contains(&"clocks"), "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_one_process() {
    let report = conformance::run(&InOneProcess::new(File::new(), settings())).await;
    assert_eq!(report.failures(), Vec::<&conformance::CaseReport>::new(), "{report}");
}
