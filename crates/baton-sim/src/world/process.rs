//! A simulated process: the production core, its timers, and the little that a runtime keeps.

use std::collections::BTreeMap;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, NodeId};
use baton_core::lease::Window;
use baton_core::protocol::{Failure, Hint, Reply, RequestId, ViewVersion};
use baton_core::time::Moment;
use baton_core::timer::Timer;
use baton_core::{Command, Core, LifelineReport};

use crate::clock::{SimClock, True};
use crate::fact::Condition;

/// A place where a process runs: a machine with an address and a clock.
pub struct Slot {
    /// The node id its processes go by.
    pub node: NodeId,
    /// The machine's clock.
    pub clock: SimClock,
    /// The process, if one runs.
    pub process: Option<Process>,
    /// Was it started with a node id that another slot has?
    pub twin: bool,
    /// May its node lead?
    pub eligible: bool,
}

/// Something on its way to a process.
#[derive(Clone, Debug)]
pub enum Delivery {
    /// It starts.
    Start,
    /// A timer that was set for this moment.
    Timer(Timer, Moment),
    /// A reply, perhaps from an older state of the store.
    Replied(RequestId, Box<Reply>, bool),
    /// A request that failed, or whose time is up.
    Failed(RequestId, Failure),
    /// A hint.
    Hint(Hint),
    /// A look at the lifeline it watches is due.
    Dial(BootId),
    /// What a look at a lifeline showed.
    Lifeline(BootId, LifelineReport),
    /// The term's plugins are up, or not.
    Started(Epoch, bool),
    /// The term's work has stopped.
    Stopped(Epoch),
    /// The term's next call into a plugin is due.
    Work(Epoch),
    /// A task of some epoch, which came into being at that reading of the local clock.
    Task(Epoch, Moment),
    /// The wall clock shows that the machine stood still this long, its clock with it.
    ClockLeapt(Duration),
    /// Somebody asks something.
    Command(Command),
}

/// A running process.
pub struct Process {
    /// Its boot.
    pub boot: BootId,
    /// The production core.
    pub core: Core,
    /// Is it stopped for the time being?
    pub paused: bool,
    /// The window it had open when it was paused.
    pub paused_with: Option<Window>,
    /// Since when its machine stands still, the clock with it.
    pub frozen_since: Option<True>,
    /// What came while it was paused.
    pub inbox: Vec<Delivery>,
    /// Its timers, by its own clock.
    pub timers: [Option<Moment>; Timer::ALL.len()],
    /// Requests without an answer, and when they were sent by its own clock.
    pub waiting: BTreeMap<RequestId, Moment>,
    /// The term whose work was started and not told to stop.
    pub running: Option<Epoch>,
    /// The term whose work has not stopped.
    pub working: Option<Epoch>,
    /// The process whose lifeline it watches.
    pub watches: Option<BootId>,
    /// The slot at whose address that process listens, or listened.
    pub watched_slot: usize,
    /// Is there a connection to that lifeline?
    pub connected: bool,
    /// Was that connection reset, and has the process not noticed yet?
    pub was_reset: bool,
    /// When the store last answered it.
    pub heard: True,
    /// When it started.
    pub born: True,
    /// The highest epoch it was shown.
    pub shown: Epoch,
    /// The highest epoch of its own that ended.
    pub ended: Epoch,
    /// Is it on its way out?
    pub leaving: bool,
    /// Does it know itself to be eligible?
    pub eligible: bool,
}

impl Process {
    /// A process that has not started.
    pub fn new(boot: BootId, core: Core, born: True) -> Self {
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
            watches: None,
            watched_slot: 0,
            connected: false,
            was_reset: false,
            heard: True::default(),
            born,
            shown: Epoch::NONE,
            ended: Epoch::NONE,
            leaving: false,
            eligible: core.settings().eligible,
            core,
        }
    }

    /// What it holds and does.
    pub fn condition(&self, local: Moment) -> Condition {
        Condition {
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
