//! A report as a table of at most 80 columns.

use baton_cli::output::style::Tone;
use baton_cli::output::table::{Cell, Table};

use super::{Bar, BarOutcome, Report, Row};

/// A width that every terminal has.
pub(super) const WIDTH: usize = 80;

impl Report {
    /// The report as text.
    pub fn text(&self) -> String {
        let load = self.load_before.map(|load| format!(", load {load} before"));
        let cores = format!("{} cores{}", self.cores, load.unwrap_or_default());
        let mut text = format!("baton-bench {}, {cores}\n", self.bench);
        if !self.rows.is_empty() {
            text.push_str(&format!("\n{}", self.figures()));
        }
        for table in &self.sheets {
            text.push_str(&format!("\n{}", table.text()));
        }
        if !self.checks.is_empty() {
            text.push_str(&format!("\n{}", self.checked()));
        }
        if !self.notes.is_empty() {
            text.push_str(&format!("\n{}\n", self.notes.join("\n")));
        }
        let verdict = if self.passes() { "passed" } else { "FAILED" };
        text.push_str(&format!("\n{verdict}\n"));
        text
    }

    fn figures(&self) -> String {
        let mut table =
            Table::new(&["MEASURED", ">N", ">MEDIAN", ">P95", ">MAX", "", "AT MOST", "VERDICT"]);
        for row in &self.rows {
            table.row(cells(row));
        }
        table.render(Some(WIDTH))
    }

    fn checked(&self) -> String {
        let mut table = Table::new(&["CHECKED", ">FOUND", ">WANTED", "VERDICT"]);
        for check in &self.checks {
            let (found, wanted) = (check.found.as_str().into(), check.wanted.as_str().into());
            table.row([check.name.as_str().into(), found, wanted, verdict(check.verdict)]);
        }
        table.render(Some(WIDTH))
    }
}

fn cells(row: &Row) -> [Cell; 8] {
    let bars: Vec<String> = row.bars.iter().map(Bar::to_string).collect();
    let figure = |value: f64| Cell::from(number(value));
    [
        row.name.as_str().into(),
        row.spread.count.to_string().into(),
        figure(row.spread.median),
        figure(row.spread.p95),
        figure(row.spread.max),
        row.unit.into(),
        bars.join(", ").into(),
        verdict(row.verdict),
    ]
}

fn verdict(verdict: BarOutcome) -> Cell {
    match verdict {
        BarOutcome::Met => Cell::new("met", Tone::Good),
        BarOutcome::Missed => Cell::new("MISSED", Tone::Bad),
        BarOutcome::Shown => Cell::new("-", Tone::Faint),
    }
}

/// A value with about three figures.
pub fn number(value: f64) -> String {
    let whole = value.fract() == 0.0;
    match value.abs() {
        _ if whole => format!("{value:.0}"),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_fits_on_every_terminal() {
        let mut report = Report::new("failover", true);
        let bars = [Bar::median(30.0), Bar::max(500.0)];
        report.measured("kill -9, no lifeline", "ms", &[12_345.6, 20_000.5], &bars);
        report.must_be_none("lines of a paused job after its successor's first", 0);
        let text = report.text();
        assert!(text.lines().all(|line| plain(line).chars().count() <= WIDTH), "{text}");
        assert!(text.contains("MISSED") && text.contains("med 30, max 500"), "{text}");
        assert!(text.ends_with("FAILED\n"), "{text}");
    }

    fn plain(line: &str) -> String {
        let mut visible = String::new();
        let mut escaped = false;
        for c in line.chars() {
            match c {
                '\u{1b}' => escaped = true,
                'm' if escaped => escaped = false,
                c if !escaped => visible.push(c),
                _ => {}
            }
        }
        visible
    }

    #[test]
    fn numbers_have_about_three_figures() {
        let shown = [12_345.6, 20_000.0, 12.34, 1.234, 0.0123, 30.0].map(number);
        assert_eq!(shown, ["12346", "20000", "12.3", "1.23", "0.012", "30"]);
    }
}
