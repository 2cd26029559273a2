//! `lost-updates`: does the fence keep a shared number right, and is it really the fence?
//!
//! ```text
//!   workers: five processes ── worker: leads? ─► read n ─► pause ─► write n + 1 ─► count
//!     │ resumes a worker that paused itself, after up to 5 s, under a lease of 2 s
//!     ▼
//!   account: the number, in the same store   unfenced arm: a plain write     ─► updates are lost
//!                                            fenced arm:   the driver's fence ─► none is
//! ```
//!
//! Increments that were acknowledged are counted by the worker that made them. What they add up to
//! and the number does not have was lost. If nothing is lost without the fence, the test proves
//! nothing, and fails.

mod account;
mod worker;
mod workers;

use crate::cli::LostUpdates;
use crate::error::BenchError;
use crate::fixture::{Fixture, StoreKind, chosen};
use crate::report::{Report, TextTable};
use crate::sandbox::Sandbox;
use account::Account;
pub use worker::{WorkerTotals, work};
use workers::{EndCondition, Workers};

/// Pauses for longer than the lease that each arm must have had at least.
const LONG_PAUSES: u32 = 8;

const HEAD: [&str; 7] = ["ARM", "COUNTED", "VALUE", "LOST", "REFUSED", "PAUSES", "PAST LEASE"];

/// What was found in an arm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ArmResult {
    totals: WorkerTotals,
    value: u64,
    pauses: u32,
    long_pauses: u32,
}

impl ArmResult {
    fn lost(&self) -> u64 {
        self.totals.counted.saturating_sub(self.value)
    }
}

/// Both arms on every store.
pub async fn run(
    sandbox: &Sandbox,
    options: &LostUpdates,
    bars: bool,
) -> Result<Report, BenchError> {
    let mut report = Report::new("lost-updates", bars);
    let mut table = TextTable::new("increments by five processes under a 2 s lease", &HEAD);
    for kind in chosen(&options.store) {
        if !Account::is_for(kind) {
            report.note(format!("{kind}: not tried; the test is written for postgres and redis"));
            continue;
        }
        let fixture = Fixture::new(kind).await?;
        for fenced in [false, true] {
            let result = try_arm(sandbox, &fixture, fenced, options).await?;
            table.row(row(kind, fenced, &result));
            judge(kind, fenced, options, &result, &mut report);
        }
    }
    report.table(table);
    report.note(format!("one write stands for {} increments (--batch)", options.batch));
    Ok(report)
}

fn arm_name(kind: StoreKind, fenced: bool) -> String {
    format!("{kind}-{}", if fenced { "fenced" } else { "unfenced" })
}

async fn try_arm(
    sandbox: &Sandbox,
    fixture: &Fixture,
    fenced: bool,
    options: &LostUpdates,
) -> Result<ArmResult, BenchError> {
    let name = arm_name(fixture.kind(), fenced);
    let url = fixture.url(&sandbox.room(&name)?);
    let mut account = Account::open(fixture.kind(), &url, &name).await?;
    account.make().await?;
    let until = EndCondition {
        long_pauses: LONG_PAUSES,
        value: if fenced { options.increments } else { 0 },
    };
    eprintln!("{name}: five processes, until {until}");
    let mut workers = Workers::start(fixture.kind(), &url, &name, fenced, options.batch)?;
    workers.work(&mut account, until).await?;
    let (pauses, long_pauses) = workers.pauses();
    let totals = workers.end().await?;
    Ok(ArmResult { totals, value: account.read().await?, pauses, long_pauses })
}

fn row(kind: StoreKind, fenced: bool, result: &ArmResult) -> [String; 7] {
    let ArmResult { totals, value, pauses, long_pauses } = *result;
    [
        arm_name(kind, fenced),
        totals.counted.to_string(),
        value.to_string(),
        result.lost().to_string(),
        totals.refused.to_string(),
        pauses.to_string(),
        long_pauses.to_string(),
    ]
}

fn judge(
    kind: StoreKind,
    fenced: bool,
    options: &LostUpdates,
    result: &ArmResult,
    report: &mut Report,
) {
    let arm = arm_name(kind, fenced);
    let lost = result.lost();
    if !fenced {
        report.must(&format!("{arm}: updates lost"), lost > 0, lost.to_string(), "some");
        if lost == 0 {
            report.note(format!("{arm}: nothing was lost without the fence: this proves nothing"));
        }
        return;
    }
    report.must(&format!("{arm}: updates lost"), lost == 0, lost.to_string(), "0");
    let (value, counted) = (result.value, result.totals.counted);
    let name = format!("{arm}: the number is what was counted");
    report.must(&name, value == counted, value.to_string(), counted.to_string());
    let (done, wanted) = (counted >= options.increments, options.increments.to_string());
    report.must(&format!("{arm}: increments"), done, counted.to_string(), wanted);
    let refused = result.totals.refused;
    report.must(&format!("{arm}: late writes refused"), refused > 0, refused.to_string(), "some");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(fenced: bool, counted: u64, value: u64, refused: u64) -> Report {
        let options = LostUpdates { store: Vec::new(), increments: 100, batch: 1 };
        let result = ArmResult {
            totals: WorkerTotals { counted, refused },
            value,
            pauses: 9,
            long_pauses: 8,
        };
        let mut report = Report::new("test", true);
        judge(StoreKind::Redis, fenced, &options, &result, &mut report);
        report
    }

    #[test]
    fn without_the_fence_something_must_be_lost() {
        assert!(judged(false, 100, 90, 0).passes());
        let proves_nothing = judged(false, 100, 100, 0);
        assert!(!proves_nothing.passes());
        assert!(proves_nothing.notes[0].contains("proves nothing"));
    }

    #[test]
    fn with_the_fence_nothing_may_be_lost_and_a_worker_must_have_tried() {
        assert!(judged(true, 100, 100, 3).passes());
        assert!(!judged(true, 100, 99, 3).passes());
        assert!(!judged(true, 100, 101, 3).passes());
        assert!(!judged(true, 99, 99, 3).passes());
        assert!(!judged(true, 100, 100, 0).passes());
    }
}
