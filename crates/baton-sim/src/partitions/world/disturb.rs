//! What happens to machines, to the store and by people.

use std::time::Duration;

use baton_core::ids::BootId;
use baton_core::partition::holder::Input;
use baton_core::partition::{Partition, TaskListStatus};

use super::requests::{Content, Sender};
use super::{Event, World, process, term};
use crate::partitions::fault::Fault;
use crate::scripted::FaultName;

impl World {
    pub(super) fn schedule_disturbances(&mut self) {
        let at = self.about(self.plan.disturb_every);
        self.after(at, Event::Disturb);
        let at = self.about(self.plan.outage_every);
        self.after(at, Event::StoreGoes);
        let at = self.about(self.plan.people_every);
        self.after(at, Event::People);
        self.after(Duration::from_secs(2), Event::Copy);
        let at = self.about(self.plan.storm * 2 / 3);
        self.after(at, Event::LoseData);
    }

    /// Something happens to one of the machines.
    pub(super) fn disturb(&mut self) {
        if self.is_calm() {
            return;
        }
        let next = self.about(self.plan.disturb_every);
        self.after(next, Event::Disturb);
        let machine = self.rng.below(self.machines.len() as u64) as usize;
        let Some(boot) = self.machines[machine].boot else { return };
        let ways = [Fault::Crash, Fault::Pause, Fault::Leave, Fault::Drain, Fault::OneWay];
        let way = ways[self.rng.below(5) as usize];
        if !self.draws(way) {
            return;
        }
        self.line(|| format!("{boot:?}: {}", way.name()));
        match way {
            Fault::Crash => self.crash(machine, boot),
            Fault::Pause => self.pause(machine, boot),
            Fault::Leave => self.leaves_now(boot),
            Fault::OneWay => {
                let until = self.now + self.about(self.plan.lease.ttl * 3);
                if let Some(process) = self.processes.get_mut(&boot) {
                    process.deaf_until = until;
                }
            }
            _ => {
                if let Some(process) = self.processes.get_mut(&boot) {
                    process.is_draining = true;
                }
                self.send_beat(boot);
                let patience = self.rng.span(self.plan.lease.ttl / 2, self.plan.lease.ttl * 4);
                self.after(patience, Event::LeavesNow(boot));
            }
        }
    }

    fn crash(&mut self, machine: usize, boot: BootId) {
        self.kill_process(boot);
        if self.rng.one_in(2) && self.draws(Fault::ProvedDeath) {
            self.dead.push(boot);
            let proved = self.span_ms(1, 300);
            if let Some(epoch) = self.leading() {
                self.after(proved, Event::ToTerm(epoch, term::Delivery::Died(boot)));
            }
        }
        self.restart(machine);
    }

    fn restart(&mut self, machine: usize) {
        self.faults.count(Fault::Restart);
        let begins = self.rng.span(Duration::from_millis(5), self.plan.lease.ttl * 2);
        self.after(begins, Event::Start(machine));
    }

    fn pause(&mut self, machine: usize, boot: BootId) {
        let Some(process) = self.processes.get_mut(&boot) else { return };
        process.is_asleep = true;
        // Some of them last about as long as a window.
        let ttl = self.plan.lease.ttl;
        let (least, most) = if self.rng.one_in(2) { (6, 10) } else { (1, 40) };
        let lasts = self.rng.span(ttl * least / 10, ttl * most / 10);
        self.after(lasts, Event::WakeProcess(boot));
        if self.rng.one_in(3) && self.plan.has(Fault::Usurped) {
            // The machine is thought dead: another process begins under its id.
            self.machines[machine].boot = None;
            let ends = lasts + self.rng.span(Duration::ZERO, self.plan.lease.ttl * 2);
            self.after(ends, Event::LeavesNow(boot));
            self.restart(machine);
        }
    }

    /// Everything is given up at once, and the process ends when it has stopped.
    pub(super) fn leaves_now(&mut self, boot: BootId) {
        let Some(process) =
            self.processes.get_mut(&boot).filter(|it| !it.is_dead && !it.is_leaving)
        else {
            return;
        };
        (process.is_draining, process.is_leaving) = (true, true);
        self.deliver(boot, process::Delivery::Input(Input::Leave));
        self.send_beat(boot);
    }

    /// A process that leaves and has stopped everything takes its record out, and ends.
    pub(super) fn end_if_idle(&mut self, boot: BootId) {
        let Some(process) = self.processes.get(&boot) else { return };
        if !process.is_leaving || !process.holder.is_idle() || process.is_dead {
            return;
        }
        let (node, machine) = (process.id.clone(), process.machine);
        self.send(Sender::Process(boot, 0), Content::Leave { node, boot });
        let is_current = self.machines[machine].boot == Some(boot);
        self.kill_process(boot);
        if is_current {
            self.restart(machine);
        }
    }

    pub(super) fn store_goes(&mut self) {
        if self.is_calm() {
            return;
        }
        let next = self.about(self.plan.outage_every);
        self.after(next, Event::StoreGoes);
        if self.draws(Fault::StoreAway) {
            self.store.is_away = true;
            let lasts = self.rng.span(Duration::from_millis(100), self.plan.lease.ttl * 2);
            self.after(lasts, Event::StoreReturns);
        }
    }

    pub(super) fn keep_copy(&mut self) {
        if !self.is_calm() {
            self.store.copy();
            let next = self.span_ms(500, 4_000);
            self.after(next, Event::Copy);
        }
    }

    /// An older copy takes the place of the store's data. A next term is granted later.
    pub(super) fn lose_data(&mut self) {
        if self.is_calm() || !self.rng.one_in(3) || !self.plan.has(Fault::DataLoss) {
            return;
        }
        let is_gone = self.rng.one_in(4);
        if self.store.lose_data(is_gone) {
            self.faults.count(Fault::DataLoss);
            self.line(|| "the store's data goes back".to_owned());
            self.lost_data = true;
            let leading = self.leading();
            if let Some(term) = leading.and_then(|epoch| self.terms.get_mut(&epoch)) {
                term.is_replaced = true;
            }
            let next = self.rng.span(Duration::from_millis(1), self.plan.lease.ttl);
            self.after(next, Event::Grant);
        }
    }

    pub(super) fn people_act(&mut self) {
        if self.is_calm() {
            return;
        }
        let next = self.about(self.plan.people_every);
        self.after(next, Event::People);
        let is_done = match self.rng.below(4) {
            0 => self.draws(Fault::MovesPaused) && self.pause_moves(),
            1 => self.draws(Fault::MovedByHand) && self.move_by_hand(),
            _ => self.draws(Fault::ListChanged) && self.change_list(),
        };
        if let Some(epoch) = self.leading().filter(|_| is_done) {
            self.after(Duration::ZERO, Event::ToTerm(epoch, term::Delivery::Lists));
        }
    }

    fn pause_moves(&mut self) -> bool {
        self.is_paused = !self.is_paused;
        let is_paused = self.is_paused;
        self.line(|| format!("moves are paused: {is_paused}"));
        true
    }

    /// A person moves a partition to a machine, or forgets the moves.
    fn move_by_hand(&mut self) -> bool {
        if self.rng.one_in(4) {
            self.line(|| "the moves by hand are forgotten".to_owned());
            self.moved.clear();
            return true;
        }
        let list = &self.lists[self.rng.below(self.lists.len() as u64) as usize];
        let number = self.rng.below(u64::from(list.partitions)) as u32;
        let partition = Partition { list: list.id.clone(), number };
        let machine = self.rng.below(self.machines.len() as u64) as usize;
        let to = self.machines[machine].id.clone();
        self.line(|| format!("{partition} is moved to {to} by hand"));
        self.moved.insert(partition, to);
        true
    }

    fn change_list(&mut self) -> bool {
        let at = self.rng.below(self.lists.len() as u64) as usize;
        let count = self.rng.between(1, 9) as u32;
        match self.rng.below(5) {
            0 | 1 => self.lists[at].partitions = count,
            2 => {
                let list = &mut self.lists[at];
                list.status = match list.status {
                    TaskListStatus::Active => TaskListStatus::Paused,
                    TaskListStatus::Paused => TaskListStatus::Active,
                };
            }
            3 if self.lists.len() < 5 => self.add_list(count),
            _ if self.lists.len() > 1 => {
                self.lists.remove(at);
            }
            _ => {}
        }
        let lists = &self.lists;
        let shown = || {
            let one = |it: &baton_core::partition::TaskList| {
                format!("{} {} {:?}", it.id, it.partitions, it.status)
            };
            format!("lists: {:?}", lists.iter().map(one).collect::<Vec<_>>())
        };
        self.trace.line(self.now, shown);
        true
    }
}
