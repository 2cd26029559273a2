//! One page as a scheduler knows it: its version and content, and what is asked of the store about
//! it.

use std::time::Duration;

use super::{LOOK_EVERY, Page};
use crate::event::Event;
use crate::planted::planted;
use crate::time::Moment;

/// Ends of attempts are recorded together when they come this shortly after a write.
const LINGER: Duration = Duration::from_millis(20);

/// One page as the scheduler knows it.
#[derive(Debug)]
pub(super) struct KnownPage {
    /// The version of its document; 0 if there is none.
    pub(super) version: u64,
    pub(super) page: Page,
    pub(super) state: PageState,
    /// When it was last read or written.
    pub(super) known_at: Moment,
    /// When it was last written.
    pub(super) written_at: Option<Moment>,
    /// No request before this moment.
    pub(super) held_until: Moment,
    /// When something of it is due, in Unix milliseconds.
    pub(super) due_ms: Option<u64>,
    /// Are there ends of attempts that wait for others?
    pub(super) is_lingering: bool,
    /// Was a person's edit heard of while a request was under way?
    pub(super) is_edited: bool,
}

#[derive(Debug)]
pub(super) enum PageState {
    /// Known.
    Settled,
    /// It is to be read.
    Unsettled,
    /// It is being read.
    Reading,
    /// A changed copy is being written.
    Writing(Box<PendingWrite>),
}

/// A copy that is being written, or whose write was not answered.
#[derive(Debug)]
pub(super) struct PendingWrite {
    pub(super) page: Page,
    /// Told once it is known to have been written.
    pub(super) events: Vec<Event>,
}

impl KnownPage {
    pub(super) fn unread(now: Moment) -> Self {
        Self {
            version: 0,
            page: Page::default(),
            state: PageState::Unsettled,
            known_at: now,
            written_at: None,
            held_until: now,
            due_ms: None,
            is_lingering: false,
            is_edited: false,
        }
    }

    pub(super) fn is_being_read(&self) -> bool {
        matches!(self.state, PageState::Reading)
    }

    pub(super) fn settle(&mut self, now: Moment) {
        self.state = PageState::Settled;
        self.known_at = now;
        // What is due is seen with the next turn.
        self.due_ms = Some(0);
    }

    /// It has to be read again: the request for it was answered, or there is none.
    pub(super) fn unsettle(&mut self, from: Moment) {
        self.state = PageState::Unsettled;
        self.held_until = from;
    }

    /// A person may have changed it. The answer to a request that is under way may be older than
    /// that: then it is read once more.
    pub(super) fn edited(&mut self, now: Moment) {
        match self.state {
            PageState::Reading | PageState::Writing(_) if !planted!(RequestsOverlap) => {
                self.is_edited = true;
            }
            _ => self.unsettle(now),
        }
    }

    /// Reads it once more, if it was edited while a request was under way.
    pub(super) fn look_for_edits(&mut self, now: Moment) {
        if std::mem::take(&mut self.is_edited) && matches!(self.state, PageState::Settled) {
            self.unsettle(now);
        }
    }

    pub(super) fn wakes_after(&self, now: Moment, wall_ms: u64, decides: bool) -> Duration {
        match self.state {
            PageState::Writing(_) | PageState::Reading => LOOK_EVERY,
            PageState::Unsettled => self.held_until.since(now),
            PageState::Settled if !decides => (self.known_at + LOOK_EVERY).since(now),
            PageState::Settled => {
                let look = (self.known_at + LOOK_EVERY).since(now);
                let due = self.due_ms.map_or(LOOK_EVERY, |due_ms| {
                    Duration::from_millis(due_ms.saturating_sub(wall_ms))
                });
                let linger = if self.is_lingering { self.lingers_for(now) } else { LOOK_EVERY };
                due.min(look).min(linger).max(self.held_until.since(now))
            }
        }
    }

    pub(super) fn lingers_for(&self, now: Moment) -> Duration {
        self.written_at.map_or(Duration::ZERO, |written| (written + LINGER).since(now))
    }
}
