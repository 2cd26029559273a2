//! The conformance suite, a process a handle, in real time.

use std::time::Duration;

use baton_store::conformance::{self, SuiteSettings, cases};
use baton_testbed::subject::{Processes, keep_report};

use crate::fixture::Etcd;

/// Member age (1), death proof (5), lineage (6) and counters (14) are not declared, and asserted to
/// be absent.
const ABSENT: usize = 26;

/// etcd grants nothing below 2 s, looks for leases that are over every 500 ms, and needs a moment
/// to remove them.
const SETTINGS: SuiteSettings = SuiteSettings {
    ttl: Duration::from_secs(2),
    lateness: Duration::from_millis(1_200),
    increments: 3,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_processes_conform() {
    let subject = Processes::new(Etcd::start().await, SETTINGS);
    let report = conformance::run(&subject).await;
    keep_report(&report);
    assert_eq!(report.counts(), [cases().len() - ABSENT, ABSENT, 0, 0], "{report}");
}
