//! The ground across processes: every handle is in a process of its own, which can be killed with
//! -9, and whose wall clock can be stepped.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use baton_core::ids::{BootId, Namespace};
use baton_store::Store;
use baton_store::clock::{Clock, SystemClock};
use baton_store::conformance::{Pace, Subject, cases};
use baton_store::wrap::Wrapped;
use tempfile::TempDir;

use super::ground::Ground;
use super::local::{Kept, Local};
use super::names::Names;
use crate::peer::{Open, Process, Remote, Start};
use crate::place;

/// A process a handle. Processes live until the next case begins, whatever becomes of their
/// handles. Time is real.
pub struct Processes<G> {
    ground: G,
    open: Open,
    pace: Pace,
    names: Names,
    cases: Vec<&'static str>,
    alive: Mutex<Vec<Arc<Process>>>,
    kept: Kept,
    minutes_ahead: Mutex<i64>,
    folder: TempDir,
}

impl<G: Ground> Processes<G> {
    /// The subject on this ground.
    pub fn new(ground: G, open: Open, pace: Pace) -> Self {
        let folder = place::temporary("clock", false).expect("the target folder can be written");
        let cases = cases().iter().map(|case| case.name).collect();
        let subject = Self {
            ground,
            open,
            pace,
            names: Names::new(),
            cases,
            alive: Mutex::default(),
            kept: Kept::default(),
            minutes_ahead: Mutex::new(0),
            folder,
        };
        let set = Process::set_clock(&subject.clock(), 0);
        set.expect("the target folder can be written");
        subject
    }

    /// The ground.
    pub fn ground(&self) -> &G {
        &self.ground
    }

    fn clock(&self) -> PathBuf {
        self.folder.path().join("clock")
    }

    async fn open_in(&self, zone: &str, url: String) -> Arc<dyn Store> {
        let clock = self.clock();
        let start = Start { zone: Some(zone), faketime: Some(&clock) };
        let process = Process::start(&url, start).await.expect("the server answers");
        let process = Arc::new(process);
        self.alive.lock().expect("no holder panics").push(Arc::clone(&process));
        let declaration = process.declaration().clone();
        let local = Local { declaration, open: self.open, url, kept: Arc::clone(&self.kept) };
        Arc::new(Wrapped::new(Arc::new(local), Remote(process)))
    }

    fn end_the_last_case(&self) {
        self.alive.lock().expect("no holder panics").clear();
        self.kept.lock().expect("no holder panics").clear();
    }
}

#[async_trait]
impl<G: Ground> Subject for Processes<G> {
    async fn open(&self) -> Arc<dyn Store> {
        self.open_in("UTC", self.ground.url()).await
    }

    fn namespace(&self, label: &str) -> Namespace {
        if self.cases.contains(&label) {
            self.end_the_last_case();
        }
        self.names.next(label)
    }

    async fn pass(&self, span: Duration) {
        SystemClock.sleep(span).await;
    }

    fn pace(&self) -> Pace {
        self.pace
    }

    async fn restart(&self) -> Result<bool, String> {
        self.ground.restart().await
    }

    async fn keep_copy(&self, namespace: &Namespace) -> Result<bool, String> {
        self.ground.keep_copy(namespace).await
    }

    async fn restore_copy(&self, namespace: &Namespace) -> Result<(), String> {
        self.ground.restore_copy(namespace).await
    }

    async fn corrupt(&self, namespace: &Namespace) -> Result<bool, String> {
        self.ground.corrupt(namespace).await
    }

    async fn open_in_another_zone(&self) -> Option<Arc<dyn Store>> {
        let url = self.ground.url_in_another_zone()?;
        Some(self.open_in("Etc/GMT-2", url).await)
    }

    async fn kill(&self, boot: BootId) -> Result<bool, String> {
        let alive = self.alive.lock().expect("no holder panics").clone();
        let process = alive.iter().rev().find(|process| process.is_of(boot));
        process.ok_or("no process has beaten for this boot")?.kill().await;
        Ok(true)
    }

    async fn step_wall(&self, minutes: i64) -> Result<bool, String> {
        let mut ahead = self.minutes_ahead.lock().expect("no holder panics");
        *ahead += minutes;
        Process::set_clock(&self.clock(), *ahead * 60).map(|()| true)
    }
}
