//! The suite, run on the memory store as each kind of store, and on stores that are wrong on
//! purpose: a suite never seen to fail is no suite.

mod memory;
mod wrong;

use std::time::Duration;

use baton_store::conformance::{self, Report, SuiteSettings};
use baton_store::{Capability, Class, ExpiryClock};
use baton_testbed::subject::keep_report;

use memory::{Memory, declaration};
use wrong::Wrong;

/// How many cases there are. A case that is lost on the way must not go unnoticed; the drivers ask
/// the suite itself.
const CASES: usize = 130;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_single_server_with_a_clock_and_every_capability_conforms() {
    let declared = declaration(Class::SingleServer, ExpiryClock::Store, &Capability::ALL);
    let report = conformance::run(&Memory::new(declared, SuiteSettings::default())).await;
    keep_report(&Report { store: "memory".to_owned(), ..report.clone() });
    // The memory store has no sessions, and so none in another time zone.
    assert_eq!(report.counts(), [CASES - 1, 0, 1, 0], "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_linearizable_store_with_leases_of_its_own_conforms() {
    let capabilities = [Capability::Push, Capability::Lineage];
    let declared = declaration(Class::Linearizable, ExpiryClock::StoreLease, &capabilities);
    let settings =
        SuiteSettings { lateness: Duration::from_millis(500), ..SuiteSettings::default() };
    let report = conformance::run(&Memory::new(declared, settings)).await;
    assert_eq!(report.counts(), [CASES - 21, 20, 1, 0], "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_store_without_a_clock_or_any_capability_conforms() {
    let declared = declaration(Class::AsyncReplicated, ExpiryClock::Observer, &[]);
    let report = conformance::run(&Memory::new(declared, SuiteSettings::default())).await;
    assert_eq!(report.counts(), [CASES - 34, 34, 0, 0], "{report}");
}

#[tokio::test]
async fn what_cannot_be_arranged_is_counted_and_not_passed() {
    let declared = declaration(Class::SingleServer, ExpiryClock::Store, &Capability::ALL);
    let subject = Memory::new(declared, quick()).with_nothing_arrangeable();
    let report = conformance::run(&subject).await;
    assert_eq!(report.counts(), [CASES - 21, 0, 21, 0], "{report}");
    let table = report.to_string();
    assert!(table.contains("not arrangeable: a restart of the store"), "{table}");
}

/// As on a machine so busy that a lease of ten seconds runs out within three calls.
#[tokio::test]
async fn a_store_is_not_failed_for_being_slow() {
    let declared = declaration(Class::SingleServer, ExpiryClock::Store, &Capability::ALL);
    let settings = SuiteSettings { increments: 1, ..SuiteSettings::default() };
    let subject = Memory::new(declared, settings).slowed(Duration::from_secs(4));
    let report = conformance::run_by(&subject, &*subject.clock()).await;
    assert_eq!(report.failures(), Vec::<&conformance::CaseReport>::new(), "{report}");
}

#[test]
fn no_two_cases_share_a_name() {
    let mut names: Vec<&str> = conformance::cases().iter().map(|case| case.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), CASES);
}

fn quick() -> SuiteSettings {
    SuiteSettings { increments: 20, ..SuiteSettings::default() }
}

#[tokio::test]
async fn every_wrong_store_is_failed() {
    for wrong in Wrong::ALL {
        // A store that sees who lives would refuse what some of them do behind its back.
        let lacks = |capability: &Capability| match wrong {
            Wrong::PretendsToKnowAges => true,
            Wrong::StealsLiveLeases | Wrong::TakesAnyBootForDead | Wrong::ChecksAndThenWrites => {
                *capability == Capability::DeathProof
            }
            _ => false,
        };
        let capabilities: Vec<_> = Capability::ALL.into_iter().filter(|it| !lacks(it)).collect();
        let declared = declaration(Class::SingleServer, ExpiryClock::Store, &capabilities);
        let report = conformance::run(&Memory::new(declared, quick()).bent(wrong)).await;
        let failed: Vec<&str> = report.failures().iter().map(|line| line.name).collect();
        for wanted in wrong.must_fail() {
            assert!(failed.contains(wanted), "{wrong:?} passed {wanted}:\n{report}");
        }
    }
}
