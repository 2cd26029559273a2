//! The conformance suite across processes.

use std::time::Duration;

use baton_store::conformance::{self, SuiteSettings, cases};
use baton_testbed::subject::{Processes, keep_report};

use crate::fixture::{MysqlFixture, is_by_oracle};

/// Pushing and proof of death are not declared; these cases assert their absence.
const ABSENT: usize = 8;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_processes_conform() {
    // A lease must outlast a restart, and Oracle's server takes its time over one.
    let ttl = Duration::from_millis(if is_by_oracle() { 10_000 } else { 2_500 });
    let settings = SuiteSettings { ttl, lateness: Duration::from_millis(50), increments: 2 };
    let fixture = MysqlFixture::start().await.prepare_zone().await;
    // A server that was not started here is not stopped here, nor its data put back.
    let skipped = if fixture.is_named() { 8 } else { 0 };
    let report = conformance::run(&Processes::new(fixture, settings)).await;
    keep_report(&report);
    let passed = cases().len() - ABSENT - skipped;
    assert_eq!(report.counts(), [passed, ABSENT, skipped, 0], "{report}");
}
