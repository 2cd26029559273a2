//! The processes: what they report, and which of them are over.
//!
//! ```text
//!  process   beat sent ├──── ttl·(1−ρ) − margin ────┤ window closed
//!  store         written ┼   … no later beat …                          ┼ read
//!  this clock       receipt ├─────── ttl·(1+ρ) + margin ───────┤ … sent ┼
//! ```
//!
//! A record that shows a beat count was written before its reading was received. If a reading that
//! is *sent* a whole span after that still shows it, no later beat was written until then, and the
//! window that the beat opened is closed. A later beat opens a new session, to which nothing was
//! given. Judged at the receipt of the later reading this would be wrong: a beat may be written
//! after the records were read and before they arrive.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::TermOfMoves;
use super::slots::{Slot, Slots};
use crate::ids::{BootId, NodeId};
use crate::partition::assignment::PartitionReport;
use crate::partition::task_list::{Partition, TaskListId};
use crate::planted::planted;
use crate::protocol::{Member, NodeProfile};
use crate::time::Moment;

/// One process.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) node: NodeId,
    /// The beat count that its record shows; `None` if it has no record.
    shown: Option<u64>,
    /// When the first reading that showed this was received.
    shown_at: Moment,
    /// The highest count ever shown: a record with a lower one was written late.
    highest: u64,
    /// Is it there for certain, and not just its record?
    is_certain: bool,
    /// Sessions up to this one are over.
    over_up_to: u64,
    /// It was silent for a whole span, or is proved dead.
    is_gone: bool,
    /// Since when it is gone, or has no record.
    pub(super) left_at: Option<Moment>,
    pub(super) report: Option<Arc<PartitionReport>>,
    pub(super) is_draining: bool,
    pub(super) profile: Arc<NodeProfile>,
}

impl Process {
    fn new(node: NodeId, now: Moment) -> Self {
        Self {
            node,
            shown: None,
            shown_at: now,
            highest: 0,
            is_certain: false,
            over_up_to: 0,
            is_gone: false,
            left_at: Some(now),
            report: None,
            is_draining: false,
            profile: Arc::default(),
        }
    }

    /// Is there a record of it that does not stand still?
    pub(super) fn is_live(&self) -> bool {
        self.shown.is_some() && !self.is_gone
    }
}

/// All processes that have a record or a document.
#[derive(Debug)]
pub(super) struct Members {
    term: TermOfMoves,
    /// When the coordinator was made.
    pub(super) started: Moment,
    /// When the last reading was sent and received.
    last: Option<(Moment, Moment)>,
    processes: BTreeMap<BootId, Process>,
    /// Processes that were proved dead before anything was known of them.
    dead: VecDeque<BootId>,
    /// What processes that are not gone report as stopping.
    stopping: BTreeMap<Partition, BTreeSet<BootId>>,
}

/// More do not die before a new coordinator has read the records. One that is forgotten is waited
/// for as for any silent process.
const DEAD_KEPT: usize = 64;

impl Members {
    pub(super) fn new(started: Moment, term: TermOfMoves) -> Self {
        let (processes, stopping) = (BTreeMap::new(), BTreeMap::new());
        Self { term, started, last: None, processes, dead: VecDeque::new(), stopping }
    }

    fn enter(&mut self, now: Moment, boot: BootId, node: &NodeId) -> &mut Process {
        let is_dead = self.dead.contains(&boot);
        self.processes.entry(boot).or_insert_with(|| {
            let over_up_to = if is_dead { u64::MAX } else { 0 };
            Process { is_gone: is_dead, over_up_to, ..Process::new(node.clone(), now) }
        })
    }

    /// Were the records read in this term?
    pub(super) fn is_read(&self) -> bool {
        self.last.is_some()
    }

    /// Was the last reading sent at this moment or later?
    pub(super) fn were_read_since(&self, moment: Moment) -> bool {
        self.last.is_some_and(|(sent, _)| sent >= moment)
    }

    pub(super) fn get(&self, boot: BootId) -> Option<&Process> {
        self.processes.get(&boot)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (BootId, &Process)> {
        self.processes.iter().map(|(boot, process)| (*boot, process))
    }

    /// Takes in a reading of the records; says whether anything of it matters.
    pub(super) fn read(
        &mut self,
        sent: Moment,
        now: Moment,
        members: Vec<Member>,
        slots: &Slots,
    ) -> bool {
        // What was read before the grant, or before what is known, says nothing new.
        if sent < self.started || self.last.is_some_and(|(last, _)| sent < last) {
            return false;
        }
        let is_first = self.last.replace((sent, now)).is_none();
        let mut has_changed = is_first;
        let listed: BTreeSet<BootId> = members.iter().map(|it| it.record.boot).collect();
        for member in members {
            has_changed |= self.read_one(now, is_first, member);
        }
        for (_, process) in self.processes.iter_mut().filter(|(boot, _)| !listed.contains(boot)) {
            if process.shown.take().is_some() {
                (process.shown_at, process.left_at) = (now, Some(now));
                has_changed = true;
            }
        }
        has_changed |= self.judge_silence(sent, now, slots);
        if has_changed {
            self.list_stopping();
        }
        has_changed
    }

    fn read_one(&mut self, now: Moment, is_first: bool, member: Member) -> bool {
        let Member { record, silent_for } = member;
        let is_young = silent_for.is_some_and(|age| age < self.term.lease.ttl);
        let lineage = self.term.lineage;
        let process = self.enter(now, record.boot, &record.id);
        let mut has_changed = false;
        if process.shown != Some(record.beat) {
            // Only its first record can be that of a process that is gone.
            let is_certain = !is_first || is_young;
            has_changed = process.shown.is_none() || process.is_gone || !process.is_certain;
            process.is_certain |= is_certain;
            process.is_gone &= process.over_up_to == u64::MAX;
            (process.shown, process.shown_at) = (Some(record.beat), now);
            process.left_at = None;
        }
        if record.beat < process.highest {
            return has_changed;
        }
        process.highest = record.beat;
        has_changed |= process.report != record.partitions
            || process.is_draining != record.draining
            || process.profile != record.profile;
        process.is_draining = record.draining;
        process.profile = record.profile;
        process.report = record.partitions;
        if let Some(report) = &process.report
            && report.lineage == lineage
        {
            process.over_up_to = process.over_up_to.max(report.session.saturating_sub(1));
        }
        has_changed
    }

    /// Whoever shows the same as a whole span ago is silent.
    fn judge_silence(&mut self, sent: Moment, now: Moment, slots: &Slots) -> bool {
        let lease = self.term.lease;
        let mut has_changed = false;
        for (boot, process) in &mut self.processes {
            let from = process.shown_at;
            let judged = if planted!(SilenceJudgedAtReceipt) { now } else { sent };
            let is_absent = planted!(AbsenceIsRelease) && process.shown.is_none();
            let is_silent = judged >= lease.observed_expiry(from, from, lease.ttl) || is_absent;
            if process.is_gone || !is_silent {
                continue;
            }
            let given = slots.of(*boot).map(|slot| slots[slot].session);
            let reported = process.report.as_ref().map(|report| report.session);
            process.over_up_to = process.over_up_to.max(given.max(reported).unwrap_or(0));
            process.is_gone = true;
            process.left_at.get_or_insert(now);
            has_changed = true;
        }
        let has_slot = |boot: &BootId| slots.of(*boot).is_some();
        self.processes.retain(|boot, it| it.shown.is_some() || !it.is_gone || has_slot(boot));
        has_changed
    }

    /// A process is proved dead; says whether that is news.
    pub(super) fn died(&mut self, boot: BootId) -> bool {
        let Some(process) = self.processes.get_mut(&boot) else {
            if self.dead.len() == DEAD_KEPT {
                self.dead.pop_front();
            }
            self.dead.push_back(boot);
            return false;
        };
        let (_, now) = self.last.unwrap_or((self.started, self.started));
        process.over_up_to = u64::MAX;
        process.left_at.get_or_insert(now);
        let is_news = !std::mem::replace(&mut process.is_gone, true);
        self.list_stopping();
        is_news
    }

    /// Processes whose documents were read count as there until they were silent for a whole span.
    pub(super) fn know_holders(&mut self, now: Moment, slots: &Slots) {
        for (_, slot) in slots.iter() {
            self.enter(now, slot.boot, &slot.node);
        }
    }

    fn list_stopping(&mut self) {
        self.stopping.clear();
        if planted!(StoppingForgotten) {
            return;
        }
        for (boot, process) in self.processes.iter().filter(|(_, process)| !process.is_gone) {
            for partition in process.report.iter().flat_map(|report| report.stopping.iter()) {
                self.stopping.entry(partition).or_default().insert(*boot);
            }
        }
    }

    /// Is a process other than this one still stopping the partition, as far as is known?
    pub(super) fn is_stopping_elsewhere(&self, partition: &Partition, than: BootId) -> bool {
        let at = self.stopping.get(partition).filter(|_| !self.stopping.is_empty());
        at.is_some_and(|boots| boots.iter().any(|boot| *boot != than))
    }

    /// Is any process still stopping the partition, as far as is known?
    pub(super) fn is_stopping(&self, list: &TaskListId, number: u32) -> bool {
        !self.stopping.is_empty()
            && self.stopping.contains_key(&Partition { list: list.clone(), number })
    }

    /// Is it certain that the process does not run, and never will, what this document gave it? It
    /// may still be stopping it.
    pub(super) fn is_over(&self, slot: &Slot) -> bool {
        let Some(process) = self.processes.get(&slot.boot) else { return false };
        let is_new_line = |report: &Arc<PartitionReport>| report.lineage == self.term.lineage;
        match slot.lineage == self.term.lineage {
            true => slot.session <= process.over_up_to,
            false if planted!(LineageTrusted) => true,
            false => process.is_gone || process.report.as_ref().is_some_and(is_new_line),
        }
    }

    /// The version of this document that its process acknowledged.
    pub(super) fn acknowledged(&self, at: u32, slot: &Slot) -> u64 {
        let report = self.processes.get(&slot.boot).and_then(|it| it.report.as_deref());
        let fits = |it: &&PartitionReport| {
            (it.lineage, it.session, it.acked.slot) == (slot.lineage, slot.session, at)
        };
        if planted!(OtherBootAcknowledges) {
            let same_node = self.processes.values().filter(|process| process.node == slot.node);
            let reports = same_node.filter_map(|process| process.report.as_ref());
            return reports.map(|report| report.acked.version).max().unwrap_or(0);
        }
        report.filter(fits).map_or(0, |report| report.acked.version)
    }

    /// The session in which a process can be given partitions, if it can. `given` is the last one
    /// for which it has a document: an older report is out of date.
    pub(super) fn open_session(&self, boot: BootId, given: Option<&Slot>) -> Option<u64> {
        let process = self.processes.get(&boot).filter(|process| process.is_live())?;
        let report = process.report.as_ref().filter(|it| it.lineage == self.term.lineage)?;
        let given = given.filter(|slot| slot.lineage == self.term.lineage);
        let is_there = process.is_certain || given.is_some();
        let is_old = given.is_some_and(|slot| slot.session > report.session);
        let is_open = is_there && !is_old && report.session > process.over_up_to;
        is_open.then_some(report.session)
    }

    /// Does any process report that it had to give up a session, or go by another line of history?
    pub(super) fn have_lost_sessions(&self) -> bool {
        let mut reports = self.processes.values().filter_map(|process| process.report.as_ref());
        reports.any(|report| report.session > 1 || report.lineage != self.term.lineage)
    }

    /// Does every process that takes partitions and is not gone go by this line of history?
    pub(super) fn is_of_one_line(&self) -> bool {
        let present = self.processes.values().filter(|process| !process.is_gone);
        let mut reports = present.filter_map(|process| process.report.as_ref());
        reports.all(|report| report.lineage == self.term.lineage)
    }
}
