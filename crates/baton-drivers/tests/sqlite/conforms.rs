//! The conformance suite, in one process by two clocks, and across processes.

use std::time::Duration;

use baton_store::conformance::{self, Pace, cases};
use baton_testbed::subject::keep_report;

use crate::one_process::OneProcess;
use crate::processes::Processes;

/// Pushing is not declared; three cases assert its absence.
const ABSENT: usize = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_process_conforms_by_a_clock_moved_by_hand() {
    let pace = Pace { increments: 20, ..Pace::default() };
    let report = conformance::run(&OneProcess::by_hand(pace)).await;
    // Eight deaths need a process to kill, and a time zone needs one of its own.
    assert_eq!(report.counts(), [cases().len() - ABSENT - 9, ABSENT, 9, 0], "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_process_conforms_by_the_machines_clock() {
    let (ttl, lateness) = (Duration::from_millis(600), Duration::from_millis(20));
    let report =
        conformance::run(&OneProcess::by_the_machine(Pace { ttl, lateness, increments: 5 })).await;
    // As above, and nobody steps the machine's wall clock for a test, twice.
    assert_eq!(report.counts(), [cases().len() - ABSENT - 11, ABSENT, 11, 0], "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_processes_conform() {
    let pace = Pace { increments: 3, ..Pace::default() };
    let report = conformance::run(&Processes::new(pace)).await;
    keep_report(&report);
    assert_eq!(report.counts(), [cases().len() - ABSENT, ABSENT, 0, 0], "{report}");
}
