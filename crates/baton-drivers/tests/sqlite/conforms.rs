//! The conformance suite, in one process by two clocks, and across processes.

use std::time::Duration;

use baton_store::conformance::{self, SuiteSettings, cases};
use baton_testbed::subject::{InOneProcess, Processes, keep_report};

use crate::by_hand::ByHand;
use crate::file::File;

/// Pushing is not declared; three cases assert its absence.
const ABSENT: usize = 3;

/// Where time passes by itself.
fn settings(increments: u64) -> SuiteSettings {
    let (ttl, lateness) = (Duration::from_millis(600), Duration::from_millis(50));
    SuiteSettings { ttl, lateness, increments }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_process_conforms_by_a_clock_moved_by_hand() {
    let settings = SuiteSettings { increments: 20, ..SuiteSettings::default() };
    let report = conformance::run(&ByHand::new(settings)).await;
    // Eight deaths need a process to kill, and a time zone needs one of its own.
    assert_eq!(report.counts(), [cases().len() - ABSENT - 9, ABSENT, 9, 0], "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_process_conforms_by_the_machines_clock() {
    let subject = InOneProcess::new(File::new(), settings(5));
    let report = conformance::run(&subject).await;
    // As above but for the zone, and no test steps the machine's wall clock, twice.
    assert_eq!(report.counts(), [cases().len() - ABSENT - 10, ABSENT, 10, 0], "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_processes_conform() {
    let report = conformance::run(&Processes::new(File::new(), settings(3))).await;
    keep_report(&report);
    assert_eq!(report.counts(), [cases().len() - ABSENT, ABSENT, 0, 0], "{report}");
}
