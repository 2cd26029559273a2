//! What the logs of all clusters of a bench say together.

use baton_cli::cluster::Ticks;

use crate::report::Report;

/// What the lines show: counts of violations, of terms and of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogFindings {
    /// Lines of an epoch after a later one's first.
    pub overlaps: usize,
    /// Slots done more than once.
    pub doubles: usize,
    /// Epochs in which two processes wrote by turns.
    pub shared: usize,
    /// Terms that began after one of a later epoch had.
    pub disorder: usize,
    /// Terms in which a job wrote.
    pub terms: usize,
    /// Lines in all.
    pub lines: usize,
}

impl LogFindings {
    /// Reads one log.
    pub fn of(ticks: &Ticks) -> Self {
        let mut terms = ticks.terms();
        terms.sort_by_key(|(_, _, first, _)| *first);
        let rising = terms.windows(2).filter(|pair| pair[0].0 >= pair[1].0).count();
        Self {
            overlaps: ticks.overlaps().len(),
            doubles: ticks.doubles().len(),
            shared: ticks.shared_epochs().len(),
            disorder: rising,
            terms: terms.len(),
            lines: ticks.all().len(),
        }
    }

    /// Adds up the findings of two logs.
    pub fn and(self, other: Self) -> Self {
        Self {
            overlaps: self.overlaps + other.overlaps,
            doubles: self.doubles + other.doubles,
            shared: self.shared + other.shared,
            disorder: self.disorder + other.disorder,
            terms: self.terms + other.terms,
            lines: self.lines + other.lines,
        }
    }

    /// Puts it into the report.
    pub fn add_to_report(&self, report: &mut Report) {
        report.must("lines written by jobs", self.lines > 0, self.lines.to_string(), "some");
        report.must_be_none("overlaps: lines after a later epoch's first", self.overlaps);
        report.must_be_none("slots done twice", self.doubles);
        report.must_be_none("epochs written in by two processes", self.shared);
        report.must_be_none("epochs that did not rise with time", self.disorder);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// Lines of (at, epoch, pid, slot), through a file as jobs write them.
    fn ticks(lines: &[(u64, u64, u32, u64)]) -> Ticks {
        let mut log = tempfile::NamedTempFile::new().expect("there is room");
        for (at, epoch, pid, slot) in lines {
            let when = format!(r#""at":{at},"epoch":{epoch},"slot":{slot}"#);
            let who = format!(r#""node":"a","pid":{pid},"kind":"tick""#);
            writeln!(log, "{{{when},{who}}}").expect("there is room");
        }
        Ticks::read(log.path()).expect("they are lines of a log")
    }

    #[test]
    fn a_clean_log_has_nothing_to_complain_of() {
        let findings = LogFindings::of(&ticks(&[(1, 1, 7, 1), (2, 1, 7, 2), (3, 2, 8, 3)]));
        assert_eq!(findings, LogFindings { terms: 2, lines: 3, ..LogFindings::default() });
        let mut report = Report::new("test", true);
        findings.add_to_report(&mut report);
        assert!(report.passes());
    }

    #[test]
    fn every_kind_of_fault_is_found_and_fails_the_report() {
        let cases = [
            (&[(1, 2, 7, 1), (2, 1, 8, 2)][..], "overlaps"),
            (&[(1, 1, 7, 1), (2, 1, 7, 1)], "slots"),
            (&[(1, 1, 7, 1), (2, 1, 8, 2), (3, 1, 7, 3)], "two processes"),
            (&[(1, 2, 7, 1), (2, 1, 8, 2)], "rise"),
            (&[], "lines"),
        ];
        for (lines, what) in cases {
            let mut report = Report::new("test", true);
            LogFindings::of(&ticks(lines)).add_to_report(&mut report);
            let found = report.checks.iter().find(|check| check.name.contains(what));
            let verdict = found.map(|check| check.verdict);
            assert_eq!(verdict, Some(crate::report::BarOutcome::Missed), "{what}");
        }
    }

    #[test]
    fn logs_add_up() {
        let one =
            LogFindings { overlaps: 1, doubles: 2, shared: 3, disorder: 4, terms: 5, lines: 6 };
        let sum =
            LogFindings { overlaps: 2, doubles: 4, shared: 6, disorder: 8, terms: 10, lines: 12 };
        assert_eq!(one.and(one), sum);
    }
}
