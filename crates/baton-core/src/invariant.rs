//! What must hold after every input, in production too. A core that breaks one of these no longer
//! knows what it does: stopping the process is safer than going on.

use crate::core::Core;
use crate::election::leading::{Stage, Term};
use crate::time::Moment;
use crate::timer::Timer;

impl Core {
    /// Asserts what must hold at the end of `handle`.
    pub(crate) fn assert_invariants(&self, now: Moment) {
        // Planted bugs are for the simulator to find, by what they do.
        if cfg!(baton_bugs) || self.halted {
            return;
        }
        let Some(term) = self.term() else {
            return;
        };
        assert!(
            term.epoch() > self.last_ended,
            "a term must be newer than any that ended: {} after {}",
            term.epoch(),
            self.last_ended,
        );
        assert!(term.window.soft <= term.window.hard, "work is told to stop before it must have");
        self.assert_running(now, term);
    }

    fn assert_running(&self, now: Moment, term: &Term) {
        if term.stage != Stage::Running {
            return;
        }
        assert!(term.window.may_start(now), "a term runs only before its soft deadline");
        let endless = term.window.hard == Moment::NEVER;
        let watched = self.timers[Timer::Soft as usize].is_some()
            && self.timers[Timer::Hard as usize].is_some();
        assert!(endless || watched, "a running term's deadlines are watched");
        let known = !self.settings.enabled || self.observed.highest() >= term.epoch();
        assert!(known, "a term's epoch was shown by the store");
    }
}
