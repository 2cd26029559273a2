//! The conformance suite across processes, on a real server.

use std::time::Duration;

use baton_store::conformance::{self, Pace, Report};
use baton_testbed::subject::{Processes, keep_report};

use crate::ground::{Postgres, open};

/// How many cases there are. A case that is lost on the way must not go unnoticed.
const CASES: usize = 92;

/// The server does not know when a process is gone; these cases assert that it does not pretend.
const ABSENT: usize = 4;

/// Passed, asserted absent, not arrangeable, failed.
fn counts(report: &Report) -> [usize; 4] {
    let absent = report.absent().len();
    let skipped = report.not_arrangeable().len();
    let failed = report.failures().len();
    [report.lines.len() - absent - skipped - failed, absent, skipped, failed]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_processes_conform() {
    let ground = Postgres::start().await;
    let east = "CREATE ROLE east LOGIN SUPERUSER; ALTER ROLE east SET timezone TO 'Etc/GMT-2'";
    ground.sql(east).await;
    let (ttl, lateness) = (Duration::from_millis(2_500), Duration::from_millis(50));
    let subject = Processes::new(ground, open, Pace { ttl, lateness, increments: 3 });
    let report = conformance::run(&subject).await;
    keep_report(&report);
    assert_eq!(counts(&report), [CASES - ABSENT, ABSENT, 0, 0], "{report}");
}
