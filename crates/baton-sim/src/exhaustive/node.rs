//! A node of the model: the production core and the little that a runtime keeps beside it.

use std::hash::{Hash, Hasher};

use baton_core::Core;
use baton_core::ids::{BootId, Epoch};
use baton_core::protocol::RequestId;
use baton_core::time::Moment;
use baton_core::timer::Timer;

use super::bounds::local;
use super::check::ProcessAnswers;

/// A place where processes of one node run, one after the other.
#[derive(Clone, Hash)]
pub struct NodeSlot {
    pub generation: u8,
    pub process: Option<Process>,
}

/// Is a process running?
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunState {
    Running,
    /// It was paused in this very tick: to resume at once would be no pause.
    JustPaused,
    Paused,
}

/// The watch on another process's lifeline.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Watch {
    pub boot: BootId,
    pub is_reported: bool,
}

/// A running process.
#[derive(Clone)]
pub struct Process {
    pub core: Core,
    /// Its timers, by its own clock. The core knows the same, so they are not hashed twice.
    pub timers: [Option<Moment>; Timer::ALL.len()],
    /// Requests without an answer, and the tick in which each times out.
    pub waiting: Vec<(RequestId, u32)>,
    pub state: RunState,
    pub working: Option<Epoch>,
    /// The term whose work was told to stop, and the tick by which it does.
    pub stopping: Option<(Epoch, u32)>,
    pub watch: Option<Watch>,
    /// The highest epoch whose window was open here and closed since.
    pub closed: Epoch,
    /// How many ticks its clock is behind: zero unless a wrong rule is searched.
    pub lag: u32,
    /// How many ticks it has been paused: zero unless a wrong rule is searched.
    pub slept: u32,
}

/// The timers are the core's own: its hash has them.
impl Hash for Process {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { core, timers: _, waiting, state, working, stopping, watch, closed, lag, slept } =
            self;
        (core, waiting, state, working, stopping, watch, closed, lag, slept).hash(hasher);
    }
}

impl Process {
    /// A process that has not started.
    pub fn new(core: Core) -> Self {
        Self {
            core,
            timers: [None; Timer::ALL.len()],
            waiting: Vec::new(),
            state: RunState::Running,
            working: None,
            stopping: None,
            watch: None,
            closed: Epoch::NONE,
            lag: 0,
            slept: 0,
        }
    }

    /// Its boot.
    pub fn boot(&self) -> BootId {
        self.core.identity().boot
    }

    /// Is it running?
    pub fn is_running(&self) -> bool {
        self.state == RunState::Running
    }

    /// What its clock reads.
    pub fn clock(&self, slot: usize, tick: u32) -> Moment {
        local(slot, tick.saturating_sub(self.lag))
    }

    /// The timer that is due, the earliest if there are several.
    pub fn due_timer(&self, now: Moment) -> Option<Timer> {
        let due = |timer: Timer| {
            let at = self.timers[timer as usize].filter(|at| *at <= now)?;
            Some((at, timer))
        };
        Timer::ALL.into_iter().filter_map(due).min().map(|(_, timer)| timer)
    }

    /// The epoch of its open window.
    pub fn open(&self, now: Moment) -> Option<Epoch> {
        self.core.window(now).map(|(epoch, _)| epoch)
    }

    /// What it would answer if it were asked now.
    pub fn answers(&self, slot: usize, now: Moment) -> ProcessAnswers {
        let held = self.core.held_epoch();
        ProcessAnswers {
            slot,
            open: self.open(now),
            starts: held.filter(|epoch| self.core.may_start_work(now, *epoch)),
            closed: self.closed,
        }
    }
}
