//! The scheduler of one term: which slots are claimed, started and recorded, without I/O.
//!
//! ```text
//!                ┌──────────────── Scheduler ────────────────┐
//!   Input ──────►│ pages: as they were last read or written  │──────► Actions
//!   Tick, Read,  │   due slots ──► a changed copy ──► Write  │  Read, Write, Start, Stop, Tell
//!   Written,     │ started: the attempts of this term        │
//!   Ended, Edit  │ ended: those that no page has recorded    │──────► wakes_after: when to Tick
//!                └───────────────────────────────────────────┘
//! ```
//!
//! Call [`handle`] with each input and carry out what it returns, one request a page at a time.
//! Nothing is started before the write that claims it is known to have been made: what runs is
//! always what the pages say. A write without an answer is resolved by reading the page again, and
//! so is one that another change was faster than.
//!
//! The store is authoritative for the slots that were claimed, and the scheduler for which attempts
//! of this term run. A scheduler lives for one term: the next one is made after the grant of its
//! epoch, so that no write of an earlier term can follow what it reads.
//!
//! [`handle`]: Scheduler::handle

mod declared;
mod known_page;
mod turn;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use super::definition::{InvalidSchedule, Schedule};
use super::entry::{ActiveRun, AttemptEnd, AttemptId, Claimant, Entry, RunState};
use super::page::{ENTRIES_MAX, PAGES_MAX, Page, WriterId};
use crate::event::Event;
use crate::ids::{BootId, Epoch, NodeId};
use crate::planted::planted;
use crate::time::Moment;

pub use declared::Declared;
use known_page::{KnownPage, PageState, PendingWrite};

/// How often the pages are read again for what people changed, unless a hint says so sooner.
pub const LOOK_EVERY: Duration = Duration::from_secs(5);

/// The pause after a request that failed.
const PAUSE: Duration = Duration::from_millis(500);

/// What happened.
#[derive(Clone, Debug)]
pub enum Input {
    /// Time has passed.
    Tick,
    /// A page was read; `None` if there is no such document.
    Read {
        /// Which page.
        page: usize,
        /// The version of its document, and the page.
        found: Option<(u64, Page)>,
    },
    /// A page could not be read.
    Unread {
        /// Which page.
        page: usize,
    },
    /// A write was answered, or was not.
    Written {
        /// Which page.
        page: usize,
        /// What came of it.
        outcome: PageWrite,
    },
    /// An attempt that was started has ended.
    Ended {
        /// Which.
        attempt: AttemptId,
        /// How.
        end: AttemptEnd,
    },
    /// Another set of schedules is declared from now on.
    Declare(Arc<Declared>),
    /// A person may have changed a page.
    Edited,
    /// The term is to stop: from now on ends are recorded, and nothing starts any more.
    Stop,
}

/// What came of the write of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageWrite {
    /// Written, at this version.
    Written(u64),
    /// The page had been changed: nothing was written.
    Conflict,
    /// A later term has begun: nothing was written.
    Fenced,
    /// It may have been written.
    Unknown,
    /// It was certainly not written.
    Failed,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Action {
    /// Read this page.
    Read {
        /// Which page.
        page: usize,
    },
    /// Write this page over the version given, or where there is none if that is 0, under the epoch
    /// of the term.
    Write {
        /// Which page.
        page: usize,
        /// The version that it was made from.
        version: u64,
        /// What to write.
        content: Page,
    },
    /// Start this attempt, if the term may still start work.
    Start {
        /// Which.
        attempt: AttemptId,
        /// The run that it belongs to.
        run: ActiveRun,
    },
    /// Stop this attempt: a newer slot replaces it.
    Stop(AttemptId),
    /// Tell people.
    Tell(Event),
}

/// A scheduler, which lives for one term at most.
#[derive(Debug)]
pub struct Scheduler {
    node: NodeId,
    boot: BootId,
    claimant: Claimant,
    declared: Arc<Declared>,
    pages: Vec<KnownPage>,
    /// Have all pages been read at least once?
    is_loaded: bool,
    /// Is the set of declared schedules to be compared with the pages?
    is_undeclared: bool,
    /// The pages of the schedules that were on none when they were declared.
    placed: BTreeMap<String, usize>,
    /// Writes that were not answered, by page.
    unanswered: BTreeMap<usize, PendingWrite>,
    started: BTreeSet<AttemptId>,
    stopped: BTreeSet<AttemptId>,
    /// Ends that no page has recorded, each with its time in Unix milliseconds.
    ended: BTreeMap<AttemptId, (AttemptEnd, u64)>,
    writes: u64,
    is_stopping: bool,
    is_over: bool,
}

impl Scheduler {
    /// The scheduler of a term that has been granted to this process.
    pub fn new(node: NodeId, boot: BootId, epoch: Epoch, declared: Arc<Declared>) -> Self {
        Self {
            node,
            boot,
            claimant: Claimant { epoch, number: 0 },
            declared,
            pages: Vec::new(),
            is_loaded: false,
            is_undeclared: true,
            placed: BTreeMap::new(),
            unanswered: BTreeMap::new(),
            started: BTreeSet::new(),
            stopped: BTreeSet::new(),
            ended: BTreeMap::new(),
            writes: 0,
            is_stopping: false,
            is_over: false,
        }
    }

    /// The same as a later scheduler of the term, after one that failed: what that one started has
    /// been stopped.
    #[must_use]
    pub fn restarted(mut self, number: u32) -> Self {
        self.claimant.number = number;
        self
    }

    /// Has a later term begun? Then there is nothing left to do.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Are there ends of attempts that no page has recorded? A leader that stops waits for them.
    pub fn has_unrecorded(&self) -> bool {
        !self.is_over && !self.ended.is_empty()
    }

    /// Takes in what happened, and returns what is to be done.
    #[must_use]
    pub fn handle(&mut self, now: Moment, wall_ms: u64, input: Input) -> Vec<Action> {
        let mut actions = Vec::new();
        match input {
            Input::Tick => {}
            Input::Read { page, found } => self.take_reading(page, found, now, &mut actions),
            Input::Unread { page } => {
                let known = self.pages.get_mut(page);
                if let Some(known) = known.filter(|it| it.is_being_read()) {
                    known.unsettle(now + PAUSE);
                }
            }
            Input::Written { page, outcome } => self.written(page, outcome, now, &mut actions),
            Input::Ended { attempt, end } => {
                let is_writing = |known: &KnownPage| matches!(known.state, PageState::Writing(_));
                let is_lost = planted!(EndDuringWriteLost) && self.pages.iter().any(is_writing);
                if self.started.contains(&attempt) && !is_lost {
                    self.ended.insert(attempt, (end, wall_ms));
                }
            }
            Input::Declare(declared) => {
                self.declared = declared;
                self.is_undeclared = true;
            }
            Input::Stop => self.is_stopping = true,
            Input::Edited => self.pages.iter_mut().for_each(|known| known.edited(now)),
        }
        self.turn(now, wall_ms, &mut actions);
        actions
    }

    fn take_reading(
        &mut self,
        number: usize,
        found: Option<(u64, Page)>,
        now: Moment,
        actions: &mut Vec<Action>,
    ) {
        let known = self.pages.get_mut(number);
        let Some(known) = known.filter(|known| known.is_being_read()) else { return };
        let is_last = found.is_none();
        (known.version, known.page) = found.unwrap_or_default();
        known.settle(now);
        if let Some(pending) = self.unanswered.remove(&number)
            && pending.page.writer == known.page.writer
        {
            actions.extend(pending.events.into_iter().map(Action::Tell));
        }
        if !self.is_loaded {
            self.is_loaded = is_last || self.pages.len() >= PAGES_MAX;
            if !self.is_loaded {
                self.pages.push(KnownPage::unread(now));
            }
        }
        self.follow(number, actions);
        self.pages[number].look_for_edits(now);
    }

    fn written(
        &mut self,
        number: usize,
        outcome: PageWrite,
        now: Moment,
        actions: &mut Vec<Action>,
    ) {
        let Some(known) = self.pages.get_mut(number) else { return };
        let state = std::mem::replace(&mut known.state, PageState::Settled);
        let PageState::Writing(pending) = state else {
            known.state = state;
            return;
        };
        match outcome {
            PageWrite::Written(version) => {
                (known.version, known.page) = (version, pending.page);
                known.settle(now);
                known.written_at = Some(now);
                actions.extend(pending.events.into_iter().map(Action::Tell));
                self.follow(number, actions);
                self.pages[number].look_for_edits(now);
            }
            PageWrite::Conflict if planted!(EditRacesFire) => {
                known.version += 1;
                let (version, content) = (known.version, pending.page.clone());
                known.state = PageState::Writing(pending);
                actions.push(Action::Write { page: number, version, content });
            }
            PageWrite::Conflict => {
                if planted!(PauseIgnoredByFire) {
                    known.page = pending.page;
                    self.follow(number, actions);
                }
                self.pages[number].unsettle(now);
            }
            PageWrite::Unknown => {
                known.unsettle(now);
                if planted!(UnknownClaimForgotten) {
                    for entry in &pending.page.entries {
                        let claimed = entry.running.iter().map(|run| entry.attempt_id(run));
                        self.started.extend(claimed);
                    }
                }
                self.unanswered.insert(number, *pending);
            }
            PageWrite::Failed => known.held_until = now + PAUSE,
            PageWrite::Fenced => self.is_over = true,
        }
    }

    /// Starts and stops what a page says that is known to be in the store.
    fn follow(&mut self, number: usize, actions: &mut Vec<Action>) {
        let page = &self.pages[number].page;
        for entry in &page.entries {
            for run in entry.running.iter().filter(|run| run.claimant == self.claimant) {
                let attempt = entry.attempt_id(run);
                if run.state == RunState::Running && !self.started.contains(&attempt) {
                    if !self.is_stopping {
                        self.started.insert(attempt.clone());
                        actions.push(Action::Start { attempt, run: run.clone() });
                    }
                } else if run.state == RunState::Stopping && self.stopped.insert(attempt.clone()) {
                    actions.push(match self.started.contains(&attempt) {
                        true => Action::Stop(attempt),
                        // It was claimed and replaced before it could start.
                        false => {
                            self.started.insert(attempt.clone());
                            let end = (AttemptEnd::Stopped, run.since_ms);
                            self.ended.insert(attempt, end);
                            continue;
                        }
                    });
                }
            }
        }
        self.forget_recorded(number);
        // A new page waits for the one before it.
        if let Some(next) = self.pages.get_mut(number + 1).filter(|next| next.version == 0) {
            next.due_ms = Some(0);
        }
    }

    /// Attempts whose end a page has recorded are of no interest any more.
    fn forget_recorded(&mut self, number: usize) {
        let (page, claimant) = (&self.pages[number].page, self.claimant);
        let entries: BTreeMap<&str, &Entry> =
            page.entries.iter().map(|entry| (entry.name(), entry)).collect();
        let is_open = |attempt: &AttemptId| {
            entries.get(attempt.schedule.as_str()).is_none_or(|entry| {
                entry.running.iter().any(|run| {
                    (run.id, run.attempt, run.claimant) == (attempt.run, attempt.attempt, claimant)
                        && !matches!(run.state, RunState::RetryAt(_))
                })
            })
        };
        self.ended.retain(|attempt, _| is_open(attempt));
        self.started.retain(is_open);
        self.stopped.retain(is_open);
    }

    /// How long until there is something to do, unless an input comes before.
    pub fn wakes_after(&self, now: Moment, wall_ms: u64) -> Duration {
        if self.is_over {
            return LOOK_EVERY;
        }
        // Nothing is decided before all pages are known: then a page wakes it only to be read.
        let decides = (self.is_loaded && !self.is_undeclared) || planted!(LoadsInATightLoop);
        let waits = self.pages.iter().map(|known| known.wakes_after(now, wall_ms, decides));
        waits.min().unwrap_or(LOOK_EVERY).min(LOOK_EVERY)
    }

    fn next_writer(&mut self) -> WriterId {
        self.writes += 1;
        WriterId { boot: self.boot, claimant: self.claimant, number: self.writes }
    }
}

/// Schedules by name.
type Schedules = BTreeMap<String, Schedule>;

#[cfg(test)]
mod tests;
