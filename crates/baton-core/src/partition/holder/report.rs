//! What a process says of its partitions with its beats.

use std::sync::Arc;

use super::{Action, Holder};
use crate::partition::assignment::PartitionReport;
use crate::time::Moment;

/// The most runs of numbers in a report: it is in every beat and in every reading of the records.
pub const STOPPING_RUNS_MAX: usize = 64;

impl Holder {
    /// Reports what has changed. With too much that is stopping it waits: the last report stays
    /// true, because it promises less.
    pub(super) fn report(&mut self, now: Moment, actions: &mut Vec<Action>) {
        let Some(lineage) = self.lineage else { return };
        let stopping = self.runs.iter().filter(|(_, run)| run.is_stopping);
        let report = PartitionReport {
            lineage,
            session: self.session,
            acked: self.applied,
            stopping: stopping.map(|(partition, _)| partition.clone()).collect(),
        };
        let is_known = self.reported.as_deref() == Some(&report);
        if is_known || report.stopping.runs() > STOPPING_RUNS_MAX {
            return;
        }
        self.reported_at.get_or_insert(now);
        let report = Arc::new(report);
        self.reported = Some(report.clone());
        actions.push(Action::Report(report));
    }
}
