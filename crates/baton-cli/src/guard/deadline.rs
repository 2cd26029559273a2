//! When a term's child must be told to stop and when it must be killed. Pure: time is an argument.

use std::time::Duration;

use baton_core::lease::Window;
use baton_core::time::Moment;

/// How long what a command left behind may take to stop after TERM.
const LEFTOVER_GRACE: Duration = Duration::from_secs(1);

/// A kill takes effect in well under a millisecond; the rest is for a busy machine.
const LEAST_MARGIN: Duration = Duration::from_millis(20);
const MOST_MARGIN: Duration = Duration::from_millis(500);

/// What a term's deadlines require now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// Nothing before this moment.
    Wait(Moment),
    /// Tell everything of the term to stop. Said once.
    Terminate,
    Kill,
}

/// The deadlines of one term.
#[derive(Debug)]
pub(super) struct Deadline {
    window: Window,
    by: Option<Moment>,
    ended: Option<Moment>,
    /// Was everything told to stop?
    pub(super) terminating: bool,
}

impl Deadline {
    pub(super) fn new(window: Window) -> Self {
        Self { window, by: None, ended: None, terminating: false }
    }

    /// The lease was renewed. A term that was told to stop gains nothing by it.
    pub(super) fn extend(&mut self, window: Window) {
        self.window = window;
    }

    /// The term is to end, everything gone by `by`. Of several such moments the earliest counts.
    pub(super) fn stop(&mut self, by: Moment) {
        self.by = Some(self.by.map_or(by, |earlier| earlier.min(by)));
    }

    /// Time passed that the clock did not count: everything is due this much sooner.
    pub(super) fn shorten(&mut self, span: Duration) {
        self.window = self.window.earlier(span);
        self.by = self.by.map(|by| by - span);
    }

    /// The command itself has ended; what it left behind has a short grace.
    pub(super) fn end(&mut self, now: Moment) {
        self.ended.get_or_insert(now);
    }

    /// What is to be done at `now`.
    pub(super) fn due(&mut self, now: Moment) -> Due {
        if now >= self.kill_at() {
            return Due::Kill;
        }
        if self.terminating {
            return Due::Wait(self.kill_at());
        }
        if self.by.is_some() || self.ended.is_some() || !self.window.may_start(now) {
            self.terminating = true;
            self.stop(self.window.hard);
            return Due::Terminate;
        }
        Due::Wait(self.window.soft.min(self.kill_at()))
    }

    /// When another process has to kill, because the one that should have shows no sign of life.
    pub(super) fn last_resort(&self) -> Moment {
        self.limit() - self.margin() / 2
    }

    fn kill_at(&self) -> Moment {
        let in_time = self.limit() - self.margin();
        self.ended.map_or(in_time, |ended| in_time.min(ended + LEFTOVER_GRACE))
    }

    fn limit(&self) -> Moment {
        self.by.map_or(self.window.hard, |by| by.min(self.window.hard))
    }

    fn margin(&self) -> Duration {
        (self.window.hard.since(self.window.soft) / 4).clamp(LEAST_MARGIN, MOST_MARGIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Moment {
        Moment::from_micros(ms * 1_000)
    }

    fn window(soft: u64, hard: u64) -> Window {
        Window { soft: at(soft), hard: at(hard) }
    }

    #[test]
    fn without_a_renewal_it_tells_at_soft_and_kills_a_margin_before_hard() {
        let mut deadline = Deadline::new(window(1_000, 1_400));
        assert_eq!(deadline.due(at(0)), Due::Wait(at(1_000)));
        assert_eq!(deadline.due(at(999)), Due::Wait(at(1_000)));
        assert_eq!(deadline.due(at(1_000)), Due::Terminate);
        assert_eq!(deadline.due(at(1_000)), Due::Wait(at(1_300)));
        assert_eq!(deadline.due(at(1_299)), Due::Wait(at(1_300)));
        assert_eq!(deadline.due(at(1_300)), Due::Kill);
        assert_eq!(deadline.last_resort(), at(1_350));
    }

    #[test]
    fn a_renewal_moves_both_until_stopping_has_begun() {
        let mut deadline = Deadline::new(window(1_000, 1_400));
        deadline.extend(window(2_000, 2_400));
        assert_eq!(deadline.due(at(1_500)), Due::Wait(at(2_000)));
        assert_eq!(deadline.due(at(2_000)), Due::Terminate);
        deadline.extend(window(9_000, 9_400));
        assert_eq!(deadline.due(at(2_001)), Due::Wait(at(2_300)));
    }

    #[test]
    fn stop_tells_at_once_and_kills_before_the_earliest_moment_named() {
        let mut deadline = Deadline::new(window(10_000, 12_000));
        deadline.stop(at(5_000));
        assert_eq!(deadline.due(at(100)), Due::Terminate);
        assert_eq!(deadline.due(at(100)), Due::Wait(at(4_500)));
        deadline.stop(at(9_000));
        assert_eq!(deadline.due(at(101)), Due::Wait(at(4_500)));
        deadline.stop(at(2_000));
        assert_eq!(deadline.due(at(102)), Due::Wait(at(1_500)));
        assert_eq!(deadline.due(at(1_500)), Due::Kill);
    }

    #[test]
    fn a_stop_beyond_the_window_is_bounded_by_it() {
        let mut deadline = Deadline::new(window(1_000, 1_400));
        deadline.stop(at(60_000));
        assert_eq!(deadline.due(at(10)), Due::Terminate);
        assert_eq!(deadline.due(at(10)), Due::Wait(at(1_300)));
    }

    #[test]
    fn a_guard_that_was_paused_beyond_the_window_kills_without_telling() {
        let mut deadline = Deadline::new(window(1_000, 1_400));
        assert_eq!(deadline.due(at(1_350)), Due::Kill);
        assert_eq!(Deadline::new(window(1_000, 1_400)).due(at(5_000)), Due::Kill);
    }

    #[test]
    fn leftovers_have_a_second_but_not_beyond_the_window() {
        let mut deadline = Deadline::new(window(10_000, 12_000));
        deadline.end(at(100));
        deadline.end(at(900));
        assert_eq!(deadline.due(at(100)), Due::Terminate);
        assert_eq!(deadline.due(at(100)), Due::Wait(at(1_100)));
        assert_eq!(deadline.due(at(1_100)), Due::Kill);

        let mut late = Deadline::new(window(1_000, 1_400));
        late.end(at(900));
        assert_eq!(late.due(at(900)), Due::Terminate);
        assert_eq!(late.due(at(900)), Due::Wait(at(1_300)));
    }

    #[test]
    fn the_margin_is_kept_even_where_soft_and_hard_nearly_meet() {
        let mut deadline = Deadline::new(window(1_000, 1_010));
        assert_eq!(deadline.due(at(0)), Due::Wait(at(990)));
        assert_eq!(deadline.due(at(990)), Due::Kill);
    }

    #[test]
    fn time_that_the_clock_did_not_count_is_over_all_the_same() {
        let mut deadline = Deadline::new(window(10_000, 12_000));
        deadline.shorten(Duration::from_secs(3));
        assert_eq!(deadline.due(at(100)), Due::Wait(at(7_000)));
        deadline.shorten(Duration::from_secs(7));
        assert_eq!(deadline.due(at(200)), Due::Terminate);
        assert_eq!(deadline.due(at(200)), Due::Wait(at(1_500)));
        deadline.shorten(Duration::from_secs(60));
        assert_eq!(deadline.due(at(201)), Due::Kill);
        let mut endless = Deadline::new(Window::ENDLESS);
        endless.shorten(Duration::from_secs(60));
        assert!(matches!(endless.due(at(1)), Due::Wait(_)));
    }

    #[test]
    fn an_endless_window_never_comes_due() {
        let mut deadline = Deadline::new(Window::ENDLESS);
        let far = at(1_000_000_000_000);
        assert!(matches!(deadline.due(far), Due::Wait(until) if until > far));
        deadline.stop(at(1_000_000_001_000));
        assert_eq!(deadline.due(far), Due::Terminate);
    }
}
