//! What each plugin did, as numbers for people: runs, failures, how long, when next.

use std::sync::Mutex;
use std::time::Duration;

use baton_core::Recent;
use baton_core::time::whole_ms;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

/// Percentiles are taken from the last calls, this many.
const CALLS_KEPT: usize = 100;

/// A call that starts later than it was due by less than this is on time, however often it is due.
const LATE_FROM: Duration = Duration::from_secs(1);

/// What a report is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum WorkKind {
    /// A plugin, which works while its node leads.
    #[default]
    Plugin,
    /// A service, which runs on every node.
    Service,
}

impl WorkKind {
    fn is_plugin(&self) -> bool {
        *self == Self::Plugin
    }
}

/// What a plugin is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PluginStatus {
    /// Nothing: its node does not lead, or the service has ended.
    #[default]
    Idle,
    /// A term began, and it is starting.
    Starting,
    /// It works.
    Working,
    /// It waits for its next turn.
    Resting,
    /// It failed, and waits until it is started again.
    Failing,
    /// It failed too often; its node hands over.
    GaveUp,
}

/// One call of a plugin's work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Run {
    /// When it began, in Unix milliseconds.
    pub at_ms: u64,
    /// How long it took.
    pub took_ms: f64,
    /// What went wrong, if something did.
    pub error: Option<String>,
}

impl Run {
    pub(crate) fn took(&self) -> Duration {
        Duration::from_secs_f64(self.took_ms / 1e3)
    }
}

/// What a plugin did since its node started.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PluginReport {
    /// Its name.
    pub name: String,
    /// Is it a plugin or a service?
    #[serde(default, skip_serializing_if = "WorkKind::is_plugin")]
    pub kind: WorkKind,
    /// What it is doing.
    pub doing: PluginStatus,
    /// Calls that came to an end, good or bad.
    pub runs: u64,
    /// Calls and starts that failed.
    pub failures: u64,
    /// Those among the failures that were starts.
    #[serde(default)]
    pub failed_starts: u64,
    /// Times it was started again after a failure.
    pub restarts: u64,
    /// Turns that passed without a call: a call began that many of its intervals late, and a
    /// second at least for each. Across a change of leader those in which no node could lead.
    pub missed: u64,
    /// Median length of the last hundred calls.
    pub p50_ms: f64,
    /// 99th percentile of the same.
    pub p99_ms: f64,
    /// The last call or failed start.
    pub last: Option<Run>,
    /// When the next call is due, in Unix milliseconds.
    pub next_run_ms: Option<u64>,
}

#[derive(Debug)]
struct Record {
    report: PluginReport,
    lengths: Recent,
    /// When this term's first call began.
    first_ms: Option<u64>,
}

impl Record {
    fn began(&mut self, at_ms: u64, due_ms: u64, interval: Duration) {
        let turn_ms = whole_ms(interval.max(LATE_FROM));
        self.report.missed += at_ms.saturating_sub(due_ms) / turn_ms;
    }
}

/// What is kept about one plugin or service. Times are handed in.
pub(crate) struct PluginStats {
    pub(super) interval: Duration,
    record: Mutex<Record>,
    /// Counts what is worth telling at once.
    news: watch::Sender<u64>,
}

impl PluginStats {
    pub(super) fn new(
        name: &str,
        kind: WorkKind,
        interval: Duration,
        news: watch::Sender<u64>,
    ) -> Self {
        let report = PluginReport { name: name.to_owned(), kind, ..Default::default() };
        let record =
            Mutex::new(Record { report, lengths: Recent::new(CALLS_KEPT), first_ms: None });
        Self { interval, record, news }
    }

    fn note(&self, note: impl FnOnce(&mut Record)) {
        note(&mut self.record.lock().expect("no holder panics"));
    }

    fn notify(&self) {
        self.news.send_modify(|count| *count += 1);
    }

    pub(super) fn report(&self) -> PluginReport {
        let record = self.record.lock().expect("no holder panics");
        let [p50_ms, p99_ms] = record.lengths.percentiles_ms([0.50, 0.99]);
        PluginReport { p50_ms, p99_ms, ..record.report.clone() }
    }

    /// A node that led until then said at some time before that it would be due at this time. What
    /// was due while that node led it ran itself.
    pub(super) fn was_due(&self, at_ms: u64, led_until_ms: u64) {
        let turn_ms = whole_ms(self.interval.max(LATE_FROM));
        let turns = led_until_ms.saturating_sub(at_ms).div_ceil(turn_ms);
        let due_ms = at_ms.saturating_add(turns.saturating_mul(turn_ms));
        self.note(|record| match record.first_ms {
            Some(first_ms) => record.began(first_ms, due_ms, self.interval),
            None => record.report.next_run_ms = record.report.next_run_ms.max(Some(due_ms)),
        });
    }

    /// Its first call in this term is put off until then.
    pub(super) fn put_off(&self, until_ms: u64) {
        self.note(|record| {
            record.report.next_run_ms = record.report.next_run_ms.max(Some(until_ms));
        });
    }

    pub(super) fn starting(&self) {
        self.note(|record| record.report.doing = PluginStatus::Starting);
    }

    pub(super) fn started(&self) {
        self.note(|record| record.report.doing = PluginStatus::Resting);
        self.notify();
    }

    pub(crate) fn working(&self, now_ms: u64) {
        self.note(|record| {
            let due_ms = record.report.next_run_ms.take().unwrap_or(now_ms);
            record.began(now_ms, due_ms, self.interval);
            record.first_ms.get_or_insert(now_ms);
            record.report.doing = PluginStatus::Working;
        });
    }

    /// A call ended well.
    pub(crate) fn worked(&self, run: Run) {
        let mut is_first = false;
        self.note(|record| {
            let took = run.took();
            is_first = record.report.runs == 0;
            record.report.runs += 1;
            record.report.doing = PluginStatus::Resting;
            record.report.next_run_ms = Some(run.at_ms + whole_ms(took) + whole_ms(self.interval));
            record.report.last = Some(run);
            record.lengths.push(took);
        });
        if is_first {
            self.notify();
        }
    }

    /// A call or a start that began then failed; it is started again at `again_at_ms`, or never.
    pub(super) fn failed(&self, run: Run, while_working: bool, again_at_ms: Option<u64>) {
        self.note(|record| {
            record.report.runs += u64::from(while_working);
            record.report.failures += 1;
            record.report.failed_starts += u64::from(!while_working);
            record.report.restarts += u64::from(again_at_ms.is_some());
            record.report.doing =
                again_at_ms.map_or(PluginStatus::GaveUp, |_| PluginStatus::Failing);
            record.report.next_run_ms = again_at_ms;
            if while_working {
                record.lengths.push(run.took());
            }
            record.report.last = Some(run);
        });
        self.notify();
    }

    /// The term is over. When it is due next is the next term's to know.
    pub(crate) fn stopped(&self) {
        self.note(|record| {
            record.report.doing = PluginStatus::Idle;
            (record.report.next_run_ms, record.first_ms) = (None, None);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(interval: Duration) -> PluginStats {
        PluginStats::new("x", WorkKind::Plugin, interval, watch::channel(0).0)
    }

    const MS: Duration = Duration::from_millis(1);

    fn run(at_ms: u64, took_ms: f64) -> Run {
        Run { at_ms, took_ms, error: None }
    }

    #[test]
    fn a_call_is_counted_with_its_length_and_the_next_is_due_an_interval_after_its_end() {
        let stats = stats(5_000 * MS);
        stats.working(1_000);
        stats.worked(run(1_000, 200.0));
        let report = stats.report();
        assert_eq!((report.runs, report.failures, report.missed), (1, 0, 0));
        assert_eq!((report.p50_ms, report.p99_ms), (200.0, 200.0));
        assert_eq!(report.next_run_ms, Some(6_200));
        assert_eq!(report.doing, PluginStatus::Resting);
    }

    #[test]
    fn turns_that_passed_without_a_call_are_missed() {
        let stats = stats(5_000 * MS);
        stats.was_due(10_000, 10_000);
        stats.working(14_999);
        assert_eq!(stats.report().missed, 0, "late, but within its turn");
        stats.worked(run(15_000, 0.0));
        stats.working(31_000);
        assert_eq!(stats.report().missed, 2, "20 s was its turn, 25 s and 30 s were missed");
    }

    #[test]
    fn what_the_last_term_left_due_may_become_known_after_the_first_call() {
        let stats = stats(5_000 * MS);
        stats.working(31_000);
        stats.worked(run(31_000, 0.0));
        stats.was_due(20_000, 18_000);
        assert_eq!(stats.report().missed, 2);
        assert_eq!(stats.report().next_run_ms, Some(36_000), "what is due next is known better");
        stats.stopped();
        stats.was_due(36_000, 36_000);
        stats.working(41_000);
        assert_eq!(stats.report().missed, 3);
    }

    #[test]
    fn what_was_due_while_another_node_led_was_run_there() {
        // Written down a minute ago, and every 3 s run since: up to the end of that term.
        let handed_over = stats(3_000 * MS);
        handed_over.was_due(3_000, 60_000);
        handed_over.working(60_100);
        assert_eq!(handed_over.report().missed, 0);
        let after_ten_seconds = stats(3_000 * MS);
        after_ten_seconds.working(70_000);
        after_ten_seconds.was_due(3_000, 60_000);
        assert_eq!(after_ten_seconds.report().missed, 3, "60 s, 63 s and 66 s; 69 s is run now");
    }

    #[test]
    fn what_is_put_off_is_not_late() {
        let stats = stats(3_000 * MS);
        stats.was_due(3_000, 10_000);
        stats.put_off(22_000);
        assert_eq!(stats.report().next_run_ms, Some(22_000));
        stats.was_due(3_000, 10_000);
        stats.working(22_000);
        assert_eq!(stats.report().missed, 0);
    }

    #[test]
    fn a_plugin_that_is_due_all_the_time_is_not_late_for_a_slow_machine() {
        let stats = stats(5 * MS);
        stats.worked(run(0, 0.0));
        stats.working(900);
        assert_eq!(stats.report().missed, 0);
    }

    #[test]
    fn a_failure_is_told_with_when_it_is_started_again() {
        let stats = stats(5 * MS);
        let run = Run { at_ms: 7, took_ms: 2.0, error: Some("no disk".to_owned()) };
        stats.failed(run.clone(), true, Some(109));
        let report = stats.report();
        assert_eq!((report.runs, report.failures, report.restarts), (1, 1, 1));
        assert_eq!((report.doing, report.next_run_ms), (PluginStatus::Failing, Some(109)));
        assert_eq!(report.last, Some(run.clone()));
        stats.failed(run, false, None);
        let report = stats.report();
        assert_eq!((report.runs, report.failures, report.restarts), (1, 2, 1));
        assert_eq!(report.doing, PluginStatus::GaveUp);
    }
}
