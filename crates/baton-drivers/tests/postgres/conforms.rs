//! The conformance suite across processes, on a real server.

use std::time::Duration;

use baton_store::conformance::{self, SuiteSettings, cases};
use baton_testbed::subject::{Processes, keep_report};

use crate::fixture::Postgres;

/// The server does not know when a process is gone; these cases assert that it does not pretend.
const ABSENT: usize = 5;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_processes_conform() {
    let fixture = Postgres::start().await;
    let east = "CREATE ROLE east LOGIN SUPERUSER; ALTER ROLE east SET timezone TO 'Etc/GMT-2'";
    fixture.sql(east).await;
    let (ttl, lateness) = (Duration::from_millis(2_500), Duration::from_millis(50));
    let subject = Processes::new(fixture, SuiteSettings { ttl, lateness, increments: 3 });
    let report = conformance::run(&subject).await;
    keep_report(&report);
    assert_eq!(report.counts(), [cases().len() - ABSENT, ABSENT, 0, 0], "{report}");
}
