//! What a store's run of the suite came to, as its test wrote it down.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::Value;

use crate::failure::Failure;

/// One case of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub theme: String,
    pub name: String,
    pub verdict: CaseOutcome,
}

/// What a case came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseOutcome {
    Passed,
    Absent,
    NotArrangeable,
    Failed,
}

impl CaseOutcome {
    /// All of them, as the table shows them and its legend explains them.
    pub const ALL: [(Self, char, &str); 4] = [
        (Self::Passed, '+', "passed"),
        (Self::Absent, 'o', "not declared, and shown to be absent"),
        (Self::NotArrangeable, '.', "not arrangeable"),
        (Self::Failed, 'F', "failed"),
    ];

    pub fn sign(self) -> char {
        let mut all = Self::ALL.iter();
        all.find(|(verdict, ..)| *verdict == self).map_or('?', |(_, sign, _)| *sign)
    }
}

/// Every case of a store, in the order in which they ran.
#[derive(Debug, PartialEq, Eq)]
pub struct Report(pub Vec<Line>);

impl Report {
    /// The report of this store, if it wrote one.
    pub fn read(folder: &Path, store: &str) -> Result<Option<Self>, Failure> {
        let path = folder.join(format!("{store}.json"));
        let failure = |source| Failure::Unreadable { path: path.clone(), source };
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(failure)?,
        };
        let rows: Vec<Value> = serde_json::from_str(&text).map_err(|it| failure(it.into()))?;
        let lines: Option<Vec<Line>> = rows.iter().map(line).collect();
        let not_one = || failure(io::Error::other("it is not a report of the suite"));
        lines.map(|lines| Some(Self(lines))).ok_or_else(not_one)
    }

    /// How many cases came to this.
    pub fn count(&self, verdict: CaseOutcome) -> usize {
        self.0.iter().filter(|line| line.verdict == verdict).count()
    }

    /// How many cases failed.
    pub fn failed(&self) -> usize {
        self.count(CaseOutcome::Failed)
    }

    /// What this case came to.
    pub fn verdict(&self, name: &str) -> Option<CaseOutcome> {
        self.0.iter().find(|line| line.name == name).map(|line| line.verdict)
    }
}

fn line(row: &Value) -> Option<Line> {
    let text = |key: &str| row.get(key)?.as_str().map(str::to_owned);
    let verdict = match text("verdict")?.as_str() {
        "passed" => CaseOutcome::Passed,
        "absent" => CaseOutcome::Absent,
        "not-arrangeable" => CaseOutcome::NotArrangeable,
        "failed" => CaseOutcome::Failed,
        _ => return None,
    };
    Some(Line { theme: text("theme")?, name: text("name")?, verdict })
}
