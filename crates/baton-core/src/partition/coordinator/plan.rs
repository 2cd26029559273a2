//! One round: what stands where it should not, and what can be done about it now.

use std::collections::{BTreeMap, BTreeSet};

use super::members::Process;
use super::slots::Slot;
use super::table::{Entry, Standing};
use super::targets::{Destination, Targets};
use super::{Action, BATCH_BYTES_MAX, BATCH_MAX, Coordinator, DocumentWrite, SLOTS_MAX};
use crate::ids::{BootId, Epoch};
use crate::partition::assignment::Token;
use crate::partition::task_list::{Partition, TaskList, TaskListId, TaskListStatus};
use crate::partition::wanted::Wanted;
use crate::planted::planted;
use crate::time::Moment;

/// What is to be changed in a document.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Given to its process, with a new token.
    pub(super) given: BTreeSet<Partition>,
    /// To be released by its process.
    pub(super) requested: BTreeSet<Partition>,
    /// Whose it is from now on, and for which session.
    pub(super) owner: Option<Destination>,
}

/// The changes of a round, by slot.
#[derive(Default)]
pub(super) struct Round {
    pub(super) changes: BTreeMap<u32, Changes>,
    /// The slots of this round of processes that had none.
    new_slots: BTreeMap<BootId, u32>,
    /// Slots in which something stands that is not free, or whose process is live.
    taken: Vec<bool>,
    /// When to look again although nothing has changed.
    due: Option<Moment>,
}

impl Round {
    fn look_again_at(&mut self, at: Moment) {
        self.due = Some(self.due.map_or(at, |due| due.min(at)));
    }
}

/// Leaves out what makes a write too long for the store, and says whether that was necessary. The
/// next round has it: what is given was free before, whether or not the rest is written.
pub(super) fn shorten(writes: &mut Vec<DocumentWrite>) -> bool {
    let mut bytes = 0;
    let fit = writes.iter().take_while(|write| {
        bytes += write.content.bytes_max();
        bytes <= BATCH_BYTES_MAX
    });
    let fit = fit.count().max(1);
    let is_too_long = fit < writes.len();
    writes.truncate(fit);
    is_too_long
}

impl Coordinator {
    /// Writes what has to change, if anything may have to.
    pub(super) fn plan(&mut self, now: Moment, actions: &mut Vec<Action>) {
        let is_due = self.due.is_some_and(|due| now >= due);
        if !(self.is_stale || is_due) || !self.members.is_read() {
            return;
        }
        let Some(wanted) = self.wanted.take() else { return };
        self.is_stale = false;
        if self.slots.len() == 0 && self.may_be_lost() {
            self.be_cautious();
            self.last_token = self.last_token.max(Token::first_in(self.term.lineage));
        }
        self.due = self.cautious_until.filter(|until| now < *until);
        // What has no record in a reading that was sent after a span has lost its window. A record
        // of another line of history may be a late one, and hide what still stops.
        let waits = self.cautious_until.is_some_and(|until| !self.members.were_read_since(until));
        let is_cautious = self.due.is_some() || waits || !self.members.is_of_one_line();
        let may_give = !is_cautious || planted!(LineageTrusted);
        if may_give {
            self.cautious_until = None;
            let mut round = self.round(now, &wanted);
            self.due = round.due;
            let later = round.changes.keys().nth(BATCH_MAX).copied();
            if let Some(later) = later {
                round.changes.split_off(&later);
                self.is_stale = true;
            }
            if !round.changes.is_empty() {
                let mut writes = self.compose(round.changes);
                self.is_stale |= shorten(&mut writes);
                self.requests.write(writes, actions);
            }
        }
        self.wanted = Some(wanted);
    }

    /// Were there documents once? Epochs have leapt, or processes had to give up what they ran.
    fn may_be_lost(&self) -> bool {
        let have_leapt = self.term.epoch.0 > Epoch::LEAP;
        (have_leapt || self.members.have_lost_sessions()) && !planted!(LossUnseen)
    }

    fn round(&self, now: Moment, wanted: &Wanted) -> Round {
        let targets = self.targets(now, wanted);
        let lists = &wanted.lists;
        let mut round = Round { taken: self.taken_slots(), due: targets.due, ..Round::default() };
        let mut first = 0;
        for list in lists {
            let entries = self.table.list(&list.id);
            for number in 0..list.partitions {
                let entry = entries.get(number as usize).and_then(Option::as_ref);
                let index = first + number as usize;
                self.decide(now, (list, number), entry, (&targets, index), &mut round);
            }
            first += list.partitions as usize;
        }
        for (id, number, entry) in self.table.iter() {
            let is_listed = |list: &&TaskList| list.id == *id && number < list.partitions;
            let at = lists.binary_search_by(|list| list.id.cmp(id)).ok();
            if at.map(|at| &lists[at]).filter(is_listed).is_none() {
                self.request((id, number), entry, &mut round);
            }
        }
        round
    }

    fn decide(
        &self,
        now: Moment,
        (list, number): (&TaskList, u32),
        entry: Option<&Entry>,
        (targets, index): (&Targets, usize),
        round: &mut Round,
    ) {
        let Some(to) = targets.destination(index) else {
            // A node that drains keeps what there is no other node for.
            let drains = |entry: &Entry| {
                let node = &self.slots[entry.slot].node;
                list.status == TaskListStatus::Active && targets.is_draining(node)
            };
            let given_up = entry.filter(|it| !targets.is_kept(index) && !drains(it));
            if let Some(entry) = given_up {
                self.request((&list.id, number), entry, round);
            }
            return;
        };
        let partition = || Partition { list: list.id.clone(), number };
        let is_stopping = || self.members.is_stopping_elsewhere(&partition(), to.boot);
        let Some(entry) = entry else {
            if !is_stopping() {
                self.give(partition(), to, round);
            }
            return;
        };
        let slot = &self.slots[entry.slot];
        let is_over = self.members.is_over(slot);
        let stays = slot.boot == to.boot && !is_over;
        if stays && entry.standing == Standing::Hold {
            return;
        }
        // A release that is cancelled has a new token: the process may have begun to stop.
        let is_free = (stays || self.is_released(entry)) && !is_stopping();
        if is_free || self.is_forced(now, entry, round) {
            return self.give(partition(), to, round);
        }
        self.request((&list.id, number), entry, round);
    }

    /// Was a live owner waited for long enough?
    fn is_forced(&self, now: Moment, entry: &Entry, round: &mut Round) -> bool {
        let Standing::Release { since, .. } = entry.standing else { return false };
        if planted!(ReleaseAssumed) {
            return true;
        }
        let Some(timeout) = self.settings.release_timeout else { return false };
        if now < since + timeout {
            round.look_again_at(since + timeout);
        }
        now >= since + timeout
    }

    fn give(&self, partition: Partition, to: Destination, round: &mut Round) {
        let Some(slot) = self.slot_to_write(to.boot, round) else { return };
        let changes = round.changes.entry(slot).or_default();
        changes.owner = Some(to);
        changes.given.insert(partition);
    }

    /// Asks the owner to stop, if it is there to be asked.
    fn request(&self, (list, number): (&TaskListId, u32), entry: &Entry, round: &mut Round) {
        let slot = &self.slots[entry.slot];
        let is_asked = entry.standing != Standing::Hold || self.members.is_over(slot);
        let Some(session) = self.members.open_session(slot.boot, Some(slot)) else { return };
        if !is_asked {
            let changes = round.changes.entry(entry.slot).or_default();
            changes.owner = Some(Destination { boot: slot.boot, session });
            changes.requested.insert(Partition { list: list.clone(), number });
        }
    }

    /// The slot of a process; a free one, or a new one, if it has none.
    fn slot_to_write(&self, boot: BootId, round: &mut Round) -> Option<u32> {
        if let Some(slot) = round.new_slots.get(&boot) {
            return Some(*slot);
        }
        let slot = match self.slots.of(boot) {
            Some(slot) => slot,
            None => {
                let free = round.taken.iter().position(|taken| !taken);
                let at = free.unwrap_or(round.taken.len());
                if at == round.taken.len() {
                    round.taken.push(true);
                }
                round.taken[at] = true;
                u32::try_from(at).ok().filter(|at| *at < SLOTS_MAX)?
            }
        };
        round.new_slots.insert(boot, slot);
        Some(slot)
    }

    /// A slot is used again once its process is not live and nothing in it is its own any more.
    fn taken_slots(&self) -> Vec<bool> {
        let is_live = |slot: &Slot| {
            let process = self.members.get(slot.boot);
            let is_live = process.is_some_and(Process::is_live);
            is_live || (!self.members.is_over(slot) && !planted!(SlotUsedEarly))
        };
        let mut taken = vec![false; self.slots.len()];
        for (number, slot) in self.slots.iter() {
            taken[number as usize] = is_live(slot);
        }
        for (list, number, entry) in self.table.iter() {
            let taken = &mut taken[entry.slot as usize];
            *taken |= self.must_stand((list, number), entry) && !planted!(SlotUsedEarly);
        }
        taken
    }
}
