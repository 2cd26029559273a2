//! One simulated cluster: nodes that run the production core, a store, a network, and time.
//!
//! ```text
//!   queue ──► event ──► process: Core::handle ──► actions ──► net ──► store ──► net ──► queue
//!     ▲                    │                                  faults on the way
//!     └── chaos: scheduled faults                 facts ──► invariants
//! ```

mod act;
mod chaos;
mod flood;
mod lifecycle;
mod lifeline;
mod net;
mod process;
mod queue;
mod recovery;
mod script;
mod store;
mod succession;

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::BootId;
use baton_core::rng::Rng;

pub use process::{Delivery, Machine, Process};
pub use queue::Queue;
pub use script::{Script, ScriptedFault};
use store::SimStore;

use crate::clock::{SimClock, TrueTime};
use crate::coverage::Coverage;
use crate::fact::{Fact, OpenWindow, ProcessId};
use crate::invariants::{self, Checker, Violation};
use crate::outcome::{Outcome, Stats};
use crate::plan::Plan;
use crate::trace::Trace;
use net::{Message, NetworkCuts};

/// Something that is due.
pub enum Event {
    /// Something reaches a process, if that boot still runs.
    Deliver(ProcessId, Delivery),
    AtStore(Box<Message>),
    Resume(ProcessId),
    Boot(usize),
    StoreBack,
    Mend(usize),
    /// The next scheduled fault.
    Chaos,
    /// The next forged hints of a flood.
    Forge(flood::Flood),
    /// The store loses the grant it has just made.
    LoseGrant,
    Scripted(ScriptedFault),
    /// A leader's death at the end of the calm, to time the last failover.
    LastKill,
    FaultsStop,
    /// The time within which something must have happened is over.
    Deadline(recovery::Deadline),
    /// Everything has recovered: leaders are killed in quick succession.
    Succession,
    /// The next one is.
    Strike,
    /// The time in which it must have been followed is over.
    Succeeded,
    End,
}

/// A run in progress.
pub struct World {
    plan: Arc<Plan>,
    now: TrueTime,
    queue: Queue<Event>,
    rng: Rng,
    machines: Vec<Machine>,
    store: SimStore,
    cuts: NetworkCuts,
    boots: u128,
    recovery: recovery::Recovery,
    succession: succession::Succession,
    restart: Option<Duration>,
    checked: bool,
    checkers: Vec<Checker>,
    violation: Option<Violation>,
    open: Vec<OpenWindow>,
    coverage: Coverage,
    stats: Stats,
    trace: Trace,
    over: bool,
}

impl World {
    /// A cluster that is about to start, and to meet the faults of its plan.
    pub fn new(plan: Arc<Plan>, trace: Trace) -> Self {
        let mut world = Self::quiet(plan, trace);
        world.schedule_course();
        world
    }

    /// A cluster that is about to start, and to meet nothing.
    fn quiet(plan: Arc<Plan>, trace: Trace) -> Self {
        let mut rng = Rng::new(plan.seed ^ 0x05ee_d0fb_a70f);
        let store_clock = SimClock::new(
            rng.span(Duration::ZERO, Duration::from_secs(1_000_000)),
            drift(&mut rng, plan.drift_ppm),
        );
        let mut world = Self {
            store: SimStore::new(&plan, store_clock),
            checkers: invariants::for_plan(&plan),
            now: TrueTime::default(),
            queue: Queue::default(),
            rng,
            machines: Vec::new(),
            cuts: NetworkCuts::default(),
            boots: 0,
            recovery: recovery::Recovery::default(),
            succession: succession::Succession::default(),
            restart: None,
            checked: true,
            violation: None,
            open: Vec::new(),
            coverage: Coverage::default(),
            stats: Stats::default(),
            trace,
            over: false,
            plan,
        };
        for slot in 0..world.plan.nodes {
            world.add_machine(slot, false);
            let at = world.now + world.span_ms(0, 3_000);
            world.queue.push(at, Event::Boot(slot));
        }
        world
    }

    /// Adds a checker of the caller's own.
    pub fn add_checker(&mut self, checker: Checker) {
        self.checkers.push(checker);
    }

    /// Runs without checkers, for measuring large clusters.
    pub fn unchecked(mut self) -> Self {
        self.checked = false;
        self
    }

    /// Runs to the end, or to the first broken promise.
    pub fn run(mut self) -> Outcome {
        while !self.over && self.violation.is_none() {
            let Some((at, event)) = self.queue.pop() else { break };
            self.now = at;
            self.stats.events += 1;
            self.happen(event);
            self.look_at_windows();
        }
        self.stats.simulated = self.now.since(TrueTime::default());
        Outcome {
            seed: self.plan.seed,
            violation: self.violation,
            coverage: self.coverage,
            stats: self.stats,
            trace: self.trace.into_text(),
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Deliver(pid, delivery) => self.deliver(pid, delivery),
            Event::AtStore(message) => self.reach_store(message),
            Event::Resume(pid) => self.resume(pid),
            Event::Boot(slot) => self.boot(slot),
            Event::StoreBack => self.store_back(),
            Event::Mend(slot) => self.cuts.mend(slot),
            Event::Chaos => self.chaos(),
            Event::Forge(flood) => self.forge(flood),
            Event::LoseGrant => self.lose_grant(),
            Event::Scripted(step) => self.inject_scripted(step),
            Event::LastKill => self.last_kill(),
            Event::FaultsStop => self.stop_faults(),
            Event::Deadline(deadline) => self.deadline(deadline),
            Event::Succession => self.begin_succession(),
            Event::Strike => self.kill_leader(),
            Event::Succeeded => self.succeeded(),
            Event::End => self.over = true,
        }
    }

    /// Shows a fact to every checker.
    fn fact(&mut self, fact: &Fact<'_>) {
        if self.violation.is_some() || !self.checked {
            return;
        }
        for Checker { promise, invariant, check } in &mut self.checkers {
            if let Err(message) = check(fact) {
                let (promise, invariant) = (*promise, *invariant);
                return self.violate(promise, invariant, message);
            }
        }
    }

    /// A promise that only the world itself can check is broken.
    fn violate(&mut self, promise: &str, invariant: &str, message: String) {
        let (invariant, promise) = (invariant.to_owned(), promise.to_owned());
        let violation = Violation { invariant, promise, at: self.now, message };
        self.violation.get_or_insert(violation);
    }

    fn look_at_windows(&mut self) {
        if !self.checked {
            return;
        }
        let mut open = std::mem::take(&mut self.open);
        open.clear();
        for (slot, machine) in self.machines.iter().enumerate() {
            let Some(process) = &machine.process else { continue };
            if let Some((epoch, _)) = process.core.window(machine.clock.read(self.now)) {
                open.push(OpenWindow { pid: ProcessId { slot, boot: process.boot }, epoch });
            }
        }
        self.fact(&Fact::OpenWindows(&open));
        self.open = open;
    }

    fn process(&self, pid: ProcessId) -> Option<&Process> {
        self.machines.get(pid.slot)?.process.as_ref().filter(|process| process.boot == pid.boot)
    }

    fn process_mut(&mut self, pid: ProcessId) -> Option<&mut Process> {
        let process = self.machines.get_mut(pid.slot)?.process.as_mut();
        process.filter(|process| process.boot == pid.boot)
    }

    /// Every running process.
    fn processes(&self) -> Vec<ProcessId> {
        let pid = |(slot, machine): (usize, &Machine)| {
            machine.process.as_ref().map(|process| ProcessId { slot, boot: process.boot })
        };
        self.machines.iter().enumerate().filter_map(pid).collect()
    }

    /// The process whose work runs, if one does.
    fn leader(&self) -> Option<ProcessId> {
        let leads = |pid: &ProcessId| {
            let local = self.machines[pid.slot].clock.read(self.now);
            self.process(*pid).is_some_and(|process| process.core.is_leader(local))
        };
        self.processes().into_iter().find(leads)
    }

    /// A length of time between these, in milliseconds.
    fn span_ms(&mut self, low: u64, high: u64) -> Duration {
        self.rng.span(Duration::from_millis(low), Duration::from_millis(high))
    }

    fn next_boot(&mut self) -> BootId {
        self.boots += 1;
        BootId(self.boots)
    }
}

/// A clock rate within the bound.
fn drift(rng: &mut Rng, bound_ppm: i64) -> i64 {
    let bound = bound_ppm.unsigned_abs();
    rng.between(0, 2 * bound) as i64 - bound_ppm
}
