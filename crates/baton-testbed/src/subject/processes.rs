//! The fixture across processes: every handle is in a process of its own, which can be killed with
//! -9, and whose wall clock can be stepped.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use baton_core::ids::BootId;
use baton_store::Store;
use baton_store::conformance::{SuiteSettings, cases};
use baton_store::wrap::Wrapped;
use tempfile::TempDir;

use super::fixture::Fixture;
use super::names::Names;
use super::peer_backend::{OpenStores, PeerBackend};
use super::with_handles::{FixtureSubject, Handles};
use crate::folders;
use crate::peer::{Process, Remote, Start};

/// A process a handle. Processes live until the next case begins, whatever becomes of their
/// handles. Time is real.
pub type Processes<G> = FixtureSubject<G, ProcessHandles>;

/// Opens each handle in a process of its own.
pub struct ProcessHandles {
    cases: Vec<&'static str>,
    alive: Mutex<Vec<Arc<Process>>>,
    open_stores: OpenStores,
    minutes_ahead: Mutex<i64>,
    folder: TempDir,
}

impl<G: Fixture> FixtureSubject<G, ProcessHandles> {
    /// The subject on this fixture.
    pub fn new(fixture: G, settings: SuiteSettings) -> Self {
        Self { fixture, handles: ProcessHandles::new(), settings, names: Names::new() }
    }
}

impl ProcessHandles {
    fn new() -> Self {
        let folder = folders::temporary("clock", false).expect("the target folder can be written");
        let handles = Self {
            cases: cases().iter().map(|case| case.name).collect(),
            alive: Mutex::default(),
            open_stores: OpenStores::default(),
            minutes_ahead: Mutex::new(0),
            folder,
        };
        let set = Process::set_clock(&handles.clock(), 0);
        set.expect("the target folder can be written");
        handles
    }

    fn clock(&self) -> PathBuf {
        self.folder.path().join("clock")
    }
}

#[async_trait]
impl Handles for ProcessHandles {
    async fn open(&self, url: String, zone: &str) -> Arc<dyn Store> {
        let clock = self.clock();
        let start = Start { zone: Some(zone), faketime: Some(&clock), ..Start::default() };
        let process = Process::start(&url, start).await.expect("the server answers");
        let process = Arc::new(process);
        self.alive.lock().expect("no holder panics").push(Arc::clone(&process));
        let declaration = process.declaration().clone();
        let backend = PeerBackend { declaration, url, open_stores: Arc::clone(&self.open_stores) };
        Arc::new(Wrapped::new(Arc::new(backend), Remote(process)))
    }

    fn namespace_requested(&self, label: &str) {
        if self.cases.contains(&label) {
            self.alive.lock().expect("no holder panics").clear();
            self.open_stores.lock().expect("no holder panics").clear();
        }
    }

    async fn kill(&self, boot: BootId) -> Result<bool, String> {
        let alive = self.alive.lock().expect("no holder panics").clone();
        let process = alive.iter().rev().find(|process| process.is_of(boot));
        process.ok_or("no process has beaten for this boot")?.kill().await;
        Ok(true)
    }

    fn step_wall(&self, minutes: i64) -> Result<bool, String> {
        let mut ahead = self.minutes_ahead.lock().expect("no holder panics");
        *ahead += minutes;
        Process::set_clock(&self.clock(), *ahead * 60).map(|()| true)
    }
}
