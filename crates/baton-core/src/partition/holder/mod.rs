//! A process's side of its partitions: what it may run, and what it says of it. Without I/O.
//!
//! ```text
//!                ┌───────────────── Holder ──────────────────┐
//!   Input ──────►│ document: what was given, at what version │──────► Actions
//!   View, Read,  │ window: until when it may run anything    │  Read, Start, Stop, Report
//!   Beat,        │ runs: each partition, with its token      │
//!   Stopped      │ session: ends when the window closes      │──────► wakes_after: when to Tick
//!                └───────────────────────────────────────────┘
//! ```
//!
//! Call [`handle`] with each input and carry out what it returns, one `Read` at a time. It looks at
//! its deadlines before anything else.
//!
//! A partition is run only while three things hold: the window is open, which only beats that are
//! known to be *written* keep open; the document is for this process, its session and the lineage;
//! and it lists the partition under `hold`. When the window closes, the session ends with it: all
//! is stopped, and what the documents gave in that session is void for ever. The report of the next
//! session tells the coordinator so, and it gives new tokens.
//!
//! The process is authoritative for what it runs. The session is what makes its silence final:
//! whatever the coordinator gave a session that it holds for silent, the process has dropped or
//! will not take up, however late it reads the document.
//!
//! [`handle`]: Holder::handle

mod deadlines;
mod report;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::assignment::{Assignment, AssignmentVersion, PartitionReport, Token};
use super::task_list::Partition;
use crate::ids::{BootId, Lineage};
use crate::lease::{LeaseTerms, Window};
use crate::planted::planted;
use crate::time::Moment;

/// The pause before a document that could not be read, or is behind the view, is read again.
const PAUSE: Duration = Duration::from_millis(500);

/// How long a holder with nothing to wait for sleeps.
const IDLE: Duration = Duration::from_secs(60);

/// What happened.
#[derive(Clone, Debug)]
pub enum Input {
    /// Time has passed.
    Tick,
    /// The cluster view names this version for this process, or none.
    View(Option<AssignmentVersion>),
    /// A document was read; `None` if there is no such document.
    Read {
        /// Its slot.
        slot: u32,
        /// Its version, and what it says.
        found: Option<(u64, Assignment)>,
    },
    /// A document could not be read.
    Unread {
        /// Its slot.
        slot: u32,
    },
    /// A beat of this process is known to have been written.
    Beat {
        /// When its first try was sent.
        sent: Moment,
    },
    /// The application has stopped a partition that it was told to stop.
    Stopped {
        /// Which.
        partition: Partition,
        /// Under which token it ran.
        token: Token,
    },
    /// The store's data is of this line of history.
    Lineage(Lineage),
    /// Time passed that the local clock did not count: the machine stood still with its clock.
    ClockLeapt {
        /// How much.
        by: Duration,
    },
    /// The process is to end, or another one has taken its record: everything is stopped, and
    /// nothing starts any more.
    Leave,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Action {
    /// Read the document of this slot.
    Read {
        /// Which.
        slot: u32,
    },
    /// Start the work of a partition.
    Start {
        /// Which.
        partition: Partition,
        /// What its writes carry.
        token: Token,
    },
    /// Stop the work of a partition, and say when it has stopped. It must not act beyond the hard
    /// end of the window, whether it has stopped or not.
    Stop {
        /// Which.
        partition: Partition,
        /// Under which token it runs.
        token: Token,
    },
    /// Every beat from now on carries this report; the next one is sent at once.
    Report(Arc<PartitionReport>),
}

/// The work of one partition.
#[derive(Clone, Copy, Debug)]
struct Run {
    token: Token,
    /// Has it been told to stop?
    is_stopping: bool,
    /// Did the window close while it was stopping? Then it may not act any more.
    is_cut_off: bool,
}

/// The partitions of one process in one namespace.
#[derive(Debug)]
pub struct Holder {
    boot: BootId,
    terms: LeaseTerms,
    lineage: Option<Lineage>,
    session: u64,
    /// When this session was first reported; `None` if it was not yet.
    reported_at: Option<Moment>,
    /// Has a beat been written since the session began?
    is_open: bool,
    window: Window,
    /// What the view names.
    wanted: Option<AssignmentVersion>,
    /// The document as it was last read, and its version.
    document: Option<(AssignmentVersion, Option<Assignment>)>,
    is_reading: bool,
    /// Is the answer to that reading worth nothing, because the lineage changed meanwhile?
    is_outdated: bool,
    /// No reading before this moment.
    held_until: Moment,
    /// The version of the document of this session that is in effect.
    applied: AssignmentVersion,
    runs: BTreeMap<Partition, Run>,
    reported: Option<Arc<PartitionReport>>,
    is_leaving: bool,
}

impl Holder {
    /// The holder of a process that has just started.
    pub fn new(boot: BootId, terms: LeaseTerms) -> Self {
        Self::after_session(boot, terms, 0)
    }

    /// The holder that follows another one of the same process, whose last session was this one.
    pub fn after_session(boot: BootId, terms: LeaseTerms, session: u64) -> Self {
        Self {
            boot,
            terms,
            lineage: None,
            session: session + 1,
            reported_at: None,
            is_open: false,
            window: Window::CLOSED,
            wanted: None,
            document: None,
            is_reading: false,
            is_outdated: false,
            held_until: Moment::default(),
            applied: AssignmentVersion::default(),
            runs: BTreeMap::new(),
            reported: None,
            is_leaving: false,
        }
    }

    /// May the work of this partition act under this token at `now`? Ask right before each effect
    /// that is not fenced otherwise.
    pub fn is_owned(&self, partition: &Partition, token: Token, now: Moment) -> bool {
        let run = self.runs.get(partition).filter(|run| run.token == token && !run.is_cut_off);
        run.is_some() && self.window.is_open(now)
    }

    /// The session, which the next holder of this process must not have again.
    pub fn session(&self) -> u64 {
        self.session
    }

    /// Until when the work of partitions may act, unless another beat is written.
    pub fn window_until(&self) -> Moment {
        self.window.hard
    }

    /// What runs, each with its token, what is stopping included.
    pub fn running(&self) -> impl Iterator<Item = (&Partition, Token)> {
        self.runs.iter().map(|(partition, run)| (partition, run.token))
    }

    /// Does nothing run?
    pub fn is_idle(&self) -> bool {
        self.runs.is_empty()
    }

    /// Takes in what happened, and returns what is to be done.
    #[must_use]
    pub fn handle(&mut self, now: Moment, input: Input) -> Vec<Action> {
        let mut actions = Vec::new();
        self.mind_deadlines(now, &mut actions);
        match input {
            Input::Tick => {}
            Input::View(version) => self.wanted = version.or(self.wanted),
            Input::Read { slot, found } => self.take_reading(now, slot, found, &mut actions),
            Input::Unread { slot: _ } => {
                self.is_outdated = false;
                if std::mem::take(&mut self.is_reading) {
                    self.held_until = now + PAUSE;
                }
            }
            Input::Beat { sent } => self.extend_window(now, sent, &mut actions),
            Input::Stopped { partition, token } => {
                let ended = |run: &Run| run.token == token && run.is_stopping;
                if self.runs.get(&partition).is_some_and(ended) {
                    self.runs.remove(&partition);
                    self.start_again(now, partition, &mut actions);
                }
            }
            Input::Lineage(lineage) => self.take_lineage(now, lineage, &mut actions),
            Input::ClockLeapt { by } => self.date_back(now, by, &mut actions),
            Input::Leave if !self.is_leaving => {
                self.is_leaving = true;
                self.end_session(&mut actions);
            }
            Input::Leave => {}
        }
        self.read_if_moved(now, &mut actions);
        self.report(now, &mut actions);
        actions
    }

    /// When to call [`Self::handle`] with a tick, unless something else happens before.
    pub fn wakes_after(&self, now: Moment) -> Duration {
        let deadline = self.session_until().map_or(IDLE, |until| until.since(now));
        let cut_off = match self.runs.values().any(|run| run.is_stopping && !run.is_cut_off) {
            true => self.window.hard.since(now),
            false => IDLE,
        };
        let reads = !self.is_reading && self.is_behind();
        let reading = if reads { self.held_until.since(now) } else { IDLE };
        deadline.min(cut_off).min(reading)
    }

    fn take_lineage(&mut self, now: Moment, lineage: Lineage, actions: &mut Vec<Action>) {
        let known = self.lineage.replace(lineage);
        if known.is_some_and(|known| known != lineage) && !planted!(LineageKeepsSession) {
            self.end_session(actions);
            // The versions of another line of history mean nothing.
            self.document = None;
            self.is_outdated = self.is_reading;
            self.held_until = now;
        }
    }

    fn take_reading(
        &mut self,
        now: Moment,
        slot: u32,
        found: Option<(u64, Assignment)>,
        actions: &mut Vec<Action>,
    ) {
        let is_outdated = std::mem::take(&mut self.is_outdated);
        if !std::mem::take(&mut self.is_reading) || is_outdated {
            return;
        }
        let (version, content) = found.map_or((0, None), |(version, it)| (version, Some(it)));
        let version = AssignmentVersion { slot, version };
        let known = self.document.as_ref().map(|(known, _)| *known);
        let is_older = known.is_some_and(|known| known.slot == slot && version < known);
        if !is_older || planted!(StaleDocumentTaken) {
            self.document = Some((version, content));
            self.apply(now, actions);
        }
        if self.is_behind() {
            self.held_until = now + PAUSE;
        }
    }

    /// The document, if it is for this session.
    fn assignment(&self) -> Option<(AssignmentVersion, &Assignment)> {
        let (version, content) = self.document.as_ref()?;
        let is_mine = |it: &&Assignment| {
            it.boot == self.boot
                && (it.session == self.session || planted!(SessionOutlived))
                && Some(it.lineage) == self.lineage
        };
        content.as_ref().filter(is_mine).map(|it| (*version, it))
    }

    /// Brings what runs in line with the document.
    fn apply(&mut self, now: Moment, actions: &mut Vec<Action>) {
        if !self.is_open || !self.window.may_start(now) || self.is_leaving {
            return;
        }
        let Some((version, assignment)) = self.assignment() else { return };
        let held: BTreeMap<Partition, Token> = assignment.held().collect();
        self.applied = version;
        for (partition, run) in &mut self.runs {
            let stays = held.get(partition) == Some(&run.token);
            if !stays && !std::mem::replace(&mut run.is_stopping, true) {
                actions.push(Action::Stop { partition: partition.clone(), token: run.token });
            }
        }
        for (partition, token) in held {
            let known = self.runs.get(&partition).map(|run| run.token);
            if known.is_none() || (planted!(StartsBeforeStopped) && known != Some(token)) {
                self.start(partition, token, actions);
            }
        }
    }

    /// What has stopped may have been given again meanwhile.
    fn start_again(&mut self, now: Moment, partition: Partition, actions: &mut Vec<Action>) {
        let may_start = self.is_open && self.window.may_start(now) && !self.is_leaving;
        let given = self.assignment().filter(|_| may_start);
        let grants = given.map(|(_, it)| it.grants.as_slice()).unwrap_or_default();
        if let Some(grant) = grants.iter().find(|grant| grant.hold.contains(&partition)) {
            self.start(partition, grant.token, actions);
        }
    }

    fn start(&mut self, partition: Partition, token: Token, actions: &mut Vec<Action>) {
        actions.push(Action::Start { partition: partition.clone(), token });
        self.runs.insert(partition, Run { token, is_stopping: false, is_cut_off: false });
    }

    /// Has the document moved since it was read?
    fn is_behind(&self) -> bool {
        let read = self.document.as_ref().map(|(read, _)| *read);
        let is_read = |wanted: AssignmentVersion| {
            read.is_some_and(|read| read.slot == wanted.slot && read.version >= wanted.version)
        };
        self.lineage.is_some() && self.wanted.is_some_and(|wanted| !is_read(wanted))
    }

    fn read_if_moved(&mut self, now: Moment, actions: &mut Vec<Action>) {
        let Some(wanted) = self.wanted.filter(|_| self.is_behind()) else { return };
        if !self.is_reading && now >= self.held_until {
            self.is_reading = true;
            actions.push(Action::Read { slot: wanted.slot });
        }
    }
}
