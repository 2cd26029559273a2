//! What a run of the suite came to, for a test to judge and a person to read.

use std::fmt;

use super::case::Requirement;

/// What one case came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseOutcome<N = Requirement> {
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
pub struct CaseReport<N = Requirement> {
    /// The theme of the case.
    pub theme: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What it came to.
    pub outcome: CaseOutcome<N>,
}

/// What a run of the suite came to. Its `Display` is a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report<N = Requirement> {
    /// The store's name.
    pub store: String,
    /// Every case, in the order in which they ran.
    pub cases: Vec<CaseReport<N>>,
}

impl<N> Report<N> {
    /// The cases that failed.
    pub fn failures(&self) -> Vec<&CaseReport<N>> {
        self.select(|outcome| matches!(outcome, CaseOutcome::Failed(_)))
    }

    /// The cases whose need the store does not have.
    pub fn absent(&self) -> Vec<&CaseReport<N>> {
        self.select(|outcome| matches!(outcome, CaseOutcome::AssertedAbsent(_)))
    }

    /// The cases that the subject could not bring about.
    pub fn not_arrangeable(&self) -> Vec<&CaseReport<N>> {
        self.select(|outcome| matches!(outcome, CaseOutcome::NotArrangeable(_)))
    }

    /// How many passed, were asserted absent, could not be arranged, and failed.
    pub fn counts(&self) -> [usize; 4] {
        let absent = self.absent().len();
        let skipped = self.not_arrangeable().len();
        let failed = self.failures().len();
        [self.cases.len() - absent - skipped - failed, absent, skipped, failed]
    }

    fn select(&self, is_one: impl Fn(&CaseOutcome<N>) -> bool) -> Vec<&CaseReport<N>> {
        let cases = self.cases.iter();
        cases.filter(|case| is_one(&case.outcome)).collect()
    }
}

impl<N: fmt::Display> fmt::Display for Report<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let longest =
            |width: fn(&CaseReport<N>) -> usize| self.cases.iter().map(width).max().unwrap_or(0);
        let themes = longest(|case| case.theme.len());
        let names = longest(|case| case.name.len());
        for case in &self.cases {
            let name = case.name.replace('_', " ");
            let (theme, outcome) = (case.theme, &case.outcome);
            writeln!(f, "{theme:themes$}  {name:names$}  {outcome}")?;
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
        let case = |theme, name, outcome| CaseReport { theme, name, outcome };
        let report = Report {
            store: "memory".to_owned(),
            cases: vec![
                case("renew", "it_goes_on", CaseOutcome::Passed),
                case("hints", "it_is_told", CaseOutcome::AssertedAbsent(Requirement::Expiry)),
                case("a", "b", CaseOutcome::NotArrangeable("a restart")),
                case("view", "c", CaseOutcome::Failed("wanted 1, found 2".to_owned())),
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
