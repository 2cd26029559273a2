//! The work of partitions: it starts and stops as its holder says, and is killed when the window of
//! its process closes, whether the process runs or is paused.

use std::time::Duration;

use baton_core::ids::BootId;
use baton_core::partition::holder::Input;
use baton_core::partition::{Partition, Token};

use super::process::Delivery;
use super::{Event, World};
use crate::partitions::fact::Fact;
use crate::partitions::fault::Fault;

/// The work of one partition in one process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkId {
    pub boot: BootId,
    pub partition: Partition,
    pub token: Token,
}

impl World {
    pub(super) fn start_work(&mut self, work: WorkId) {
        self.line(|| format!("{:?} starts {} with {:?}", work.boot, work.partition, work.token));
        self.stats.count("starts", 1);
        let WorkId { boot, ref partition, token } = work;
        self.fact(&Fact::Started { boot, partition, token });
        if let Some(process) = self.processes.get_mut(&boot) {
            process.work.insert(work);
        }
        self.guard_window(boot);
    }

    pub(super) fn stop_work(&mut self, work: WorkId) {
        self.line(|| format!("{:?} is to stop {}", work.boot, work.partition));
        let mut takes = self.rng.span(Duration::ZERO, self.plan.stop_time);
        if self.rng.one_in(6) && self.draws(Fault::SlowStop) {
            takes = self.rng.span(self.plan.lease.ttl / 4, self.plan.lease.ttl * 3);
        }
        self.after(takes, Event::WorkStops(work));
    }

    pub(super) fn work_stops(&mut self, work: &WorkId) {
        self.end_work(work);
        let stopped = Input::Stopped { partition: work.partition.clone(), token: work.token };
        self.deliver(work.boot, Delivery::Input(stopped));
    }

    /// It cannot act from now on.
    fn end_work(&mut self, work: &WorkId) {
        let Some(process) = self.processes.get_mut(&work.boot) else { return };
        if process.work.remove(work) {
            self.line(|| format!("{:?} has ended {}", work.boot, work.partition));
            self.fact(&Fact::Ended { boot: work.boot, partition: &work.partition });
        }
    }

    /// All work of a process ends: it died, or its window has closed.
    pub(super) fn kill_work(&mut self, boot: BootId) {
        let Some(process) = self.processes.get(&boot) else { return };
        for work in process.work.clone() {
            self.end_work(&work);
        }
    }

    /// Looks when the window closes, as it is now.
    pub(super) fn guard_window(&mut self, boot: BootId) {
        let Some(process) = self.processes.get_mut(&boot).filter(|it| !it.work.is_empty()) else {
            return;
        };
        let until = process.holder.window_until();
        if process.guarded_until == Some(until) {
            return;
        }
        process.guarded_until = Some(until);
        let at = self.machines[process.machine].clock.when(until);
        self.queue.push(at.max(self.now), Event::WindowCloses(boot));
    }

    /// What guards the work does not rely on its process.
    pub(super) fn window_closes(&mut self, boot: BootId) {
        let Some(process) = self.processes.get(&boot) else { return };
        let now = self.machines[process.machine].clock.read(self.now);
        if now >= process.holder.window_until() && !self.is_unguarded() {
            self.kill_work(boot);
        }
    }

    fn is_unguarded(&self) -> bool {
        baton_core::planted::planted!(KeptBeyondWindow)
    }
}
