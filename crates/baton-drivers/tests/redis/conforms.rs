//! The conformance suite, every handle in a process of its own.

use std::time::Duration;

use baton_store::conformance::{self, Pace, Report};
use baton_testbed::subject::{Processes, keep_report};

use crate::ground::{Redis, server};
use crate::peer::open;

/// How many cases there are. A case that is lost on the way must not go unnoticed.
const CASES: usize = 92;

/// Proof of death is not declared; these cases assert its absence.
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
    let pace = Pace {
        ttl: Duration::from_millis(1_500),
        lateness: Duration::from_millis(100),
        increments: 3,
    };
    let ground = Redis(server(&[]).await);
    let report = conformance::run(&Processes::new(ground, open, pace)).await;
    keep_report(&report);
    assert_eq!(counts(&report), [CASES - ABSENT, ABSENT, 0, 0], "{report}");
}
