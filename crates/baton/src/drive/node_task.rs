//! One node on its thread: its core, its timers, and what the core wants done.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use baton_core::ids::BootId;
use baton_core::protocol::{Hint, Request};
use baton_core::time::Moment;
use baton_core::timer::Timer;
use baton_core::{Action, Command, Core, DemotionReason, Event, Input, Snapshot};
use baton_store::clock::{Clock, SystemClock};
use tokio::task::JoinSet;

use super::Message;
use super::call::ask_store;
use super::push::{forewarn, forward_hints, pass_on};
use crate::lifeline;
use crate::node::Departure;
use crate::plugin::Supervisor;
use crate::service;
use crate::shared::Shared;
use crate::term::{Ending, Hold, Term};

pub(crate) struct NodeTask {
    core: Core,
    published: Arc<Snapshot>,
    pub(super) shared: Arc<Shared>,
    /// Is the process to end at once when work goes on past its deadline?
    abort_on_overrun: bool,
    timers: [Option<Moment>; Timer::ALL.len()],
    /// Tasks that end with the node: the store's push, the lifelines watched.
    background: JoinSet<()>,
    watches: BTreeMap<BootId, tokio::task::AbortHandle>,
    beats: bool,
    /// Hints on their way. A node has left when they have gone out.
    hints_sent: usize,
    /// Do services run that were told to stop?
    services_stopping: bool,
    departure: Departure,
    halted: bool,
}

impl NodeTask {
    pub(crate) fn new(core: Core, shared: Arc<Shared>, abort_on_overrun: bool) -> Self {
        Self {
            core,
            published: shared.snapshot(),
            shared,
            abort_on_overrun,
            timers: [None; Timer::ALL.len()],
            background: JoinSet::new(),
            watches: BTreeMap::new(),
            beats: false,
            hints_sent: 0,
            services_stopping: false,
            departure: Departure::Left,
            halted: false,
        }
    }

    pub(crate) fn has_left(&self) -> bool {
        self.halted && self.hints_sent == 0 && !self.services_stopping
    }

    /// A hint went out, or was lost.
    pub(crate) fn hint_sent(&mut self) {
        self.hints_sent -= 1;
        self.depart();
    }

    /// When the thread must serve the node: for a timer, or to show that it still does.
    pub(crate) fn wake_at(&self) -> Moment {
        let due = self.shared.watchdog.due();
        self.timers.iter().flatten().min().map_or(due, |timer| due.min(*timer))
    }

    /// A timer that is due, taken off.
    pub(crate) fn due_timer(&mut self, now: Moment) -> Option<Timer> {
        let due = |timer: &Timer| self.timers[*timer as usize].is_some_and(|at| at <= now);
        let timer = Timer::ALL.into_iter().find(due)?;
        self.timers[timer as usize] = None;
        Some(timer)
    }

    /// Was a beat sent since this was last asked?
    pub(crate) fn take_beat_mark(&mut self) -> bool {
        std::mem::take(&mut self.beats)
    }

    pub(crate) fn handle(&mut self, input: Input, calls: &mut JoinSet<Message>) {
        match input {
            Input::Start => {
                self.background.spawn(forward_hints(self.shared.clone()));
                calls.spawn(service::supervise(self.shared.clone()));
            }
            // The core keeps the node's record until they have ended.
            Input::Command(Command::Leave) if self.stop_services() => {
                self.apply(Input::ServicesRun(true), calls);
            }
            Input::ServicesRun(false) => {
                self.services_stopping = false;
                self.depart();
            }
            _ => {}
        }
        self.apply(input, calls);
    }

    fn apply(&mut self, input: Input, calls: &mut JoinSet<Message>) {
        if self.halted {
            return;
        }
        while self.background.try_join_next().is_some() {}
        let now = SystemClock.now();
        let actions = self.core.handle(now, input);
        // Before the actions: a reader of an event finds the node as the event says.
        self.publish(now);
        for action in actions {
            self.carry_out(action, calls);
        }
    }

    fn carry_out(&mut self, action: Action, calls: &mut JoinSet<Message>) {
        match action {
            Action::Send { id, request, timeout } => {
                self.beats |= matches!(request, Request::Beat(_));
                calls.spawn(ask_store(self.shared.clone(), id, request, timeout));
            }
            Action::SetTimer { timer, at } => self.timers[timer as usize] = Some(at),
            Action::CancelTimer(timer) => self.timers[timer as usize] = None,
            Action::StartTerm { epoch, window } => {
                let term = Term::new(epoch, window);
                self.shared.term.send_replace(Some(term.clone()));
                calls.spawn(Supervisor { shared: self.shared.clone(), term }.run());
            }
            Action::StopTerm { reason, by, .. } => {
                if let Some(term) = self.shared.term.borrow().as_ref() {
                    term.stop(Ending { reason, by });
                }
            }
            Action::WatchLifeline { boot, address } => {
                self.unwatch(boot);
                let watch = lifeline::watch(self.shared.clone(), boot, address);
                self.watches.insert(boot, self.background.spawn(watch));
            }
            Action::UnwatchLifeline { boot } => self.unwatch(boot),
            Action::MembersRead(reading) => {
                self.shared.readings.send_replace(Some(Arc::new(reading)));
            }
            Action::Tell { to, hint: hint @ Hint::Prepare { .. } } => {
                self.hints_sent += 1;
                let hold = self.shared.term.borrow().as_ref().and_then(Hold::take);
                calls.spawn(forewarn(self.shared.clone(), to, hint, hold));
            }
            Action::Tell { to, hint } => {
                self.hints_sent += 1;
                calls.spawn(pass_on(self.shared.clone(), to, hint));
            }
            Action::Prepare => self.shared.plugins.prepare(),
            Action::Emit(event) => self.emit(event),
            Action::Halt => self.halt(),
        }
    }

    fn unwatch(&mut self, boot: BootId) {
        if let Some(watch) = self.watches.remove(&boot) {
            watch.abort();
        }
    }

    fn emit(&mut self, event: Event) {
        match event {
            Event::NodeIdTaken { by } => self.departure = Departure::IdTaken { by },
            Event::NodeSuperseded { by } => {
                self.departure = Departure::Superseded { by };
                self.stop_services();
            }
            Event::TermOverran { .. } if self.abort_on_overrun => {
                // Nothing of the term may act any more, and something does.
                std::process::abort();
            }
            _ => {}
        }
        self.shared.events.send(event);
    }

    /// Tells the services to stop, and returns whether any runs. The node has not left before they
    /// have ended.
    fn stop_services(&mut self) -> bool {
        let by = SystemClock.now() + self.shared.settings.stop_grace;
        self.services_stopping |= self.shared.plugins.stop_services(by);
        self.services_stopping
    }

    fn halt(&mut self) {
        self.halted = true;
        self.stop_services();
        self.background.abort_all();
        self.shared.term.send_replace(None);
        self.depart();
    }

    fn depart(&self) {
        if self.has_left() {
            self.shared.departed.send_replace(Some(self.departure));
        }
    }

    /// Lets every thread see what the core now knows, as far as that has changed.
    fn publish(&mut self, now: Moment) {
        let window = self.core.window(now);
        if let (Some((epoch, window)), Some(term)) = (window, self.shared.term.borrow().as_ref())
            && term.epoch == epoch
        {
            term.extend(window);
        }
        let running = window.filter(|_| self.core.is_leader(now));
        let leads_until = running.map_or(0, |(_, window)| window.hard.as_micros());
        self.shared.leads_until.store(leads_until, Ordering::Release);
        let snapshot = self.core.snapshot();
        if snapshot != *self.published {
            self.published = Arc::new(snapshot);
            self.shared.snapshot.send_replace(self.published.clone());
        }
    }
}

impl Drop for NodeTask {
    /// A thread that broke takes its nodes with it: nothing must wait for them, or believe that
    /// they still lead.
    fn drop(&mut self) {
        self.shared.inbox.forget(self.shared.task_id);
        self.shared.plugins.stop_services(SystemClock.now());
        self.shared.plugins.discard();
        if self.has_left() {
            return;
        }
        self.shared.leads_until.store(0, Ordering::Release);
        self.shared.snapshot.send_replace(Arc::new(self.published.without_term()));
        if let Some(term) = self.shared.term.borrow().as_ref() {
            let (reason, by) = (DemotionReason::WindowClosed, term.window().hard);
            term.stop(Ending { reason, by });
        }
        self.shared.departed.send_replace(Some(Departure::Broken));
    }
}
