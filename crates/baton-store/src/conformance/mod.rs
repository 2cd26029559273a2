//! The suite that any driver is handed to: what the contract says, as cases that pass or fail.
//!
//! ```text
//!   driver's test ── Subject ──► run ──► cases(), one theme a file ──► Report
//!     how to open, wait,          │ one fresh namespace a case          passed
//!     restart, restore, spoil     ├ Stage: the case's namespace         asserted absent
//!                                 └ Peer: one process that takes part   not arrangeable, failed
//! ```
//!
//! A case fails with a message and never panics. What a store does not declare is not skipped: its
//! absence is a check of its own. What the subject cannot arrange is counted and shown.

mod case;
mod peer;
mod report;
mod stage;
mod subject;

mod acquire;
mod asks;
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

pub use case::{Case, Need};
pub use report::{Line, Report, Verdict};
pub use subject::{Pace, Subject};

use stage::Stage;

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
    let mut lines = Vec::new();
    for case in cases() {
        let stage = Stage::set(subject, case.name).await;
        let verdict = case.judge(&stage).await;
        lines.push(Line { theme: case.theme, name: case.name, verdict });
    }
    let store = subject.open().await.declaration().name;
    Report { store, lines }
}
