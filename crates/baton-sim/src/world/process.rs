//! A simulated process: the production core, its timers, and the little that a runtime keeps.

use std::collections::BTreeMap;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, NodeId};
use baton_core::lease::Window;
use baton_core::protocol::{Failure, Hint, Reply, RequestId, ViewVersion};
use baton_core::time::Moment;
use baton_core::timer::Timer;
use baton_core::{Command, Core, LifelineReport};

use crate::clock::{SimClock, TrueTime};
use crate::fact::ProcessState;

/// A place where a process runs: a machine with an address and a clock.
pub struct Machine {
    /// The node id its processes go by.
    pub node: NodeId,
    /// The machine's clock.
    pub clock: SimClock,
    pub process: Option<Process>,
    /// Was it started with a node id that another slot has?
    pub twin: bool,
    pub eligible: bool,
}

/// Something on its way to a process.
#[derive(Clone, Debug)]
pub enum Delivery {
    Start,
    Timer(Timer, Moment),
    /// A reply, perhaps from an older state of the store.
    Replied(RequestId, Box<Reply>, bool),
    /// A request that failed, or whose time is up.
    Failed(RequestId, Failure),
    Hint(Hint),
    /// A look at the lifeline it watches is due.
    Dial(BootId),
    Lifeline(BootId, LifelineReport),
    Started(Epoch, bool),
    Stopped(Epoch),
    /// The term's next call into a plugin is due.
    Work(Epoch),
    /// A task of some epoch, which came into being at that reading of the local clock.
    Task(Epoch, Moment),
    /// The wall clock shows that the machine stood still this long, its clock with it.
    ClockLeapt(Duration),
    Command(Command),
}

/// A lifeline that a process watches.
pub struct WatchedLifeline {
    /// The slot at whose address the other process listens, or listened.
    pub slot: usize,
    pub connected: bool,
    /// Was that connection reset, and has the process not noticed yet?
    pub was_reset: bool,
}

/// A running process.
pub struct Process {
    pub boot: BootId,
    pub core: Core,
    pub paused: bool,
    /// The window it had open when it was paused.
    pub paused_with: Option<Window>,
    /// Since when its machine stands still, the clock with it.
    pub frozen_since: Option<TrueTime>,
    /// What came while it was paused.
    pub inbox: Vec<Delivery>,
    /// Its timers, by its own clock.
    pub timers: [Option<Moment>; Timer::ALL.len()],
    /// Requests without an answer, and when they were sent by its own clock.
    pub waiting: BTreeMap<RequestId, Moment>,
    /// The term whose work was started and not told to stop.
    pub running: Option<Epoch>,
    pub working: Option<Epoch>,
    /// The processes whose lifelines it watches.
    pub watches: BTreeMap<BootId, WatchedLifeline>,
    pub last_reply_at: TrueTime,
    pub started_at: TrueTime,
    /// The highest epoch it was shown.
    pub shown: Epoch,
    /// The highest epoch of its own that ended.
    pub ended: Epoch,
    pub leaving: bool,
    pub eligible: bool,
}

impl Process {
    /// A process that has not started.
    pub fn new(boot: BootId, core: Core, started_at: TrueTime) -> Self {
        Self {
            boot,
            paused: false,
            paused_with: None,
            frozen_since: None,
            inbox: Vec::new(),
            timers: [None; Timer::ALL.len()],
            waiting: BTreeMap::new(),
            running: None,
            working: None,
            watches: BTreeMap::new(),
            last_reply_at: TrueTime::default(),
            started_at,
            shown: Epoch::NONE,
            ended: Epoch::NONE,
            leaving: false,
            eligible: core.settings().eligible,
            core,
        }
    }

    /// What it holds and does.
    pub fn state(&self, local: Moment) -> ProcessState {
        ProcessState {
            local,
            running: self.running,
            holding: self.core.held_epoch(),
            window: self.core.window(local),
            known_epoch: self.core.known_epoch(),
            known_view: self.known_view(),
            leaving: self.leaving,
        }
    }

    /// The view it knows.
    pub fn known_view(&self) -> ViewVersion {
        self.core.view().map(|view| view.version).unwrap_or_default()
    }
}
