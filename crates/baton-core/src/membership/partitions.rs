//! What of partitions goes with beats, readings and views. The core carries it and decides nothing:
//! the coordinator and the node's own side do, in [`crate::partition`].
//!
//! ```text
//!   node:   report ──► node record, with the next beat, which comes at once
//!           written_at: when its last written beat was sent, from which its window counts
//!   leader: a reading of the records ──► Action::MembersRead
//!           versions of assignment documents ──► view ──► Hint::Assigned to those they concern
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::action::Action;
use crate::core::Core;
use crate::ids::{BootId, Epoch};
use crate::partition::{AssignmentVersion, PartitionReport};
use crate::protocol::{Hint, Member, NodeRecord, View};
use crate::time::Moment;

/// A reading of the node records, for the coordinator of the partitions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MembersReading {
    /// When it was asked for. A beat that was written before that is in it.
    pub sent: Moment,
    /// The records.
    pub members: Vec<Member>,
    /// The processes that are proved dead.
    pub dead: Vec<BootId>,
}

/// What of partitions is under way between this node, the store and the leader.
#[derive(Clone, Debug, Default, Hash)]
pub struct PartitionMessages {
    /// What this node says of its partitions.
    report: Option<Arc<PartitionReport>>,
    /// What the store has of this node's report, and whether it shows the node as draining. The
    /// leader was told of it.
    told: Option<(Arc<PartitionReport>, bool)>,
    /// When the last beat with a report was sent that is known to have been written.
    written_at: Option<Moment>,
    /// How much time passed that the clock did not count, since this node reports.
    clock_leapt: Duration,
    /// When it was last told so. A beat that was sent before opens no window.
    leapt_at: Option<Moment>,
    /// The assignment documents, while this node leads and its coordinator knows them.
    assigned: Option<Arc<BTreeMap<BootId, AssignmentVersion>>>,
}

impl PartitionMessages {
    pub(crate) fn report(&self) -> Option<Arc<PartitionReport>> {
        self.report.clone()
    }

    /// The report as the store has it.
    pub(crate) fn written_report(&self) -> Option<Arc<PartitionReport>> {
        self.told.as_ref().map(|(report, _)| report.clone())
    }

    pub(crate) fn written_at(&self) -> Option<Moment> {
        self.written_at
    }

    pub(crate) fn clock_leapt(&self) -> Duration {
        self.clock_leapt
    }

    /// Does this node coordinate partitions?
    pub(crate) fn is_coordinating(&self) -> bool {
        self.assigned.is_some()
    }

    /// Does the coordinator know of an assignment document of this process?
    pub(crate) fn has_document(&self, boot: BootId) -> bool {
        self.assigned.as_ref().is_some_and(|assigned| assigned.contains_key(&boot))
    }

    /// A term begins: what the coordinator of an earlier one knew is forgotten.
    pub(crate) fn term_begins(&mut self) {
        self.assigned = None;
    }

    /// Time passed that the clock did not count: the beat was sent this much earlier.
    pub(crate) fn date_back(&mut self, now: Moment, by: Duration) {
        self.written_at = self.written_at.map(|at| at - by);
        if self.report.is_some() {
            self.clock_leapt += by;
            self.leapt_at = Some(now);
        }
    }
}

impl Core {
    /// This node says something else of its partitions: at once.
    pub(crate) fn report_partitions(&mut self, now: Moment, report: Option<Arc<PartitionReport>>) {
        if self.partitions.report != report {
            self.partitions.report = report;
            if self.settings.enabled && self.started {
                self.beat_soon(now);
            }
        }
    }

    /// A beat was written, with this record. The leader is told of a new report, and of a node that
    /// begins or ceases to drain: it may read it.
    pub(crate) fn record_written(&mut self, now: Moment, sent: Moment, record: &NodeRecord) {
        if self.partitions.leapt_at.is_none_or(|leapt_at| sent >= leapt_at) {
            self.partitions.written_at = record.partitions.as_ref().map(|_| sent);
        }
        let says = record.partitions.clone().map(|report| (report, record.draining));
        if self.partitions.told == says {
            return;
        }
        self.partitions.told = says;
        let boot = self.me.boot;
        let holder = self.observed.lease().and_then(|lease| lease.holder.as_ref());
        match holder.map(|holder| (holder.boot == boot, holder.node.clone())) {
            Some((true, _)) => self.partitions_reported(now),
            Some((false, to)) => {
                let hint = Hint::Reported { boot, beat: record.beat };
                self.out.push(Action::Tell { to, hint });
            }
            None => {}
        }
    }

    /// A node says something new of its partitions: the coordinator waits for that. If hints have
    /// cost too much already, it finds it at its next beat.
    pub(crate) fn partitions_reported(&mut self, now: Moment) {
        if self.running_epoch().is_none() || !self.partitions.is_coordinating() {
            return;
        }
        self.in_flight.read_cadence.is_still = false;
        // A reading that is asked for already will show it.
        if !self.in_flight.members_again {
            self.read_members_sooner(now);
        }
    }

    /// Does a reading show what the coordinator did not know? Then the hint of it was right.
    pub(super) fn shows_new_reports(&self, members: &[Member]) -> bool {
        self.partitions.is_coordinating()
            && members.iter().any(|it| self.registry.is_report_new(it))
    }

    /// The assignment documents as they are now. The view shows their versions.
    pub(crate) fn assigned(
        &mut self,
        now: Moment,
        epoch: Epoch,
        versions: Arc<BTreeMap<BootId, AssignmentVersion>>,
    ) {
        if self.running_epoch() == Some(epoch) {
            let begins = !self.partitions.is_coordinating();
            self.partitions.assigned = Some(versions);
            self.publish_view();
            if begins {
                // A reading under way was asked for before the coordinator was there.
                self.read_members_again(now);
            }
        }
    }

    /// Hands a reading to the coordinator.
    pub(crate) fn hand_reading_over(&mut self, sent: Moment, members: &[Member]) {
        if self.partitions.is_coordinating() {
            let dead = self.deaths.iter().collect();
            let reading = MembersReading { sent, members: members.to_vec(), dead };
            self.out.push(Action::MembersRead(reading));
        }
    }

    /// The assignment document of a process, for the view. Until this term's coordinator knows
    /// them, it is what the last view says.
    pub(super) fn assignment_of(&self, boot: BootId) -> Option<AssignmentVersion> {
        match &self.partitions.assigned {
            Some(assigned) => assigned.get(&boot).copied(),
            None => assignment_in(self.view.as_deref()?, boot),
        }
    }

    /// Tells the nodes whose assignment documents moved with this view.
    pub(super) fn notify_assigned(&mut self, view: &View) {
        let before = self.view.as_deref();
        let moved = view.members.iter().filter(|member| {
            let known = before.and_then(|before| assignment_in(before, member.boot));
            member.boot != self.me.boot && member.assignment.is_some_and(|it| Some(it) != known)
        });
        let told: Vec<_> = moved.map(|member| member.id.clone()).collect();
        for to in told {
            self.out.push(Action::Tell { to, hint: Hint::Assigned { view: view.version } });
        }
    }
}

/// The assignment document of a process, as a view shows it.
fn assignment_in(view: &View, boot: BootId) -> Option<AssignmentVersion> {
    view.members.iter().find(|member| member.boot == boot).and_then(|member| member.assignment)
}
