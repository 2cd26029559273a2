//! The conformance suite, every handle in a process of its own.

use std::time::Duration;

use baton_store::conformance::{self, SuiteSettings, cases};
use baton_testbed::subject::{Processes, keep_report};

use crate::fixture::{Redis, server};

/// Proof of death is not declared; these cases assert its absence.
const ABSENT: usize = 5;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_processes_conform() {
    let settings = SuiteSettings {
        ttl: Duration::from_millis(1_500),
        lateness: Duration::from_millis(100),
        increments: 3,
    };
    let fixture = Redis(server(&[]).await);
    let report = conformance::run(&Processes::new(fixture, settings)).await;
    keep_report(&report);
    assert_eq!(report.counts(), [cases().len() - ABSENT, ABSENT, 0, 0], "{report}");
}
