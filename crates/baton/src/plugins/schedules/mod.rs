//! Schedules: work that runs once for each slot, on the leader, through crashes and failovers.
//!
//! ```text
//!   cron("report", "0 2 * * *", …) ──► Jobs ──► SchedulesPlugin, on the leader
//!   NodeBuilder::schedule             names,     │ drives the Scheduler of baton-core
//!                                     work       ├──► pages: documents baton:schedules:N, fenced
//!   Schedules: any process ──────────────────────┤      claimed there before anything starts
//!     all, pause, resume, run  ─ hint ──────────►└──► attempts: tasks, stopped with the term
//! ```
//!
//! The pages in the store are authoritative for which slots were claimed; the work itself stays in
//! this process. A slot is claimed by a write that carries the epoch of the term, so that two
//! leaders never start the same one.

mod attempt;
mod client;
mod hint;
mod job;
mod jobs;
mod leader;
mod pages;
mod zones;

use std::sync::Arc;
use std::sync::atomic::Ordering;

pub use baton_core::schedule::own_namespace::own_namespace;
pub use baton_core::schedule::{
    Daylight, Definition, EditRefused, Entry, HistoryEntry, InvalidSchedule, Misfire, MissReason,
    OnCrash, Overlap, RunId, RunOutcome, RunState, Schedule, Slot, UnknownZone,
};
pub use client::{ScheduleError, Schedules, StoredSchedule};
pub use job::{CutOff, ScheduledJob, ScheduledRun, ScheduledWork, cron};
pub use pages::PagesError;
pub use zones::{resolve, time_zone};

pub(crate) use hint::EditHints;
pub(crate) use jobs::Jobs;
pub(crate) use leader::SchedulesPlugin;

use crate::error::BuildError;
use crate::node::Node;

impl Node {
    /// The schedules of the namespace, as they stand in the store.
    pub fn schedules(&self) -> Schedules {
        Schedules::of(&self.shared)
    }

    /// Adds a job to the running node, or puts it in the place of the one of its name. It is due
    /// when this node leads.
    pub fn set_schedule(&self, job: ScheduledJob) -> Result<(), BuildError> {
        self.shared.jobs.set(job)?;
        host(&self.shared.plugins, &self.shared.jobs)
    }

    /// Removes a job from the running node; what runs of it goes on. False if there is none of this
    /// name.
    pub fn remove_schedule(&self, name: &str) -> bool {
        self.shared.jobs.remove(name)
    }
}

/// Adds what runs schedules to a node that has some, if it is not there yet.
pub(crate) fn host(plugins: &crate::plugin::PluginSet, jobs: &Arc<Jobs>) -> Result<(), BuildError> {
    if jobs.is_hosted.swap(true, Ordering::AcqRel) {
        return Ok(());
    }
    plugins.add(Arc::new(SchedulesPlugin::new(jobs.clone())))?;
    plugins.add_service(Arc::new(EditHints(jobs.clone()))).map(drop)
}
