//! The table of conformance: every case on every store, from the reports that the tests wrote.
//!
//! ```text
//!   cargo test ──► target/conformance/<store>.json, one a store
//!   Report: reads them ──► table: a row a case, a column a store ──► missing or failed: an error
//! ```

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::failure::Failure;

/// A store by its name, and the heading of its column.
type Store = (&'static str, char);

/// Every store, in the order of the columns.
const STORES: [Store; 7] = [
    ("memory", 'm'),
    ("sqlite", 'q'),
    ("postgres", 'p'),
    ("mysql", 'y'),
    ("redis", 'r'),
    ("s3", 's'),
    ("etcd", 'e'),
];

/// The environment variable that tells the tests where to write their reports.
pub const VARIABLE: &str = "BATON_CONFORMANCE_DIR";

/// Where the reports lie.
pub fn folder(root: &Path) -> PathBuf {
    root.join("target/conformance")
}

/// Removes the reports of the last run, so that none of them is taken for one of the next.
pub fn forget(root: &Path) -> Result<(), Failure> {
    let path = folder(root);
    match fs::remove_dir_all(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(|source| Failure::File { what: "remove", path, source }),
    }
}

/// Prints the table; an error if a case failed or a store is missing.
pub fn run(root: &Path) -> Result<(), Failure> {
    let mut columns = Vec::new();
    for store in STORES {
        columns.push((store, Report::read(&folder(root), store.0)?));
    }
    print!("{}", table(&columns));
    let missing = columns.iter().filter(|(_, report)| report.is_none());
    let missing: Vec<&str> = missing.map(|((name, _), _)| *name).collect();
    let reports = columns.iter().filter_map(|(_, report)| report.as_ref());
    let failed = reports.map(|report| report.count(CaseOutcome::Failed)).sum();
    match (missing.is_empty(), failed) {
        (true, 0) => Ok(()),
        _ => Err(Failure::NotConforming { missing: missing.join(", "), failed }),
    }
}

/// One case of a report.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Case {
    theme: String,
    name: String,
    verdict: CaseOutcome,
}

/// What a case came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum CaseOutcome {
    Passed,
    Absent,
    NotArrangeable,
    Failed,
}

impl CaseOutcome {
    fn sign(self) -> char {
        match self {
            Self::Passed => '+',
            Self::Absent => 'o',
            Self::NotArrangeable => '.',
            Self::Failed => 'F',
        }
    }
}

const LEGEND: &str =
    "+ passed, o not declared, and shown to be absent, . not arrangeable, F failed";

/// What a store's run of the suite came to, as its test wrote it down: the cases in the order in
/// which they ran.
#[derive(Debug, PartialEq, Eq, Deserialize)]
struct Report(Vec<Case>);

impl Report {
    /// The report of this store, if it wrote one.
    fn read(folder: &Path, store: &str) -> Result<Option<Self>, Failure> {
        let path = folder.join(format!("{store}.json"));
        let read = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.and_then(|bytes| Ok(serde_json::from_slice(&bytes)?)),
        };
        read.map(Some).map_err(|source| Failure::File { what: "read", path, source })
    }

    /// How many cases came to this.
    fn count(&self, verdict: CaseOutcome) -> usize {
        self.0.iter().filter(|case| case.verdict == verdict).count()
    }

    /// What this case came to.
    fn verdict(&self, name: &str) -> Option<CaseOutcome> {
        self.0.iter().find(|case| case.name == name).map(|case| case.verdict)
    }
}

/// How wide a case's name may be beside seven stores, two columns each.
const NAME: usize = 64;

type Column = (Store, Option<Report>);

/// One row a case under its theme, one column a store, totals and a legend.
fn table(columns: &[Column]) -> String {
    let mut text = String::new();
    let headings = cells(columns, |(_, heading), _| *heading);
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
    for ((name, heading), report) in columns {
        let _ = writeln!(text, "{heading} {name:8}  {}", totals(report.as_ref()));
    }
    let _ = writeln!(text, "\n{LEGEND}");
    text
}

/// Every case that a report has, in the order of the first that has it.
fn cases(columns: &[Column]) -> Vec<(&str, &str)> {
    let mut cases: Vec<(&str, &str)> = Vec::new();
    for case in columns.iter().filter_map(|(_, report)| report.as_ref()).flat_map(|it| &it.0) {
        if !cases.iter().any(|(_, name)| *name == case.name) {
            cases.push((&case.theme, &case.name));
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
    use super::{Case, CaseOutcome, Report, STORES, forget, run, table};
    use crate::failure::Failure;
    use std::path::Path;

    #[test]
    fn a_store_without_a_report_is_missing() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/conformance-tests");
        let root = root.join(std::process::id().to_string());
        let reports = super::folder(&root);
        std::fs::create_dir_all(&reports).expect("the target folder can be written");
        let report = r#"[{"theme":"renew","name":"a","verdict":"passed"}]"#;
        for (name, _) in STORES.iter().filter(|(name, _)| *name != "redis") {
            std::fs::write(reports.join(format!("{name}.json")), report)
                .expect("it can be written");
        }
        let failure = run(&root).expect_err("there is no report");
        assert!(
            matches!(failure, Failure::NotConforming { missing, failed: 0 } if missing == "redis")
        );
        std::fs::write(reports.join("redis.json"), report).expect("it can be written");
        assert!(run(&root).is_ok());
        forget(&root).expect("it can be removed");
        forget(&root).expect("there is nothing left to remove");
        assert!(run(&root).is_err(), "the report of another run was taken");
        std::fs::remove_dir_all(&root).expect("it is this test's folder");
    }

    #[test]
    fn every_store_has_a_heading_of_its_own() {
        let mut headings = STORES.map(|(_, heading)| heading).to_vec();
        headings.sort_unstable();
        headings.dedup();
        assert_eq!(headings.len(), STORES.len());
    }

    fn report(cases: &[(&str, &str, CaseOutcome)]) -> Report {
        let line = |(theme, name, verdict): &(&str, &str, CaseOutcome)| Case {
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
