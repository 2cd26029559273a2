//! One term, as every thread of the process sees it: until when it may act, and whether it ended.
//! What a term and a service have in common is a [`Lifetime`].

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use baton_core::DemotionReason;
use baton_core::ids::Epoch;
use baton_core::lease::Window;
use baton_core::time::Moment;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Why and until when a term stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) reason: DemotionReason,
    /// By when nothing of it may run any more: the hard deadline at the latest.
    pub(crate) by: Moment,
}

/// From when something runs until it is told to stop, with the moment by which it must have.
#[derive(Default)]
pub(crate) struct Lifetime {
    /// Set before the token is cancelled.
    stop_by: OnceLock<Moment>,
    /// Cancelled when it is told to stop.
    pub(crate) token: CancellationToken,
}

impl Lifetime {
    /// It is to stop by then. The first word counts.
    pub(crate) fn end(&self, by: Moment) {
        let _ = self.stop_by.set(by);
        self.token.cancel();
    }

    pub(crate) fn stop_by(&self) -> Option<Moment> {
        self.stop_by.get().copied()
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.stop_by().is_some()
    }

    pub(crate) async fn ended(&self) -> Moment {
        self.token.cancelled().await;
        self.stop_by().expect("it is set before the token is cancelled")
    }
}

/// Written by the node's thread alone, read by all. The deadlines are what counts: a reader
/// compares them with the clock, so that a writer that was paused cannot keep a term alive.
pub(crate) struct Term {
    pub(crate) epoch: Epoch,
    soft: AtomicU64,
    hard: AtomicU64,
    /// The hard deadline while the term runs; 0 from when it was told to stop.
    runs_until: AtomicU64,
    /// The hard deadline again, for those that wait until it moves.
    moved: watch::Sender<Moment>,
    pub(crate) life: Lifetime,
    /// Set before the life ends.
    reason: OnceLock<DemotionReason>,
    holds: watch::Sender<usize>,
}

impl Term {
    pub(crate) fn new(epoch: Epoch, window: Window) -> Arc<Self> {
        let hard = window.hard.as_micros();
        Arc::new(Self {
            epoch,
            soft: AtomicU64::new(window.soft.as_micros()),
            hard: AtomicU64::new(hard),
            runs_until: AtomicU64::new(hard),
            moved: watch::channel(window.hard).0,
            life: Lifetime::default(),
            reason: OnceLock::new(),
            holds: watch::channel(0).0,
        })
    }

    pub(crate) fn extend(&self, window: Window) {
        self.soft.store(window.soft.as_micros(), Ordering::Release);
        self.hard.store(window.hard.as_micros(), Ordering::Release);
        if !self.has_ended() {
            self.runs_until.store(window.hard.as_micros(), Ordering::Release);
        }
        self.moved.send_if_modified(|hard| std::mem::replace(hard, window.hard) != window.hard);
    }

    /// The term is to stop; nothing of it starts any more.
    pub(crate) fn stop(&self, ending: Ending) {
        self.runs_until.store(0, Ordering::Release);
        let _ = self.reason.set(ending.reason);
        self.life.end(ending.by);
    }

    pub(crate) fn is_open(&self, now: Moment) -> bool {
        now.as_micros() < self.runs_until.load(Ordering::Acquire)
    }

    pub(crate) fn may_start(&self, now: Moment) -> bool {
        self.is_open(now) && now.as_micros() < self.soft.load(Ordering::Acquire)
    }

    pub(crate) fn window(&self) -> Window {
        let read = |cell: &AtomicU64| Moment::from_micros(cell.load(Ordering::Acquire));
        Window { soft: read(&self.soft), hard: read(&self.hard) }
    }

    /// Waits until the hard deadline is later than this.
    pub(crate) async fn extended_beyond(&self, known: Moment) -> Window {
        let mut moved = self.moved.subscribe();
        let later = moved.wait_for(|hard| *hard > known).await;
        drop(later.expect("the sender lives as long as the term it is asked of"));
        self.window()
    }

    pub(crate) async fn ended(&self) -> Ending {
        let by = self.life.ended().await;
        let reason = *self.reason.get().expect("it is set before the life ends");
        Ending { reason, by }
    }

    pub(crate) fn stop_by(&self) -> Moment {
        self.life.stop_by().unwrap_or(self.window().hard)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.life.has_ended()
    }

    /// Waits until nothing holds the term any more.
    pub(crate) async fn let_go(&self) {
        let mut holds = self.holds.subscribe();
        let free = holds.wait_for(|count| *count == 0).await;
        free.expect("the sender lives as long as the term it is asked of");
    }
}

/// Keeps the term from being proved stopped. Counted before it is known whether the term still
/// runs, so that a hold is either refused or waited for.
pub(crate) struct Hold(pub(crate) Arc<Term>);

impl Hold {
    /// Holds the term; `None` once it was told to stop.
    pub(crate) fn take(term: &Arc<Term>) -> Option<Self> {
        let hold = Self::count(term);
        (!term.has_ended()).then_some(hold)
    }

    fn count(term: &Arc<Term>) -> Self {
        term.holds.send_modify(|count| *count += 1);
        Self(term.clone())
    }
}

impl Clone for Hold {
    /// A hold may be shared, even while the term stops.
    fn clone(&self) -> Self {
        Self::count(&self.0)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.holds.send_modify(|count| *count -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Moment {
        Moment::from_micros(micros)
    }

    fn term() -> Arc<Term> {
        Term::new(Epoch(3), Window { soft: at(50), hard: at(100) })
    }

    #[test]
    fn the_clock_closes_a_term_that_was_not_told_to_stop() {
        let term = term();
        assert!(term.is_open(at(99)) && term.may_start(at(49)));
        assert!(!term.is_open(at(100)) && !term.may_start(at(50)));
        term.extend(Window { soft: at(150), hard: at(200) });
        assert!(term.is_open(at(199)) && term.may_start(at(149)));
    }

    #[test]
    fn a_term_told_to_stop_is_not_opened_again_by_a_late_renewal() {
        let term = term();
        term.stop(Ending { reason: DemotionReason::LeaseGone, by: at(100) });
        term.extend(Window { soft: at(150), hard: at(200) });
        assert!(!term.is_open(at(1)) && !term.may_start(at(1)));
        assert_eq!(term.window().hard, at(200));
    }

    #[tokio::test]
    async fn a_term_is_let_go_when_the_last_hold_is_dropped_and_takes_no_new_one() {
        let term = term();
        let hold = Hold::take(&term).expect("it runs");
        let second = hold.clone();
        term.stop(Ending { reason: DemotionReason::LeaseGone, by: at(100) });
        assert!(Hold::take(&term).is_none());
        drop(hold);
        let waiting = std::pin::pin!(term.let_go());
        let early =
            tokio::select! { biased; () = waiting => true, () = std::future::ready(()) => false };
        assert!(!early, "one hold is left");
        drop(second);
        term.let_go().await;
    }
}
