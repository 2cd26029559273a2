//! A course laid down beforehand instead of drawn: what happens, to whom, when.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use baton_core::Command;
use baton_core::settings::Settings;
use baton_store::ExpiryClock;

use super::net::NetworkCut;
use super::{Delivery, Event, World};
use crate::clock::TrueTime;
use crate::fact::ProcessId;
use crate::outcome::FaultKind;
use crate::plan::{FailoverLoss, Latency, Plan};
use crate::trace::Trace;

/// Something that is made to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptedFault {
    CrashLeader,
    PauseLeader(Duration),
    /// The leader's machine reaches neither the store nor the other nodes for a while.
    CutLeader(Duration),
    /// The process in a slot leaves in an orderly way.
    Leave(usize),
    StoreAway(Duration),
}

/// A course of a run.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// What happens, and how long after the start.
    pub steps: Vec<(Duration, ScriptedFault)>,
    /// How long a process that died or left takes to come back.
    pub restart: Duration,
    pub length: Duration,
}

impl Plan {
    /// A cluster in which nothing fails: a quick store that judges leases itself and pushes hints,
    /// lifelines, and clocks as good as common ones are.
    pub fn quiet(nodes: usize, settings: Settings) -> Self {
        let ms = Duration::from_millis;
        Self {
            seed: nodes as u64,
            nodes,
            ineligible: BTreeSet::new(),
            lifeline: true,
            expiry: ExpiryClock::Store,
            loss: FailoverLoss::None,
            member_age: true,
            push: true,
            latency: Latency { least: ms(1), usual: ms(2), most: ms(10), tail: ms(10) },
            message_fault_one_in: u64::MAX,
            fault_every: Duration::MAX,
            drift_ppm: 50,
            faults: BTreeSet::new(),
            stormy: Duration::ZERO,
            settings,
        }
    }
}

impl World {
    /// A cluster that meets what a script says, and nothing of its plan's faults.
    pub fn scripted(plan: Arc<Plan>, script: &Script, trace: Trace) -> Self {
        let mut world = Self::quiet(plan, trace);
        world.restart = Some(script.restart);
        let start = TrueTime::default();
        for (after, step) in &script.steps {
            world.queue.push(start + *after, Event::Scripted(*step));
        }
        world.queue.push(start + script.length, Event::End);
        world
    }

    pub(super) fn inject_scripted(&mut self, fault: ScriptedFault) {
        self.trace.line(self.now, || format!("{fault:?}"));
        match (fault, self.leader()) {
            (ScriptedFault::CrashLeader, Some(pid)) => self.crash(pid),
            (ScriptedFault::PauseLeader(span), Some(pid)) => self.pause(pid, span),
            (ScriptedFault::CutLeader(span), Some(pid)) => self.cut_off(pid.slot, span),
            (ScriptedFault::Leave(slot), _) => self.tell_to_leave(slot),
            (ScriptedFault::StoreAway(span), _) => {
                self.take_store_away(span, span);
            }
            (_, None) => {}
        }
    }

    fn cut_off(&mut self, slot: usize, span: Duration) {
        self.cuts.add(slot, &[NetworkCut::ToStore, NetworkCut::FromStore, NetworkCut::Nodes]);
        self.stats.fault(FaultKind::Cut, Some(slot), self.now, self.now + span);
        self.queue.push(self.now + span, Event::Mend(slot));
    }

    pub(super) fn tell_to_leave(&mut self, slot: usize) {
        let machine = self.machines.get(slot).and_then(|machine| machine.process.as_ref());
        let Some(pid) = machine.map(|process| ProcessId { slot, boot: process.boot }) else {
            return;
        };
        self.stats.fault(FaultKind::Leave, Some(slot), self.now, self.now);
        self.queue.push(self.now, Event::Deliver(pid, Delivery::Command(Command::Leave)));
    }
}
