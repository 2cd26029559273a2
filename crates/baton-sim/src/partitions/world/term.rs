//! A term: its coordinator, and what it waits for.

use std::time::Duration;

use baton_core::ids::{BootId, Epoch, Lineage};
use baton_core::partition::coordinator::{Action, Input};
use baton_core::partition::{Coordinator, Wanted};
use baton_core::protocol::{Member, ViewVersion};
use baton_core::time::Moment;

use super::requests::{Content, Sender};
use super::{Event, World, process};
use crate::partitions::fact::Fact;
use crate::partitions::fault::Fault;
use crate::partitions::store::Assignments;

/// What reaches the process of a term.
#[derive(Clone)]
pub enum Delivery {
    /// The time that it was to be woken at, if it was not since.
    Tick(u64),
    /// The time to read the records, and to publish what is not yet.
    Look(u64),
    /// The answer to this request, or none.
    Answer {
        request: u64,
        input: Input,
    },
    Members {
        request: u64,
        members: Option<Vec<Member>>,
    },
    Published {
        request: u64,
        is_done: bool,
    },
    Lineage(Lineage),
    Died(BootId),
    /// The task lists, moves and the pause, as they are when it arrives.
    Lists,
}

/// The process of a term.
pub struct Term {
    pub coordinator: Coordinator,
    pub machine: usize,
    pub is_asleep: bool,
    pub is_dead: bool,
    /// Was the next term granted?
    pub is_replaced: bool,
    ticks: u64,
    looks: u64,
    numbers: u64,
    asking: Option<u64>,
    reading: Option<(u64, Moment)>,
    publishing: Option<(u64, u64)>,
    wanted: Option<(u64, Assignments)>,
    views: u64,
    deferred: Vec<Delivery>,
}

impl Term {
    pub fn new(coordinator: Coordinator, machine: usize) -> Self {
        Self {
            coordinator,
            machine,
            is_asleep: false,
            is_dead: false,
            is_replaced: false,
            ticks: 0,
            looks: 0,
            numbers: 0,
            asking: None,
            reading: None,
            publishing: None,
            wanted: None,
            views: 0,
            deferred: Vec::new(),
        }
    }
}

impl World {
    /// Something reaches the process of a term, which may be asleep or dead.
    pub(super) fn deliver_to_term(&mut self, epoch: Epoch, delivery: Delivery) {
        let Some(term) = self.terms.get_mut(&epoch).filter(|it| !it.is_dead) else { return };
        if term.is_asleep {
            term.deferred.push(delivery);
            return;
        }
        match delivery {
            Delivery::Tick(number) if number != term.ticks => {}
            Delivery::Tick(_) => self.handle_term(epoch, Input::Tick),
            Delivery::Look(number) if number != term.looks => {}
            Delivery::Look(_) => self.look(epoch),
            Delivery::Answer { request, input } => {
                if term.asking.take_if(|it| *it == request).is_some() {
                    self.handle_term(epoch, input);
                }
            }
            Delivery::Members { request, members } => {
                let Some((_, sent)) = term.reading.take_if(|(it, _)| *it == request) else {
                    return;
                };
                if let Some(members) = members {
                    self.handle_term(epoch, Input::Members { sent, members });
                }
            }
            Delivery::Published { request, is_done } => {
                let Some((_, view)) = term.publishing.take_if(|(it, _)| *it == request) else {
                    return;
                };
                if is_done {
                    term.wanted.take_if(|(wanted, _)| *wanted == view);
                }
            }
            Delivery::Lineage(lineage) => self.handle_term(epoch, Input::Lineage(lineage)),
            Delivery::Died(boot) => self.handle_term(epoch, Input::Died(boot)),
            Delivery::Lists => {
                let (lists, moved) = (self.lists.clone(), self.moved.clone());
                let wanted = Wanted { lists, moved, is_paused: self.is_paused };
                self.handle_term(epoch, Input::Lists(wanted));
            }
        }
    }

    pub(super) fn wake_term(&mut self, epoch: Epoch) {
        let Some(term) = self.terms.get_mut(&epoch).filter(|it| it.is_asleep) else { return };
        term.is_asleep = false;
        self.line(|| format!("e{epoch} goes on"));
        for delivery in self
            .terms
            .get_mut(&epoch)
            .map(|it| std::mem::take(&mut it.deferred))
            .unwrap_or_default()
        {
            self.deliver_to_term(epoch, delivery);
        }
    }

    fn handle_term(&mut self, epoch: Epoch, input: Input) {
        let Some(term) = self.terms.get_mut(&epoch) else { return };
        let now = self.machines[term.machine].clock.read(self.now);
        self.trace.line(self.now, || format!("e{epoch} {}", summary(&input)));
        let is_tick = matches!(input, Input::Tick);
        let actions = term.coordinator.handle(now, input);
        let wait = term.coordinator.wakes_after(now);
        if is_tick && actions.is_empty() && wait.is_zero() {
            self.fact(&Fact::WokenInVain(format!("the coordinator of epoch {epoch}")));
        }
        for action in actions {
            self.act_for_term(epoch, action);
        }
        let Some(term) = self.terms.get_mut(&epoch) else { return };
        if term.coordinator.is_over() {
            term.is_dead = true;
            self.line(|| format!("e{epoch} is over"));
            return self.replace_if_over(epoch);
        }
        term.ticks += 1;
        let tick = Event::ToTerm(epoch, Delivery::Tick(term.ticks));
        self.after(wait.max(Duration::from_millis(1)) + wait / 200, tick);
    }

    fn act_for_term(&mut self, epoch: Epoch, action: Action) {
        let Some(term) = self.terms.get_mut(&epoch) else { return };
        term.numbers += 1;
        let request = term.numbers;
        match action {
            Action::Read { slots } => {
                term.asking = Some(request);
                self.send(Sender::Term(epoch, request), Content::Read { slots });
            }
            Action::Write(writes) => {
                term.asking = Some(request);
                self.send(Sender::Term(epoch, request), Content::Write { epoch, writes });
            }
            Action::Publish(assignments) => {
                term.views += 1;
                let before = term.wanted.replace((term.views, assignments.clone()));
                self.publish(epoch);
                let before = before.map(|(_, before)| before).unwrap_or_default();
                let has_moved = |boot: &BootId| before.get(boot) != assignments.get(boot);
                for boot in assignments.keys().copied().filter(has_moved) {
                    let way = self.span_ms(1, 20);
                    let is_lost = self.rng.one_in(3) && self.draws(Fault::HintLost);
                    if !is_lost {
                        // After the view, most of the time.
                        let way = way + self.plan.latency * 2;
                        self.after(way, Event::ToProcess(boot, process::Delivery::Hint));
                    }
                }
            }
        }
    }

    fn publish(&mut self, epoch: Epoch) {
        let Some(term) = self.terms.get_mut(&epoch).filter(|it| it.publishing.is_none()) else {
            return;
        };
        let Some((view, assignments)) = term.wanted.clone() else { return };
        term.numbers += 1;
        let request = term.numbers;
        term.publishing = Some((request, view));
        // A view that is published once more has another number.
        let version = ViewVersion { epoch, number: request };
        self.send(Sender::Term(epoch, request), Content::Publish { version, assignments });
    }

    /// Reads the records about twice a beat.
    pub(super) fn look(&mut self, epoch: Epoch) {
        let Some(term) = self.terms.get_mut(&epoch).filter(|it| !it.is_dead) else { return };
        term.looks += 1;
        let again = Event::ToTerm(epoch, Delivery::Look(term.looks));
        if term.reading.is_none() {
            term.numbers += 1;
            let request = term.numbers;
            term.reading = Some((request, self.machines[term.machine].clock.read(self.now)));
            self.send(Sender::Term(epoch, request), Content::Members);
        }
        self.publish(epoch);
        let next = self.about(self.plan.beat() / 2);
        self.after(next, again);
    }
}

fn summary(input: &Input) -> String {
    match input {
        Input::Members { sent, members } => {
            format!("has read {} records, sent {sent:?}", members.len())
        }
        Input::Read { found } => format!("has read {} documents", found.iter().flatten().count()),
        other => format!("{other:?}"),
    }
}
