//! What a paused leader's job did: when it last wrote, and that it wrote nothing too late.

use baton_cli::cluster::Ticks;

use super::strike::Trial;
use crate::fixture::StoreKind;
use crate::report::Report;

/// The pauses of one or more clusters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PauseFindings {
    /// For each pause, how long before the lease's end the job last wrote, in milliseconds.
    before_end_ms: Vec<f64>,
    /// Lines of paused terms after their successor's first.
    late: usize,
}

impl PauseFindings {
    /// Reads the log of these trials.
    pub fn of(trials: &[Trial], ticks: &Ticks) -> Self {
        let mut findings = Self::default();
        for trial in trials {
            let of_term = || ticks.all().iter().filter(|tick| tick.epoch == trial.epoch);
            findings.late += of_term().filter(|tick| tick.at >= trial.next_at).count();
            let last = of_term().map(|tick| tick.at).max();
            let both = trial.lease_ends.zip(last);
            findings.before_end_ms.extend(
                both.map(|(end, last)| (end.as_micros() as f64 - last.as_micros() as f64) / 1e3),
            );
        }
        findings
    }

    /// Adds up the findings of two logs.
    pub fn and(mut self, other: Self) -> Self {
        self.before_end_ms.extend(other.before_end_ms);
        self.late += other.late;
        self
    }

    /// Puts it into the report. A store that leaves it to observers when a lease ends cannot say
    /// how long before that a job was silent.
    pub fn add_to_report(&self, store: StoreKind, report: &mut Report) {
        if self.before_end_ms.is_empty() {
            report.note(format!("{store}: observers time the lease, so its end is not known"));
        } else {
            report.measured(&format!("{store} silence"), "ms", &self.before_end_ms, &[]);
            let least = self.before_end_ms.iter().copied().fold(f64::INFINITY, f64::min);
            let name = format!("{store}, paused: silence before the lease ends");
            report.must(&name, least > 0.0, format!("{least:.0} ms"), "some");
        }
        let name = format!("{store}, paused: lines after the next job's first");
        report.must_be_none(&name, self.late);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use baton::clock::Moment;

    use super::*;

    fn trial(next_at: u64, lease_ends: u64) -> Trial {
        let (next_at, lease_ends) = (Moment::from_micros(next_at), Moment::from_micros(lease_ends));
        Trial { took: Duration::ZERO, epoch: 1, next_at, lease_ends: Some(lease_ends) }
    }

    fn one_line_at(at: u64) -> Ticks {
        let log = tempfile::NamedTempFile::new().expect("there is room");
        let line =
            format!(r#"{{"at":{at},"epoch":1,"node":"a","pid":1,"kind":"tick","slot":1}}{}"#, "\n");
        std::fs::write(log.path(), line).expect("there is room");
        Ticks::read(log.path()).expect("it is a line of a log")
    }

    #[test]
    fn the_last_line_is_held_against_the_lease_s_end_and_the_next_job() {
        let good = PauseFindings::of(&[trial(9_000, 8_000)], &one_line_at(5_000));
        assert_eq!(good, PauseFindings { before_end_ms: vec![3.0], late: 0 });
        let late = PauseFindings::of(&[trial(9_000, 8_000)], &one_line_at(9_500));
        assert_eq!(late, PauseFindings { before_end_ms: vec![-1.5], late: 1 });
        let mut report = Report::new("test", false);
        good.and(late).add_to_report(StoreKind::Sqlite, &mut report);
        assert!(!report.passes());
    }
}
