//! The outcomes of all stores in one table: a row for each thing, a column for each store.

use std::time::Duration;

use super::Outcomes;
use super::fault_kind::FaultKind;
use super::outcome::Outcome;
use crate::chaos::checks::left_behind;
use crate::error::BenchError;
use crate::fixture::StoreKind;
use crate::report::{Report, TextTable};
use crate::sandbox::Sandbox;

/// A row: its name, and how to count it.
type Count = (&'static str, fn(&Outcome) -> usize);

/// Rows that must show 0.
const NEVER: [Count; 7] = [
    ("overlaps between epochs", |it| it.log.overlaps),
    ("slots done twice", |it| it.log.doubles),
    ("epochs used by two processes", |it| it.log.shared),
    ("epochs that did not rise", |it| it.log.disorder),
    ("disorder in the history", |it| it.disorder),
    ("terms the history has not", |it| it.unknown_terms),
    ("kinds of faults missing", |it| it.missing.len()),
];

/// Judges every store.
pub async fn add_to_report(
    sandbox: &Sandbox,
    outcomes: &Outcomes,
    failovers: usize,
    report: &mut Report,
) -> Result<(), BenchError> {
    let columns = Columns(outcomes);
    report.table(columns.faults());
    report.table(columns.found());
    for (name, count) in NEVER {
        report.must_be_none(name, columns.done().map(|(_, outcome)| count(outcome)).sum());
    }
    let fewest = columns.done().map(|(_, outcome)| outcome.failovers()).min().unwrap_or(0);
    let wanted = format!("{failovers} or more");
    report.must("failovers, on each store", fewest >= failovers, fewest.to_string(), wanted);
    report.must_be_none("processes left behind", left_behind(sandbox).await?);
    let broken = outcomes.values().filter(|outcome| outcome.is_err()).count();
    report.must_be_none("stores whose run broke off", broken);
    if outcomes.contains_key(&StoreKind::Sqlite) {
        let why = "sqlite has no server or connections: only processes and lifelines were struck";
        report.note(why.to_owned());
    }
    if columns.done().any(|(_, outcome)| outcome.counts.ended_by_themselves > 0) {
        report.note(
            "a node that finds no store when it starts says so, ends, and is started again".into(),
        );
    }
    columns.wrong().into_iter().for_each(|line| report.note(line));
    Ok(())
}

/// The stores, side by side.
struct Columns<'a>(&'a Outcomes);

impl Columns<'_> {
    /// The stores whose run came to its end.
    fn done(&self) -> impl Iterator<Item = (StoreKind, &Outcome)> {
        self.0.iter().filter_map(|(kind, outcome)| Some((*kind, outcome.as_ref().ok()?)))
    }

    fn table(&self, title: &str, first: &'static str) -> TextTable {
        let stores = self.done().map(|(kind, _)| kind.name());
        TextTable::new(title, &std::iter::once(first).chain(stores).collect::<Vec<_>>())
    }

    fn row(&self, table: &mut TextTable, name: &str, cell: impl Fn(StoreKind, &Outcome) -> String) {
        let cells = self.done().map(|(kind, outcome)| cell(kind, outcome));
        table.row(std::iter::once(name.to_owned()).chain(cells));
    }

    fn faults(&self) -> TextTable {
        let mut table = self.table("What was done", "FAULT");
        for fault in FaultKind::ALL {
            self.row(&mut table, fault.title(), |store, outcome| {
                let can_be = FaultKind::of(store).contains(&fault);
                if can_be { outcome.counts.of(fault).to_string() } else { "-".to_owned() }
            });
        }
        self.row(&mut table, "all, of which", |_, it| it.counts.total().to_string());
        self.row(&mut table, "  at the leader", |_, it| it.counts.at_leader.to_string());
        table
    }

    fn found(&self) -> TextTable {
        let mut table = self.table("What was found", "FOUND");
        self.row(&mut table, "failovers", |_, it| it.failovers().to_string());
        self.row(&mut table, "lines written by jobs", |_, it| it.log.lines.to_string());
        self.row(&mut table, "longest without a line, s", |_, it| seconds(it.gap));
        self.row(&mut table, "settled after the end, s", |_, it| seconds(it.settled_in));
        self.row(&mut table, "starts without a store", |_, it| {
            it.counts.ended_by_themselves.to_string()
        });
        for (name, count) in NEVER {
            self.row(&mut table, name, |_, outcome| count(outcome).to_string());
        }
        table
    }

    /// What is wrong, in full, a line each.
    fn wrong(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (store, outcome) in self.0 {
            match outcome {
                Ok(outcome) => {
                    lines.extend(outcome.details.iter().map(|it| format!("{store}: {it}")));
                    let missing = outcome.missing.iter().map(|kind| kind.title());
                    lines.extend(missing.map(|kind| format!("{store}: never came: {kind}")));
                }
                Err(problem) => lines.push(format!("{store}: broke off: {problem}")),
            }
        }
        lines
    }
}

fn seconds(span: Duration) -> String {
    format!("{:.1}", span.as_secs_f64())
}
