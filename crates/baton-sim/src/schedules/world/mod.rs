//! One run: terms with the production scheduler, a store, people, deploys, and time.
//!
//! ```text
//!   queue ──► event ──► term: Scheduler::handle ──► actions ──► requests ──► store ──► queue
//!     ▲                                                └──► runs ──► queue
//!     └── leadership, people, disturbances: what is drawn        facts ──► invariants
//! ```

mod disturb;
mod leadership;
mod people;
mod requests;
mod runs;
mod term;

use std::time::Duration;

use baton_core::ids::Epoch;
use baton_core::rng::Rng;
use baton_core::schedule::entry::Claimant;
use baton_core::schedule::{Definition, Page};

use super::commit::{Author, Commit};
use super::fact::{CalmState, Fact};
use super::fault::Fault;
use super::invariants::{self, Checker};
use super::plan::Plan;
use super::store::PageStore;
use super::zones::Resolved;
use crate::clock::TrueTime;
use crate::invariants::Violation;
use crate::scripted::{FaultCounts, Outcome, Stats};
use crate::trace::Trace;
use crate::world::Queue;
use people::EditAttempt;
use requests::Message;
use term::{Delivery, Node, Term};

/// Something that is due.
enum Event {
    /// Something reaches the process of a term.
    Deliver(Epoch, Delivery),
    AtStore(Box<Message>),
    RunEnds(Epoch, runs::RunEnd),
    /// The next term is granted.
    Grant,
    /// A term's time is over, in one way or another.
    TermEnds(Epoch),
    /// What ran in a term that is handed over has had its time to stop.
    HandedOver(Epoch),
    /// The window of a paused leader closes.
    WindowCloses(Epoch),
    Resume(Epoch),
    /// The process of a term that is long over ends.
    Retire(Epoch),
    Edit,
    EditReaches(Box<EditAttempt>),
    Deploy,
    WallStep,
    SchedulerFails,
    StoreGoes,
    StoreReturns,
    FaultsStop,
    CalmOver,
}

/// A run in progress.
struct World {
    plan: Plan,
    now: TrueTime,
    queue: Queue<Event>,
    rng: Rng,
    store: PageStore,
    nodes: Vec<Node>,
    terms: std::collections::BTreeMap<Epoch, Term>,
    boots: u128,
    edits: u64,
    newest_version: usize,
    is_calm: bool,
    is_over: bool,
    resolved: Resolved,
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
        let mut rng = Rng::new(plan.seed ^ 0x5c4e_d01e_0007);
        let nodes = (0..plan.nodes).map(|_| Node::new(&plan, &mut rng)).collect();
        let mut world = Self {
            now: TrueTime::default(),
            queue: Queue::default(),
            rng,
            store: PageStore::default(),
            nodes,
            terms: std::collections::BTreeMap::new(),
            boots: 0,
            edits: 0,
            newest_version: 0,
            is_calm: false,
            is_over: false,
            resolved: Resolved::default(),
            checkers: invariants::all(),
            violation: None,
            faults: FaultCounts::default(),
            stats: Stats::default(),
            trace,
            plan,
        };
        if world.plan.has_clock_change {
            world.count(Fault::ClockChange);
        }
        world.after(Duration::ZERO, Event::Grant);
        world.after(world.plan.storm, Event::FaultsStop);
        world.after(world.plan.storm + world.plan.calm, Event::CalmOver);
        world.schedule_disturbances();
        world
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Deliver(epoch, delivery) => self.deliver(epoch, delivery),
            Event::AtStore(message) => self.reach_store(&message),
            Event::RunEnds(epoch, end) => self.run_ends(epoch, end),
            Event::Grant => self.grant(),
            Event::TermEnds(epoch) => self.term_ends(epoch),
            Event::HandedOver(epoch) => self.handed_over(epoch),
            Event::WindowCloses(epoch) => self.window_closes(epoch),
            Event::Resume(epoch) => self.resume(epoch),
            Event::Retire(epoch) => self.retire(epoch),
            Event::Edit => self.edit(),
            Event::EditReaches(attempt) => self.edit_reaches(*attempt),
            Event::Deploy => self.deploy(),
            Event::WallStep => self.wall_step(),
            Event::SchedulerFails => self.scheduler_fails(),
            Event::StoreGoes => self.store_goes(),
            Event::StoreReturns => self.store.is_away = false,
            Event::FaultsStop => self.stop_faults(),
            Event::CalmOver => self.calm_over(),
        }
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

    fn count(&mut self, fault: Fault) {
        self.faults.count(fault);
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

    /// A page was changed.
    fn committed(&mut self, page: usize, (before, after): (&Page, &Page), author: Author) {
        let mut resolved = std::mem::take(&mut self.resolved);
        let commit = Commit::new((page, before, after), author, &mut resolved);
        self.stats.count("page writes", 1);
        let slots = commit.changes.iter().map(|it| it.due.len() as u64).sum();
        self.stats.count("slots", slots);
        self.fact(&Fact::Committed(&commit));
        self.resolved = resolved;
    }

    fn stop_faults(&mut self) {
        self.is_calm = true;
        self.line(|| "calm".to_owned());
        for node in &mut self.nodes {
            node.wall_error_ms = node.wall_error_ms.clamp(-50, 50);
            node.version = self.newest_version;
        }
        let declared = Delivery::Declare(self.newest_version);
        if let Some(epoch) = self.leading() {
            self.after(Duration::ZERO, Event::Deliver(epoch, declared));
        }
    }

    fn calm_over(&mut self) {
        self.is_over = true;
        let Some(term) = self.terms.values().next_back() else { return };
        let (epoch, number, node) = (term.epoch, term.number, &self.nodes[term.node]);
        let declared: Vec<Definition> = self.plan.versions[node.version].clone();
        let pages = self.store.pages().to_vec();
        let state = CalmState {
            wall_ms: node.wall_ms(self.plan.start_ms, self.now),
            claimant: Claimant { epoch, number },
            pages: &pages,
            declared: &declared,
            running: term.runs.keys().cloned().collect(),
            just_ended: term.just_ended(self.now),
        };
        self.fact(&Fact::Calm(&state));
    }
}
