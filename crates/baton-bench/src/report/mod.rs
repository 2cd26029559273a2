//! What a bench found, and whether it passes.
//!
//! ```text
//!   Row:   a spread of values, judged by its bars ──┐
//!   TextTable: figures that are not spreads ────────┤
//!   Check: what must hold, found or not ────────────┼──► Report ──► a table for people
//!   notes: remarks ─────────────────────────────────┘          └──► JSON for programs
//! ```

mod bar;
mod show;
mod text_table;

use serde::Serialize;

use crate::percentiles::Percentiles;
pub use bar::Bar;
pub use show::number;
pub use text_table::TextTable;

/// Whether a row or a check passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BarOutcome {
    /// It passes.
    Met,
    /// It fails.
    Missed,
    /// It is not judged.
    Shown,
}

/// The values of one measurement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// What was measured.
    pub name: String,
    /// Their unit.
    pub unit: &'static str,
    /// The figures.
    pub spread: Percentiles,
    /// The limits of the figures.
    pub bars: Vec<Bar>,
    /// Whether they pass.
    pub verdict: BarOutcome,
}

/// Something that must hold, whatever the times are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// What was found.
    pub found: String,
    /// What was wanted.
    pub wanted: String,
    /// Whether it holds.
    pub verdict: BarOutcome,
}

/// The results of a bench.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Which bench.
    pub bench: &'static str,
    /// How many cores the machine has, for comparisons.
    pub cores: usize,
    /// What the machine had to do before the bench began: its load average of one minute.
    pub load_before: Option<f64>,
    judges_bars: bool,
    /// What was measured.
    pub rows: Vec<Row>,
    /// Figures that are not spreads.
    pub sheets: Vec<TextTable>,
    /// What must hold.
    pub checks: Vec<Check>,
    /// Remarks.
    pub notes: Vec<String>,
}

impl Report {
    /// An empty one. Without bars, rows are shown and not judged; checks are judged in any case.
    pub fn new(bench: &'static str, judges_bars: bool) -> Self {
        let load = std::fs::read_to_string("/proc/loadavg").ok();
        Self {
            bench,
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            load_before: load.and_then(|text| text.split(' ').next()?.parse().ok()),
            judges_bars,
            rows: Vec::new(),
            sheets: Vec::new(),
            checks: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Adds values. A row without values is a check that failed.
    pub fn measured(&mut self, name: &str, unit: &'static str, values: &[f64], bars: &[Bar]) {
        let Some(spread) = Percentiles::of(values) else {
            return self.must(name, false, "no values", "at least one");
        };
        let bars: Vec<Bar> = if self.judges_bars { bars.to_vec() } else { Vec::new() };
        let verdict = match bars.iter().all(|bar| bar.is_met_by(&spread)) {
            _ if bars.is_empty() => BarOutcome::Shown,
            true => BarOutcome::Met,
            false => BarOutcome::Missed,
        };
        self.rows.push(Row { name: name.to_owned(), unit, spread, bars, verdict });
    }

    /// Adds something that must hold.
    pub fn must(
        &mut self,
        name: &str,
        holds: bool,
        found: impl Into<String>,
        wanted: impl Into<String>,
    ) {
        let verdict = if holds { BarOutcome::Met } else { BarOutcome::Missed };
        let (found, wanted) = (found.into(), wanted.into());
        self.checks.push(Check { name: name.to_owned(), found, wanted, verdict });
    }

    /// Adds something of which there must be none.
    pub fn must_be_none(&mut self, name: &str, count: usize) {
        self.must(name, count == 0, count.to_string(), "0");
    }

    /// Adds a table of figures, unless it is empty.
    pub fn table(&mut self, table: TextTable) {
        if !table.rows.is_empty() {
            self.sheets.push(table);
        }
    }

    /// The median of a row, by its name.
    pub fn median(&self, name: &str) -> Option<f64> {
        self.rows.iter().find(|row| row.name == name).map(|row| row.spread.median)
    }

    /// Adds a remark.
    pub fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Do all rows and checks pass?
    pub fn passes(&self) -> bool {
        let rows = self.rows.iter().map(|row| row.verdict);
        let checks = self.checks.iter().map(|check| check.verdict);
        rows.chain(checks).all(|verdict| verdict != BarOutcome::Missed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(judges_bars: bool, values: &[f64]) -> Report {
        let mut report = Report::new("test", judges_bars);
        report.measured("arm", "ms", values, &[Bar::median(10.0), Bar::max(20.0)]);
        report
    }

    #[test]
    fn every_bar_of_a_row_must_be_met() {
        assert_eq!(judged(true, &[9.0, 10.0, 20.0]).rows[0].verdict, BarOutcome::Met);
        assert_eq!(judged(true, &[9.0, 10.1, 20.0]).rows[0].verdict, BarOutcome::Missed);
        assert_eq!(judged(true, &[9.0, 10.0, 20.1]).rows[0].verdict, BarOutcome::Missed);
        assert!(!judged(true, &[30.0]).passes());
    }

    #[test]
    fn without_bars_times_are_shown_and_checks_still_judge() {
        let mut report = judged(false, &[99.0]);
        assert_eq!(report.rows[0].verdict, BarOutcome::Shown);
        assert!(report.passes());
        report.must_be_none("overlaps", 1);
        assert!(!report.passes());
    }

    #[test]
    fn a_row_without_values_fails() {
        let report = judged(false, &[]);
        assert!(report.rows.is_empty() && !report.passes());
    }
}
