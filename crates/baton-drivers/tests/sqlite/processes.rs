//! The store as a subject across processes: every handle is in a process of its own.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use baton_core::ids::{BootId, Namespace};
use baton_drivers::sqlite::SqliteStore;
use baton_store::Store;
use baton_store::conformance::{Pace, Subject, cases};
use baton_store::wrap::Wrapped;

use crate::clock::FileClock;
use crate::file::File;
use crate::peer::{Process, Remote, Start};

/// Processes live until the next case begins, whatever becomes of their handles.
pub struct Processes {
    file: File,
    clock: Arc<FileClock>,
    alive: Mutex<Vec<Arc<Process>>>,
    namespaces: AtomicU64,
    cases: Vec<&'static str>,
    pace: Pace,
}

impl Processes {
    pub fn new(pace: Pace) -> Self {
        let file = File::new();
        let clock = Arc::new(FileClock::create(&file.folder().join("clock")));
        let cases = cases().iter().map(|case| case.name).collect();
        let alive = Mutex::default();
        Self { file, clock, alive, namespaces: AtomicU64::new(0), cases, pace }
    }

    async fn open_in(&self, zone: &str) -> Arc<dyn Store> {
        let clock = self.file.folder().join("clock");
        let start = Start { clock: Some(&clock), zone: Some(zone), ..Start::default() };
        let process = Process::start(&self.file.path(), start).await;
        let process = Arc::new(process.expect("the file can be opened"));
        self.alive.lock().expect("no holder panics").push(Arc::clone(&process));
        // Says what is declared, and makes no call.
        let clock = Arc::clone(&self.clock);
        let here = SqliteStore::open_with_clock(self.file.config(), clock);
        let here = Arc::new(here.expect("the file can be opened"));
        Arc::new(Wrapped::new(here, Remote(process)))
    }

    fn those_alive(&self) -> Vec<Arc<Process>> {
        self.alive.lock().expect("no holder panics").clone()
    }
}

#[async_trait]
impl Subject for Processes {
    async fn open(&self) -> Arc<dyn Store> {
        self.open_in("UTC").await
    }

    fn namespace(&self, label: &str) -> Namespace {
        if self.cases.contains(&label) {
            self.alive.lock().expect("no holder panics").clear();
        }
        let number = self.namespaces.fetch_add(1, Ordering::Relaxed);
        crate::beats::namespace(&format!("{label}-{number}"))
    }

    async fn pass(&self, span: Duration) {
        self.clock.advance(span);
    }

    fn pace(&self) -> Pace {
        self.pace
    }

    /// There is no server but the processes themselves.
    async fn restart(&self) -> Result<bool, String> {
        for process in self.those_alive() {
            process.kill().await;
        }
        Ok(true)
    }

    async fn keep_copy(&self, _namespace: &Namespace) -> Result<bool, String> {
        self.file.keep_copy().map(|()| true)
    }

    async fn restore_copy(&self, _namespace: &Namespace) -> Result<(), String> {
        self.file.restore_copy()
    }

    async fn corrupt(&self, namespace: &Namespace) -> Result<bool, String> {
        self.file.corrupt(namespace).map(|()| true)
    }

    async fn open_in_another_zone(&self) -> Option<Arc<dyn Store>> {
        Some(self.open_in("Etc/GMT-2").await)
    }

    async fn kill(&self, boot: BootId) -> Result<bool, String> {
        let alive = self.those_alive();
        let process = alive.iter().find(|process| process.is_of(boot));
        process.ok_or("no process has beaten for this boot")?.kill().await;
        Ok(true)
    }

    async fn step_wall(&self, minutes: i64) -> Result<bool, String> {
        self.clock.step_wall(minutes);
        Ok(true)
    }
}
