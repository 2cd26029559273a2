//! A process that takes partitions: its holder, its beats, and what it waits for.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, Lineage, NodeId};
use baton_core::partition::holder::{Action, Input};
use baton_core::partition::{Assignment, Holder, Partition, PartitionReport, Token};
use baton_core::planted::planted;
use baton_core::protocol::{NodeProfile, NodeRecord, Registration, ViewVersion};
use baton_core::time::Moment;

use super::requests::{Content, Sender};
use super::work::WorkId;
use super::{Event, World};
use crate::clock::TrueTime;
use crate::partitions::fact::Fact;
use crate::partitions::fault::Fault;
use crate::partitions::store::Assignments;

/// What reaches a process.
#[derive(Clone)]
pub enum Delivery {
    /// The time that the holder was to be woken at, if it was not since.
    Tick(u64),
    /// The time for a beat, if there was none since.
    Beat(u64),
    /// A hint: beat now.
    Hint,
    Input(Input),
    /// The answer to this beat, or none.
    Beaten {
        request: u64,
        reply: Option<BeatReply>,
    },
    /// The answer to this request for a document, or none.
    Document {
        request: u64,
        slot: u32,
        found: Option<Option<(u64, Assignment)>>,
    },
}

/// What the store answers to a beat.
#[derive(Clone)]
pub struct BeatReply {
    pub registration: Registration,
    pub view: Option<(ViewVersion, Assignments)>,
    pub lineage: Lineage,
}

/// A process.
pub struct Process {
    pub machine: usize,
    pub id: NodeId,
    pub boot: BootId,
    pub holder: Holder,
    pub is_dead: bool,
    pub is_asleep: bool,
    pub is_draining: bool,
    pub is_leaving: bool,
    /// The work that can act.
    pub work: BTreeSet<WorkId>,
    pub guarded_until: Option<Moment>,
    beat: u64,
    report: Option<Arc<PartitionReport>>,
    view: Option<ViewVersion>,
    /// The beat under way, and when it was sent.
    beating: Option<(u64, Moment)>,
    beats_again: bool,
    beat_ticks: u64,
    reading: Option<(u64, u32)>,
    ticks: u64,
    numbers: u64,
    /// Which process it found under its id, at which count, and since when.
    found: Option<(BootId, u64, TrueTime)>,
    /// Was a beat of it ever known to be written?
    is_registered: bool,
    replaces: Option<BootId>,
    /// No reply of the store reaches it before this moment.
    pub deaf_until: TrueTime,
    deferred: Vec<Delivery>,
}

impl Process {
    /// What it runs and may act on.
    pub fn running(&self) -> Vec<(Partition, Token)> {
        self.work.iter().map(|it| (it.partition.clone(), it.token)).collect()
    }

    fn record(&self) -> NodeRecord {
        NodeRecord {
            id: self.id.clone(),
            boot: self.boot,
            beat: self.beat,
            eligible: true,
            draining: self.is_draining,
            load: 0,
            seen: Epoch::NONE,
            partitions: self.report.clone(),
            profile: Arc::new(NodeProfile::default()),
        }
    }
}

impl World {
    /// A process begins on a machine that has none.
    pub(super) fn start_process(&mut self, machine: usize) {
        if self.machines[machine].boot.is_some() {
            return;
        }
        self.boots += 1;
        let boot = BootId(self.boots);
        self.machines[machine].boot = Some(boot);
        let process = Process {
            machine,
            id: self.machines[machine].id.clone(),
            boot,
            holder: Holder::new(boot, self.plan.lease),
            is_dead: false,
            is_asleep: false,
            is_draining: false,
            is_leaving: false,
            work: BTreeSet::new(),
            guarded_until: None,
            beat: 0,
            report: None,
            view: None,
            beating: None,
            beats_again: false,
            beat_ticks: 0,
            reading: None,
            ticks: 0,
            numbers: 0,
            found: None,
            is_registered: false,
            replaces: None,
            deaf_until: TrueTime::default(),
            deferred: Vec::new(),
        };
        self.line(|| format!("{boot:?} begins as {}", process.id));
        self.processes.insert(boot, process);
        self.deliver(boot, Delivery::Input(Input::Tick));
        self.send_beat(boot);
    }

    /// Something reaches a process, which may be asleep or dead.
    pub(super) fn deliver(&mut self, boot: BootId, delivery: Delivery) {
        let Some(process) = self.processes.get_mut(&boot).filter(|it| !it.is_dead) else { return };
        if process.is_asleep {
            process.deferred.push(delivery);
            return;
        }
        match delivery {
            Delivery::Tick(number) if number != process.ticks => {}
            Delivery::Tick(_) => self.handle(boot, Input::Tick),
            Delivery::Beat(number) if number != process.beat_ticks => {}
            Delivery::Beat(_) | Delivery::Hint => self.send_beat(boot),
            Delivery::Input(input) => self.handle(boot, input),
            Delivery::Beaten { request, reply } => self.beaten(boot, request, reply),
            Delivery::Document { request, slot, found } => {
                if process.reading != Some((request, slot)) {
                    return;
                }
                process.reading = None;
                self.handle(
                    boot,
                    match found {
                        Some(found) => Input::Read { slot, found },
                        None => Input::Unread { slot },
                    },
                );
            }
        }
    }

    /// What has come while the process was paused.
    pub(super) fn wake_process(&mut self, boot: BootId) {
        let Some(process) = self.processes.get_mut(&boot).filter(|it| it.is_asleep) else { return };
        process.is_asleep = false;
        let deferred = std::mem::take(&mut process.deferred);
        self.line(|| format!("{boot:?} goes on"));
        for delivery in deferred {
            self.deliver(boot, delivery);
        }
    }

    fn handle(&mut self, boot: BootId, input: Input) {
        let Some(process) = self.processes.get_mut(&boot).filter(|it| !it.is_dead) else { return };
        let now = self.machines[process.machine].clock.read(self.now);
        self.trace.line(self.now, || format!("{boot:?} {}", summary(&input)));
        let is_tick = matches!(input, Input::Tick);
        let actions = process.holder.handle(now, input);
        let wait = process.holder.wakes_after(now);
        if is_tick && actions.is_empty() && wait.is_zero() {
            self.fact(&Fact::WokenInVain(format!("the holder of {boot:?}")));
        }
        for action in actions {
            self.act(boot, action);
        }
        self.guard_window(boot);
        let Some(process) = self.processes.get_mut(&boot) else { return };
        process.ticks += 1;
        let tick = Event::ToProcess(boot, Delivery::Tick(process.ticks));
        self.after(wait.max(Duration::from_millis(1)) + wait / 200, tick);
    }

    fn act(&mut self, boot: BootId, action: Action) {
        match action {
            Action::Read { slot } => {
                let Some(process) = self.processes.get_mut(&boot) else { return };
                process.numbers += 1;
                let request = process.numbers;
                process.reading = Some((request, slot));
                self.send(Sender::Process(boot, request), Content::ReadOne { slot });
            }
            Action::Start { partition, token } => {
                self.start_work(WorkId { boot, partition, token });
            }
            Action::Stop { partition, token } => self.stop_work(WorkId { boot, partition, token }),
            Action::Report(report) => {
                let Some(process) = self.processes.get_mut(&boot) else { return };
                self.trace.line(self.now, || format!("{boot:?} reports {report:?}"));
                process.report = Some(report);
                self.send_beat(boot);
            }
        }
    }

    /// One beat is under way at a time; the next one follows at once if something is new.
    pub(super) fn send_beat(&mut self, boot: BootId) {
        let Some(process) = self.processes.get_mut(&boot).filter(|it| !it.is_dead) else { return };
        if process.beating.is_some() {
            process.beats_again = true;
            return;
        }
        process.beat += 1;
        process.numbers += 1;
        let request = process.numbers;
        let sent = self.machines[process.machine].clock.read(self.now);
        process.beating = Some((request, sent));
        let content = Content::Beat { record: process.record(), replaces: process.replaces };
        self.send(Sender::Process(boot, request), content);
        let Some(process) = self.processes.get_mut(&boot) else { return };
        process.beat_ticks += 1;
        let tick = Event::ToProcess(boot, Delivery::Beat(process.beat_ticks));
        let next = self.about(self.plan.beat());
        self.after(next, tick);
    }

    fn beaten(&mut self, boot: BootId, request: u64, reply: Option<BeatReply>) {
        let Some(process) = self.processes.get_mut(&boot) else { return };
        let Some((_, sent)) = process.beating.take_if(|(number, _)| *number == request) else {
            return;
        };
        let is_written = |reply: &Option<BeatReply>| {
            reply.as_ref().is_some_and(|it| it.registration == Registration::Registered)
        };
        let opens = is_written(&reply) || planted!(UnwrittenBeatOpensWindow);
        if let Some(BeatReply { registration, view, lineage }) = reply {
            let news = view.filter(|(version, _)| process.view.is_none_or(|it| it < *version));
            let assignment = news.as_ref().map(|(_, all)| all.get(&boot).copied());
            if let Some((version, _)) = news {
                process.view = Some(version);
            }
            self.found_under_id(boot, &registration);
            self.handle(boot, Input::Lineage(lineage));
            if let Some(assignment) = assignment {
                self.handle(boot, Input::View(assignment));
            }
        }
        if opens {
            self.handle(boot, Input::Beat { sent });
        }
        let Some(process) = self.processes.get_mut(&boot) else { return };
        if std::mem::take(&mut process.beats_again) {
            self.send_beat(boot);
        }
        self.end_if_idle(boot);
    }

    /// Another process goes by this id. It is replaced once it stood still for two beats; but a
    /// process that was registered has been superseded, and ends. Its record does not come back.
    fn found_under_id(&mut self, boot: BootId, registration: &Registration) {
        let two_beats = self.plan.beat() * 2;
        let Some(process) = self.processes.get_mut(&boot) else { return };
        let Registration::TakenBy { boot: other, beat } = *registration else {
            process.is_registered = true;
            process.replaces = None;
            return;
        };
        if process.is_registered {
            self.faults.count(Fault::Superseded);
            return self.leaves_now(boot);
        }
        match process.found {
            Some((known, count, since)) if (known, count) == (other, beat) => {
                if self.now.since(since) >= two_beats {
                    process.replaces = Some(other);
                    let lives = self.processes.get(&other).is_some_and(|it| !it.is_dead);
                    if lives {
                        self.faults.count(Fault::Usurped);
                    }
                }
            }
            _ => process.found = Some((other, beat, self.now)),
        }
    }

    /// The process dies: what it ran cannot act any more.
    pub(super) fn kill_process(&mut self, boot: BootId) {
        self.line(|| format!("{boot:?} ends"));
        self.kill_work(boot);
        let Some(process) = self.processes.get_mut(&boot) else { return };
        process.is_dead = true;
        let machine = &mut self.machines[process.machine];
        if machine.boot == Some(boot) {
            machine.boot = None;
        }
    }
}

fn summary(input: &Input) -> String {
    match input {
        Input::Read { slot, found } => {
            let version = found.as_ref().map_or(0, |(version, _)| *version);
            format!("has read slot {slot}, version {version}")
        }
        other => format!("{other:?}"),
    }
}
