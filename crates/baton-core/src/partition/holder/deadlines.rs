//! Until when the process may act, and what ends with that.

use std::time::Duration;

use super::{Action, Holder};
use crate::partition::assignment::AssignmentVersion;
use crate::planted::planted;
use crate::time::Moment;

impl Holder {
    /// The soft end of the session. While no beat of it is known to be written, the coordinator may
    /// have seen one that was: its silence counts from then.
    pub(super) fn session_until(&self) -> Option<Moment> {
        match self.is_open {
            true if planted!(KeptBeyondWindow) => None,
            true => Some(self.window.soft),
            false if planted!(SessionOpenedLate) => None,
            false => self.reported_at.map(|reported| self.terms.window(reported).soft),
        }
    }

    /// Before anything else: what is over is over, whatever comes in.
    pub(super) fn mind_deadlines(&mut self, now: Moment, actions: &mut Vec<Action>) {
        if self.session_until().is_some_and(|until| now >= until) {
            self.end_session(actions);
        }
        if !self.window.is_open(now) {
            self.runs.values_mut().for_each(|run| run.is_cut_off = true);
        }
    }

    /// Drops all tokens. The next session has none until the coordinator gives some.
    pub(super) fn end_session(&mut self, actions: &mut Vec<Action>) {
        self.session += 1;
        self.reported_at = None;
        self.is_open = false;
        self.applied = AssignmentVersion::default();
        for (partition, run) in &mut self.runs {
            if !std::mem::replace(&mut run.is_stopping, true) {
                actions.push(Action::Stop { partition: partition.clone(), token: run.token });
            }
        }
    }

    pub(super) fn extend_window(&mut self, now: Moment, sent: Moment, actions: &mut Vec<Action>) {
        let window = self.terms.window(sent);
        if window.hard > self.window.hard {
            self.window = window;
        }
        if !self.is_open && self.reported_at.is_some() && self.window.may_start(now) {
            self.is_open = true;
            self.apply(now, actions);
        }
    }

    /// The clock stood still for a while: what was counted from a beat is over this much sooner.
    pub(super) fn date_back(&mut self, now: Moment, by: Duration, actions: &mut Vec<Action>) {
        self.window = self.window.earlier(by);
        self.reported_at = self.reported_at.map(|reported| reported - by);
        self.mind_deadlines(now, actions);
    }
}
