//! The process of a term: a scheduler, what it waits for, and the runs that it started.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, NodeId};
use baton_core::rng::Rng;
use baton_core::schedule::scheduler::{Action, Input};
use baton_core::schedule::{AttemptEnd, AttemptId, Declared, Scheduler};
use baton_core::time::{Moment, whole_ms};

use super::{Event, World};
use crate::clock::{SimClock, TrueTime};
use crate::schedules::fact::Fact;
use crate::schedules::plan::Plan;
use crate::schedules::zones::resolve;

/// A machine, with the program that is installed on it.
pub struct Node {
    /// The clock that is never stepped.
    pub clock: SimClock,
    /// How far its wall clock is ahead of true time.
    pub wall_error_ms: i64,
    /// Which set of schedules it declares.
    pub version: usize,
}

/// What reaches the process of a term.
#[derive(Clone)]
pub enum Delivery {
    /// The time that it was to be woken at, if it was not since.
    Tick(u64),
    /// The answer to this request about a page, or that there is none.
    Reply { page: usize, request: u64, input: Input },
    /// An attempt has ended.
    Ended { attempt: AttemptId, end: AttemptEnd },
    /// A person may have changed a page.
    Edited,
    /// This set of schedules is declared from now on.
    Declare(usize),
    /// The term is to stop.
    Stop,
}

/// The process of a term.
pub struct Term {
    pub epoch: Epoch,
    pub node: usize,
    pub scheduler: Scheduler,
    /// Which scheduler of the term it is.
    pub number: u32,
    boot: BootId,
    /// Is its window open, and is it not being handed over?
    pub may_start: bool,
    pub is_asleep: bool,
    pub is_dead: bool,
    /// Does it report how its runs end?
    pub reports: bool,
    /// What runs, with the number of the event that will end it.
    pub runs: BTreeMap<AttemptId, u64>,
    pub run_numbers: u64,
    /// The request under way for each page.
    pub requests: BTreeMap<usize, u64>,
    pub request_numbers: u64,
    wakes: u64,
    /// What has come while it was asleep.
    deferred: Vec<Delivery>,
    ended: BTreeMap<AttemptId, TrueTime>,
}

impl Node {
    /// A machine whose clocks are a little wrong.
    pub fn new(plan: &Plan, rng: &mut Rng) -> Self {
        let offset = rng.span(Duration::ZERO, Duration::from_secs(1_000_000));
        let ppm = rng.below(1_001) as i64 - 500;
        let mut node = Self { clock: SimClock::new(offset, ppm), wall_error_ms: 0, version: 0 };
        node.set_wall_error(plan, rng);
        node
    }

    /// Its wall clock is wrong by another amount from now on.
    pub fn set_wall_error(&mut self, plan: &Plan, rng: &mut Rng) {
        let most = whole_ms(plan.wall_error);
        self.wall_error_ms = rng.below(2 * most + 1) as i64 - most as i64;
    }

    /// What its wall clock shows.
    pub fn wall_ms(&self, start_ms: u64, at: TrueTime) -> u64 {
        (start_ms + at.as_micros() / 1_000).saturating_add_signed(self.wall_error_ms)
    }
}

impl Term {
    /// A term that has just been granted.
    pub fn new(epoch: Epoch, node: usize, boot: BootId) -> Self {
        Self {
            epoch,
            node,
            scheduler: Scheduler::new(node_id(node), boot, epoch, Arc::default()),
            number: 0,
            boot,
            may_start: true,
            is_asleep: false,
            is_dead: false,
            reports: true,
            runs: BTreeMap::new(),
            run_numbers: 0,
            requests: BTreeMap::new(),
            request_numbers: 0,
            wakes: 0,
            deferred: Vec::new(),
            ended: BTreeMap::new(),
        }
    }

    /// Another scheduler takes the place of one that failed. Answers to that one do not reach it.
    pub fn restart(&mut self) {
        self.number += 1;
        let scheduler = Scheduler::new(node_id(self.node), self.boot, self.epoch, Arc::default());
        self.scheduler = scheduler.restarted(self.number);
        self.requests.clear();
    }

    /// An attempt's end was reported.
    pub fn remember_end(&mut self, attempt: AttemptId, at: TrueTime) {
        self.ended.insert(attempt, at);
    }

    /// The attempts whose end was reported within the last seconds.
    pub fn just_ended(&self, now: TrueTime) -> BTreeSet<AttemptId> {
        let recent = Duration::from_secs(3);
        let ended = self.ended.iter().filter(|(_, at)| now.since(**at) < recent);
        ended.map(|(attempt, _)| attempt.clone()).collect()
    }

    /// Falls to the process when it goes on: all that has come meanwhile.
    pub fn wake(&mut self) -> Vec<Delivery> {
        self.is_asleep = false;
        std::mem::take(&mut self.deferred)
    }
}

fn node_id(number: usize) -> NodeId {
    NodeId::new(&format!("n{number}")).expect("a valid name")
}

/// The schedules of a set, ready to be declared.
pub fn declared(plan: &Plan, version: usize) -> Arc<Declared> {
    let mut set = Declared::default();
    for definition in &plan.versions[version] {
        set.set(resolve(definition)).expect("a set of this world is valid");
    }
    Arc::new(set)
}

impl World {
    /// The term whose runs may start, if there is one.
    pub(super) fn leading(&self) -> Option<Epoch> {
        self.terms.values().rev().find(|term| term.may_start && !term.is_dead).map(|it| it.epoch)
    }

    /// Something reaches the process of a term, which may be asleep or dead.
    pub(super) fn deliver(&mut self, epoch: Epoch, delivery: Delivery) {
        let Some(term) = self.terms.get_mut(&epoch).filter(|term| !term.is_dead) else { return };
        if term.is_asleep {
            term.deferred.push(delivery);
            return;
        }
        let input = match delivery {
            Delivery::Tick(number) if number != term.wakes => return,
            Delivery::Tick(_) => Input::Tick,
            Delivery::Reply { page, request, input } => {
                if term.requests.get(&page) != Some(&request) {
                    return;
                }
                term.requests.remove(&page);
                input
            }
            Delivery::Ended { attempt, end } => {
                term.remember_end(attempt.clone(), self.now);
                Input::Ended { attempt, end }
            }
            Delivery::Edited => Input::Edited,
            Delivery::Stop => Input::Stop,
            Delivery::Declare(version) => {
                self.nodes[term.node].version = version;
                Input::Declare(declared(&self.plan, version))
            }
        };
        self.handle(epoch, input);
    }

    fn handle(&mut self, epoch: Epoch, input: Input) {
        let Some(term) = self.terms.get_mut(&epoch) else { return };
        let node = &self.nodes[term.node];
        let (now, wall_ms) =
            (node.clock.read(self.now), node.wall_ms(self.plan.start_ms, self.now));
        self.trace.line(self.now, || format!("e{epoch} {}", summary(&input)));
        let is_tick = matches!(input, Input::Tick);
        let actions = term.scheduler.handle(now, wall_ms, input);
        let wait = term.scheduler.wakes_after(now, wall_ms);
        if is_tick && actions.is_empty() && wait.is_zero() && !term.scheduler.is_over() {
            self.fact(&Fact::WokenInVain(epoch));
        }
        for action in actions {
            self.act(epoch, wall_ms, action);
        }
        self.sleep_until_due(epoch, now, wall_ms);
    }

    fn sleep_until_due(&mut self, epoch: Epoch, now: Moment, wall_ms: u64) {
        let Some(term) = self.terms.get_mut(&epoch) else { return };
        if term.scheduler.is_over() {
            return;
        }
        term.wakes += 1;
        let tick = Event::Deliver(epoch, Delivery::Tick(term.wakes));
        let wait = term.scheduler.wakes_after(now, wall_ms).max(Duration::from_millis(1));
        self.after(wait, tick);
    }

    fn act(&mut self, epoch: Epoch, wall_ms: u64, action: Action) {
        match action {
            Action::Read { page } => self.send_read(epoch, page),
            Action::Write { page, version, content } => {
                self.send_write(epoch, wall_ms, (page, version, content));
            }
            Action::Start { attempt, run } => self.start_run(epoch, attempt, &run),
            Action::Stop(attempt) => self.stop_run(epoch, &attempt),
            Action::Tell(event) => self.line(|| format!("e{epoch} tells {event:?}")),
        }
    }
}

fn summary(input: &Input) -> String {
    match input {
        Input::Read { page, found } => {
            let version = found.as_ref().map_or(0, |(version, _)| *version);
            format!("has read page {page}, version {version}")
        }
        Input::Declare(_) => "declares another set".to_owned(),
        other => format!("{other:?}"),
    }
}
