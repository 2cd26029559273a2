//! The suite that any driver is handed to: what the contract says, as cases that pass or fail.
//!
//! ```text
//!   driver's test ── Subject ──► run ──► cases(), one theme a file ──► Report
//!     how to open, wait,          │ one fresh namespace a case          passed
//!     restart, restore, spoil     ├ Stage: the case's namespace         asserted absent
//!                                 └ Peer: one process that takes part   not arrangeable, failed
//! ```
//!
//! A case fails with a message and never panics. Its verdict does not depend on the machine's
//! speed: a case that failed while it may have been too slow for its leases is judged again, with
//! longer ones. What a store does not declare is not skipped: its absence is a check of its own.
//! What the subject cannot arrange is counted and shown.

mod case;
mod peer;
mod report;
mod stage;
mod subject;

#[cfg(test)]
mod another_contract;

mod acquire;
mod asks;
mod batches;
mod claims;
mod clocks;
mod corrupt;
mod counters;
mod deaths;
mod documents;
mod handles;
mod hints;
mod history;
mod inspect;
mod isolation;
mod lineage;
mod prune;
mod races;
mod registry;
mod release;
mod renew;
mod unknown;
mod view;

pub use case::{Case, Requirement};
pub use report::{CaseOutcome, CaseReport, Report};
pub use subject::{Conforms, Subject, SuiteSettings};

use std::time::Duration;

use stage::Stage;

use crate::clock::{Clock, SystemClock};
use crate::contract::Backend;

/// How often a case that was too slow to fail is judged again, each time with leases four times as
/// long.
const AGAIN_AT_MOST: u32 = 2;

/// Every case, theme by theme.
pub fn cases() -> Vec<Case> {
    [
        acquire::cases(),
        claims::cases(),
        renew::cases(),
        release::cases(),
        races::cases(),
        unknown::cases(),
        asks::cases(),
        registry::cases(),
        deaths::cases(),
        view::cases(),
        documents::cases(),
        batches::cases(),
        counters::cases(),
        history::cases(),
        prune::cases(),
        inspect::cases(),
        hints::cases(),
        lineage::cases(),
        clocks::cases(),
        handles::cases(),
        isolation::cases(),
        corrupt::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Runs every case on the subject, one after another.
pub async fn run(subject: &dyn Subject) -> Report {
    run_by(subject, &SystemClock).await
}

/// The same; how long a case takes is measured by this clock.
pub async fn run_by(subject: &dyn Subject, clock: &dyn Clock) -> Report {
    run_cases(subject, &cases(), clock).await
}

/// Runs the cases of any contract.
async fn run_cases<C: Conforms>(
    subject: &dyn Subject<C>,
    cases: &[Case<C>],
    clock: &dyn Clock,
) -> Report<C::Requirement> {
    let mut reports = Vec::new();
    for case in cases {
        let outcome = judge(subject, case, clock).await;
        reports.push(CaseReport { theme: case.theme, name: case.name, outcome });
    }
    let store = C::name(&subject.open().await.declaration()).to_owned();
    Report { store, cases: reports }
}

/// What the case comes to.
///
/// Where time is real, a lease may run out because the machine is busy. Such a run took more than a
/// quarter of a lease beside what it let pass on purpose, and its failure proves nothing; one that
/// was quicker is believed, and so is one that fails with longer leases too.
async fn judge<C: Conforms>(
    subject: &dyn Subject<C>,
    case: &Case<C>,
    clock: &dyn Clock,
) -> CaseOutcome<C::Requirement> {
    let mut settings = subject.settings();
    for _ in 0..AGAIN_AT_MOST {
        let (verdict, beside) = attempt(subject, case, settings, clock).await;
        if !matches!(verdict, CaseOutcome::Failed(_)) || beside <= settings.ttl / 4 {
            return verdict;
        }
        settings.ttl *= 4;
    }
    attempt(subject, case, settings, clock).await.0
}

/// One run of the case in a namespace of its own, and how long it took beside what it let pass.
async fn attempt<C: Conforms>(
    subject: &dyn Subject<C>,
    case: &Case<C>,
    settings: SuiteSettings,
    clock: &dyn Clock,
) -> (CaseOutcome<C::Requirement>, Duration) {
    let stage = Stage::set(subject, case.name, settings).await;
    let began = clock.now();
    let verdict = case.judge(&stage).await;
    (verdict, clock.now().since(began).saturating_sub(stage.passed()))
}
