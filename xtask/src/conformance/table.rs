//! The table, in 80 columns.

use std::fmt::Write;

use super::Store;
use super::report::{CaseOutcome, Report};

/// How wide a case's name may be beside seven stores, two columns each.
const NAME: usize = 64;

type Column = (Store, Option<Report>);

/// One row a case under its theme, one column a store, totals and a legend.
pub fn table(columns: &[Column]) -> String {
    let mut text = String::new();
    let headings = cells(columns, |store, _| store.heading);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{:NAME$} {headings}", "conformance");
    let mut last = "";
    for (theme, name) in cases(columns) {
        if theme != last {
            let _ = writeln!(text, "{theme}");
            last = theme;
        }
        let verdict = |report: &Report| report.verdict(name).map_or(' ', CaseOutcome::sign);
        let signs = cells(columns, |_, report| report.map_or(' ', verdict));
        let shown = shortened(&name.replace('_', " "));
        let _ = writeln!(text, "  {shown:width$} {signs}", width = NAME - 2);
    }
    text.push('\n');
    for (store, report) in columns {
        let _ = writeln!(text, "{} {:8}  {}", store.heading, store.name, totals(report.as_ref()));
    }
    let legend = CaseOutcome::ALL.map(|(_, sign, meaning)| format!("{sign} {meaning}"));
    let _ = writeln!(text, "\n{}", legend.join(", "));
    text
}

/// Every case that a report has, in the order of the first that has it.
fn cases(columns: &[Column]) -> Vec<(&str, &str)> {
    let mut cases: Vec<(&str, &str)> = Vec::new();
    for line in columns.iter().filter_map(|(_, report)| report.as_ref()).flat_map(|it| &it.0) {
        if !cases.iter().any(|(_, name)| *name == line.name) {
            cases.push((&line.theme, &line.name));
        }
    }
    // Stable: a case that only a later report has joins its theme.
    let themes: Vec<&str> = cases.iter().map(|(theme, _)| *theme).collect();
    cases.sort_by_key(|(theme, _)| themes.iter().position(|known| known == theme));
    cases
}

fn cells(columns: &[Column], sign: impl Fn(&Store, Option<&Report>) -> char) -> String {
    let signs = columns.iter().map(|(store, report)| format!(" {}", sign(store, report.as_ref())));
    signs.collect::<String>().trim_end().to_owned()
}

fn totals(report: Option<&Report>) -> String {
    let Some(report) = report else { return "no report".to_owned() };
    let count = |verdict| report.count(verdict);
    format!(
        "{:3} passed, {:2} absent, {:2} not arrangeable, {} failed",
        count(CaseOutcome::Passed),
        count(CaseOutcome::Absent),
        count(CaseOutcome::NotArrangeable),
        count(CaseOutcome::Failed)
    )
}

fn shortened(name: &str) -> String {
    let most = NAME - 2;
    if name.chars().count() <= most {
        return name.to_owned();
    }
    let kept: String = name.chars().take(most - 1).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use super::super::STORES;
    use super::super::report::{CaseOutcome, Line, Report};
    use super::table;

    fn report(cases: &[(&str, &str, CaseOutcome)]) -> Report {
        let line = |(theme, name, verdict): &(&str, &str, CaseOutcome)| Line {
            theme: (*theme).to_owned(),
            name: (*name).to_owned(),
            verdict: *verdict,
        };
        Report(cases.iter().map(line).collect())
    }

    #[test]
    fn a_row_a_case_and_a_column_a_store() {
        let long = "a_case_with_a_name_that_goes_on_".repeat(3);
        let first =
            [("renew", "it_goes_on", CaseOutcome::Passed), ("hints", "b", CaseOutcome::Absent)];
        let second =
            [("renew", &*long, CaseOutcome::Failed), ("hints", "b", CaseOutcome::NotArrangeable)];
        let reports = [Some(report(&first)), Some(report(&second)), None];
        let columns: Vec<_> = STORES.into_iter().zip(reports).collect();
        let text = table(&columns);
        let lines: Vec<&str> = text.lines().collect();
        let cell = |line: &str| line.chars().skip(64).collect::<String>();
        assert_eq!(cell(lines[0]), "  m q p");
        assert_eq!(lines[1], "renew");
        assert_eq!((&lines[2][..12], cell(lines[2])), ("  it goes on", "  +".to_owned()));
        assert_eq!(cell(lines[3]), "    F");
        assert!(lines[3].contains('…'), "{}", lines[3]);
        assert_eq!((lines[4], cell(lines[5])), ("hints", "  o .".to_owned()));
        assert_eq!(lines[7], "m memory      1 passed,  1 absent,  0 not arrangeable, 0 failed");
        assert_eq!(lines[9], "p postgres  no report");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
