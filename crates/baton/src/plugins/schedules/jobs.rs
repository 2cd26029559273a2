//! The jobs that a node declares, which may change while it runs.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use baton_core::schedule::{Declared, InvalidSchedule};
use baton_store::Store;
use tokio::sync::{Notify, watch};

use super::job::{ScheduledJob, ScheduledWork};

/// The jobs of a node: what is due, and what runs then.
pub(crate) struct Jobs {
    declared: watch::Sender<Arc<Declared>>,
    work: Mutex<BTreeMap<String, Arc<dyn ScheduledWork>>>,
    /// Raised when a person may have changed a schedule in the store.
    pub(super) edited: Notify,
    /// The handle on the store that pages have of their own, if they have one.
    pub(super) store: Option<Arc<dyn Store>>,
    /// Does the node have the plugin that runs them?
    pub(super) is_hosted: AtomicBool,
}

impl Jobs {
    /// No jobs. Their pages are read and written through this handle, if one is given.
    pub(crate) fn new(store: Option<Arc<dyn Store>>) -> Self {
        let (work, edited, is_hosted) = (Mutex::default(), Notify::new(), AtomicBool::new(false));
        Self { declared: watch::channel(Arc::default()).0, work, edited, store, is_hosted }
    }

    /// Adds jobs, each under a name of its own.
    pub(crate) fn add(&self, jobs: Vec<ScheduledJob>) -> Result<(), InvalidSchedule> {
        self.change(|declared, work| {
            for job in jobs {
                let (schedule, does) = job.resolve()?;
                let name = schedule.definition.name.clone();
                declared.add(schedule)?;
                work.insert(name, does);
            }
            Ok(())
        })
    }

    /// Adds a job, or puts it in the place of the one of its name.
    pub(super) fn set(&self, job: ScheduledJob) -> Result<(), InvalidSchedule> {
        let (schedule, does) = job.resolve()?;
        self.change(|declared, work| {
            work.insert(schedule.definition.name.clone(), does);
            declared.set(schedule)
        })
    }

    /// Removes a job. False if there is none of this name.
    pub(super) fn remove(&self, name: &str) -> bool {
        let removed = self.change(|declared, work| {
            work.remove(name);
            Ok(declared.remove(name))
        });
        removed.unwrap_or(false)
    }

    fn change<T>(
        &self,
        change: impl FnOnce(
            &mut Declared,
            &mut BTreeMap<String, Arc<dyn ScheduledWork>>,
        ) -> Result<T, InvalidSchedule>,
    ) -> Result<T, InvalidSchedule> {
        let mut work = self.work.lock().expect("no holder panics");
        let (mut declared, mut changed) = ((**self.declared.borrow()).clone(), work.clone());
        let result = change(&mut declared, &mut changed)?;
        *work = changed;
        self.declared.send_replace(Arc::new(declared));
        Ok(result)
    }

    pub(crate) fn declared(&self) -> watch::Receiver<Arc<Declared>> {
        self.declared.subscribe()
    }

    pub(super) fn work(&self, name: &str) -> Option<Arc<dyn ScheduledWork>> {
        self.work.lock().expect("no holder panics").get(name).cloned()
    }
}
