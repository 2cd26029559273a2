//! The conformance suite across processes.

use std::time::Duration;

use baton_store::conformance::{self, SuiteSettings, cases};
use baton_testbed::subject::{Processes, keep_report};

use crate::fixture::S3Fixture;

/// No clock, no ages, no lineage, no deaths, no pushes: each absence is asserted.
const ABSENT: usize = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_processes_conform() {
    let (ttl, lateness) = (Duration::from_millis(600), Duration::from_millis(50));
    let settings = SuiteSettings { ttl, lateness, increments: 1 };
    let site = S3Fixture::start().await;
    // A server that the environment names is not ours to restart.
    let named = usize::from(site.server.pid().is_none());
    let report = conformance::run(&Processes::new(site, settings)).await;
    keep_report(&report);
    assert_eq!(report.counts(), [cases().len() - ABSENT - named, ABSENT, named, 0], "{report}");
}
