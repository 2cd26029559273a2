//! Reports that are kept, one file a store, for the table of all stores.

use std::path::Path;

use baton_store::conformance::{CaseOutcome, Report};
use serde::Serialize;

#[derive(Serialize)]
struct Row<'a> {
    theme: &'a str,
    name: &'a str,
    verdict: &'static str,
}

/// Writes the report to `$BATON_CONFORMANCE_DIR/<store>.json`, if that folder is named.
///
/// # Panics
///
/// If it cannot be written: a report that was asked for and is missing must not go unnoticed.
pub fn keep_report(report: &Report) {
    if let Some(folder) = std::env::var_os("BATON_CONFORMANCE_DIR") {
        let kept = write(Path::new(&folder), report);
        kept.expect("$BATON_CONFORMANCE_DIR must be a folder that can be written");
    }
}

fn write(folder: &Path, report: &Report) -> std::io::Result<()> {
    let rows: Vec<Row<'_>> = report
        .cases
        .iter()
        .map(|case| Row { theme: case.theme, name: case.name, verdict: word(&case.outcome) })
        .collect();
    std::fs::create_dir_all(folder)?;
    let text = serde_json::to_string_pretty(&rows)?;
    std::fs::write(folder.join(format!("{}.json", report.store)), text)
}

fn word(outcome: &CaseOutcome) -> &'static str {
    match outcome {
        CaseOutcome::Passed => "passed",
        CaseOutcome::AssertedAbsent(_) => "absent",
        CaseOutcome::NotArrangeable(_) => "not-arrangeable",
        CaseOutcome::Failed(_) => "failed",
    }
}
