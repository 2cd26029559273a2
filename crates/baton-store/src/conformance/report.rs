//! What a run of the suite came to, for a test to judge and a person to read.

use std::fmt;

use super::case::Need;

/// What one case came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseOutcome<N = Need> {
    /// The store did what the contract says.
    Passed,
    /// The store does not have what the case needs, and does not pretend to.
    AssertedAbsent(N),
    /// The subject cannot bring this about.
    NotArrangeable(&'static str),
    /// The store did something else.
    Failed(String),
}

impl<N: fmt::Display> fmt::Display for CaseOutcome<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed => f.write_str("passed"),
            Self::AssertedAbsent(need) => write!(f, "absent: {need}"),
            Self::NotArrangeable(what) => write!(f, "not arrangeable: {what}"),
            Self::Failed(message) => write!(f, "FAILED: {message}"),
        }
    }
}

/// One case and what it came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<N = Need> {
    /// The theme of the case.
    pub theme: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What it came to.
    pub verdict: CaseOutcome<N>,
}

/// What a run of the suite came to. Its `Display` is a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report<N = Need> {
    /// The store's name.
    pub store: String,
    /// Every case, in the order in which they ran.
    pub lines: Vec<Line<N>>,
}

impl<N> Report<N> {
    /// The cases that failed.
    pub fn failures(&self) -> Vec<&Line<N>> {
        self.select(|verdict| matches!(verdict, CaseOutcome::Failed(_)))
    }

    /// The cases whose need the store does not have.
    pub fn absent(&self) -> Vec<&Line<N>> {
        self.select(|verdict| matches!(verdict, CaseOutcome::AssertedAbsent(_)))
    }

    /// The cases that the subject could not bring about.
    pub fn not_arrangeable(&self) -> Vec<&Line<N>> {
        self.select(|verdict| matches!(verdict, CaseOutcome::NotArrangeable(_)))
    }

    /// How many passed, were asserted absent, could not be arranged, and failed.
    pub fn counts(&self) -> [usize; 4] {
        let absent = self.absent().len();
        let skipped = self.not_arrangeable().len();
        let failed = self.failures().len();
        [self.lines.len() - absent - skipped - failed, absent, skipped, failed]
    }

    fn select(&self, is_one: impl Fn(&CaseOutcome<N>) -> bool) -> Vec<&Line<N>> {
        let lines = self.lines.iter();
        lines.filter(|line| is_one(&line.verdict)).collect()
    }
}

impl<N: fmt::Display> fmt::Display for Report<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let longest =
            |width: fn(&Line<N>) -> usize| self.lines.iter().map(width).max().unwrap_or(0);
        let themes = longest(|line| line.theme.len());
        let names = longest(|line| line.name.len());
        for line in &self.lines {
            let name = line.name.replace('_', " ");
            let (theme, verdict) = (line.theme, &line.verdict);
            writeln!(f, "{theme:themes$}  {name:names$}  {verdict}")?;
        }
        let [passed, absent, skipped, failed] = self.counts();
        let store = &self.store;
        write!(
            f,
            "{store}: {passed} passed, {absent} asserted absent, {skipped} not arrangeable, \
             {failed} failed"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_aligned_and_ends_with_the_counts() {
        let line = |theme, name, verdict| Line { theme, name, verdict };
        let report = Report {
            store: "memory".to_owned(),
            lines: vec![
                line("renew", "it_goes_on", CaseOutcome::Passed),
                line("hints", "it_is_told", CaseOutcome::AssertedAbsent(Need::Expiry)),
                line("a", "b", CaseOutcome::NotArrangeable("a restart")),
                line("view", "c", CaseOutcome::Failed("wanted 1, found 2".to_owned())),
            ],
        };
        let wanted = "\
renew  it goes on  passed
hints  it is told  absent: no clock in the store
a      b           not arrangeable: a restart
view   c           FAILED: wanted 1, found 2
memory: 1 passed, 1 asserted absent, 1 not arrangeable, 1 failed";
        assert_eq!(report.to_string(), wanted);
        assert_eq!(report.failures()[0].name, "c");
    }
}
