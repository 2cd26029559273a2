//! One run: coordinators and holders, a store, machines that fail, people, and time.
//!
//! ```text
//!   queue ──► event ──► term:    Coordinator::handle ──► actions ──► requests ──► store ──► queue
//!     ▲           └───► process: Holder::handle ──► actions ──┬► requests, beats
//!     │                                                       └► work that starts and stops
//!     └── leadership, machines, people: what is drawn           facts ──► invariants
//! ```

mod disturb;
mod leadership;
mod process;
mod requests;
mod term;
mod work;

use std::collections::BTreeMap;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, NodeId};
use baton_core::partition::{Partition, TaskList, TaskListStatus};
use baton_core::rng::Rng;

use super::fact::{CalmState, Fact};
use super::fault::Fault;
use super::invariants::{self, Checker};
use super::plan::Plan;
use super::store::Store;
use crate::clock::{SimClock, TrueTime};
use crate::invariants::Violation;
use crate::scripted::{FaultCounts, Outcome, Stats};
use crate::trace::Trace;
use crate::world::Queue;
use process::Process;
use requests::Message;
use term::Term;
use work::WorkId;

/// Something that is due.
enum Event {
    ToTerm(Epoch, term::Delivery),
    ToProcess(BootId, process::Delivery),
    AtStore(Box<Message>),
    /// The work of a partition has stopped.
    WorkStops(WorkId),
    /// The window of a process may have closed: what guards its work looks.
    WindowCloses(BootId),
    Grant,
    TermEnds(Epoch),
    WakeTerm(Epoch),
    Disturb,
    WakeProcess(BootId),
    Start(usize),
    LeavesNow(BootId),
    StoreGoes,
    StoreReturns,
    Copy,
    LoseData,
    People,
    FaultsStop,
    CalmOver,
}

/// A machine: its clock, and the process that runs on it.
struct Machine {
    clock: SimClock,
    id: NodeId,
    boot: Option<BootId>,
}

/// A run in progress.
struct World {
    plan: Plan,
    now: TrueTime,
    queue: Queue<Event>,
    rng: Rng,
    store: Store,
    machines: Vec<Machine>,
    processes: BTreeMap<BootId, Process>,
    terms: BTreeMap<Epoch, Term>,
    /// Processes that are proved dead.
    dead: Vec<BootId>,
    lists: Vec<TaskList>,
    list_numbers: u32,
    /// What people have moved by hand.
    moved: BTreeMap<Partition, NodeId>,
    is_paused: bool,
    boots: u128,
    lost_data: bool,
    calm_since: Option<TrueTime>,
    is_over: bool,
    checkers: Vec<Checker>,
    violation: Option<Violation>,
    faults: FaultCounts<Fault>,
    stats: Stats,
    trace: Trace,
}

/// Runs one plan to the end, or to the first broken promise.
pub fn run_plan(plan: Plan, trace: Trace) -> Outcome<Fault> {
    let mut world = World::new(plan, trace);
    while !world.is_over && world.violation.is_none() {
        let Some((at, event)) = world.queue.pop() else { break };
        world.now = at;
        world.stats.events += 1;
        world.happen(event);
    }
    world.stats.simulated = world.now.since(TrueTime::default());
    Outcome {
        seed: world.plan.seed,
        violation: world.violation,
        faults: world.faults,
        stats: world.stats,
        trace: world.trace.into_text(),
    }
}

impl World {
    fn new(plan: Plan, trace: Trace) -> Self {
        let mut rng = Rng::new(plan.seed ^ 0x9a27_1710_0007);
        let machine = |number: usize| {
            let offset = rng.span(Duration::ZERO, Duration::from_secs(1_000_000));
            let ppm = rng.below(9_001) as i64 - 4_500;
            let id = NodeId::new(&format!("n{number}")).expect("a valid name");
            Machine { clock: SimClock::new(offset, ppm), id, boot: None }
        };
        let machines = (0..plan.machines).map(machine).collect();
        let mut world = Self {
            now: TrueTime::default(),
            queue: Queue::default(),
            rng,
            store: Store::default(),
            machines,
            processes: BTreeMap::new(),
            terms: BTreeMap::new(),
            dead: Vec::new(),
            lists: Vec::new(),
            list_numbers: 0,
            moved: BTreeMap::new(),
            is_paused: false,
            boots: 0,
            lost_data: false,
            calm_since: None,
            is_over: false,
            checkers: invariants::all(),
            violation: None,
            faults: FaultCounts::default(),
            stats: Stats::default(),
            trace,
            plan,
        };
        world.begin();
        world
    }

    fn begin(&mut self) {
        for partitions in self.plan.lists.clone() {
            self.add_list(partitions);
        }
        for machine in 0..self.machines.len() {
            let starts = self.span_ms(0, 3_000);
            self.after(starts, Event::Start(machine));
        }
        self.after(Duration::from_millis(10), Event::Grant);
        self.after(self.plan.storm, Event::FaultsStop);
        self.after(self.plan.storm + self.plan.calm(), Event::CalmOver);
        self.schedule_disturbances();
    }

    fn add_list(&mut self, partitions: u32) {
        self.list_numbers += 1;
        let id = format!("l{}", self.list_numbers).parse().expect("a valid name");
        self.lists.push(TaskList::new(id, partitions));
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::ToTerm(epoch, delivery) => self.deliver_to_term(epoch, delivery),
            Event::ToProcess(boot, delivery) => self.deliver(boot, delivery),
            Event::AtStore(message) => self.reach_store(*message),
            Event::WorkStops(work) => self.work_stops(&work),
            Event::WindowCloses(boot) => self.window_closes(boot),
            Event::Grant => self.grant(),
            Event::TermEnds(epoch) => self.term_ends(epoch),
            Event::WakeTerm(epoch) => self.wake_term(epoch),
            Event::Disturb => self.disturb(),
            Event::WakeProcess(boot) => self.wake_process(boot),
            Event::Start(machine) => self.start_process(machine),
            Event::LeavesNow(boot) => self.leaves_now(boot),
            Event::StoreGoes => self.store_goes(),
            Event::StoreReturns => self.store.is_away = false,
            Event::Copy => self.keep_copy(),
            Event::LoseData => self.lose_data(),
            Event::People => self.people_act(),
            Event::FaultsStop => self.stop_faults(),
            Event::CalmOver => self.calm_over(),
        }
    }

    fn is_calm(&self) -> bool {
        self.calm_since.is_some()
    }

    fn after(&mut self, span: Duration, event: Event) {
        self.queue.push(self.now + span, event);
    }

    /// A span about as long as this one: half to one and a half times.
    fn about(&mut self, span: Duration) -> Duration {
        self.rng.span(span / 2, span * 3 / 2)
    }

    fn span_ms(&mut self, least: u64, most: u64) -> Duration {
        self.rng.span(Duration::from_millis(least), Duration::from_millis(most))
    }

    /// Does this fault happen, now that it could?
    fn draws(&mut self, fault: Fault) -> bool {
        let happens = !self.is_calm() && self.plan.has(fault);
        if happens {
            self.faults.count(fault);
        }
        happens
    }

    fn line(&mut self, text: impl FnOnce() -> String) {
        self.trace.line(self.now, text);
    }

    /// Shows a fact to every checker.
    fn fact(&mut self, fact: &Fact<'_>) {
        for checker in &mut self.checkers {
            if let Err(message) = (checker.check)(fact) {
                self.violation.get_or_insert(Violation {
                    invariant: checker.invariant.to_owned(),
                    promise: checker.promise.to_owned(),
                    at: self.now,
                    message,
                });
            }
        }
    }

    fn stop_faults(&mut self) {
        self.calm_since = Some(self.now);
        self.line(|| "calm".to_owned());
        self.store.is_away = false;
        self.is_paused = false;
        self.moved.clear();
        self.processes.values_mut().for_each(|process| process.deaf_until = self.now);
        for machine in 0..self.machines.len() {
            match self.machines[machine].boot {
                Some(boot) => self.wake_process(boot),
                None => self.start_process(machine),
            }
        }
        match self.leading() {
            Some(epoch) => {
                self.wake_term(epoch);
                self.deliver_to_term(epoch, term::Delivery::Lists);
            }
            None => self.after(Duration::from_millis(100), Event::Grant),
        }
    }

    fn calm_over(&mut self) {
        self.is_over = true;
        let lists: Vec<TaskList> =
            self.lists.iter().filter(|it| it.status == TaskListStatus::Active).cloned().collect();
        let running = self.processes.iter().filter(|(_, it)| !it.is_dead);
        let running = running.map(|(boot, process)| (*boot, process.running())).collect();
        self.fact(&Fact::Calm(&CalmState { lists: &lists, running, now: self.now }));
    }
}
