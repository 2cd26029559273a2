//! The memory store as a subject: time is moved by hand, and everything can be arranged.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use baton_core::ids::{BootId, Namespace};
use baton_store::clock::ManualClock;
use baton_store::conformance::{Subject, SuiteSettings};
use baton_store::memory::{MemoryStore, Space};
use baton_store::wrap::{Layer, Wrapped};
use baton_store::{
    Answer, Backend, Call, Capability, Class, Declaration, ExpiryClock, Store, StoreError,
};

use crate::wrong::{Bent, Wrong};

/// What a memory store is to declare.
pub fn declaration(class: Class, expiry: ExpiryClock, capabilities: &[Capability]) -> Declaration {
    Declaration {
        name: format!("memory as {class:?} with {expiry:?} expiry"),
        class,
        expiry,
        capabilities: capabilities.iter().copied().collect(),
    }
}

/// A memory store under test.
pub struct Memory {
    clock: Arc<ManualClock>,
    store: Mutex<Arc<MemoryStore>>,
    copies: Mutex<BTreeMap<Namespace, Space>>,
    wall_offset_ms: Mutex<i64>,
    namespaces: AtomicU64,
    settings: SuiteSettings,
    bent: Option<Bent>,
    slow: Option<Slow>,
    arrangeable: bool,
}

/// Lets this much time pass before every call.
#[derive(Clone)]
struct Slow(Arc<ManualClock>, Duration);

#[async_trait]
impl Layer for Slow {
    async fn call(
        &self,
        inner: &dyn Backend,
        namespace: &Namespace,
        call: Call,
    ) -> Result<Answer, StoreError> {
        self.0.advance(self.1);
        inner.call(namespace, call).await
    }
}

impl Memory {
    /// A store that declares this.
    pub fn new(declaration: Declaration, settings: SuiteSettings) -> Self {
        let clock = Arc::new(ManualClock::default());
        let store = MemoryStore::new(declaration, clock.clone());
        Self {
            clock,
            store: Mutex::new(Arc::new(store)),
            copies: Mutex::default(),
            wall_offset_ms: Mutex::new(1_700_000_000_000),
            namespaces: AtomicU64::new(0),
            settings,
            bent: None,
            slow: None,
            arrangeable: true,
        }
    }

    /// The same, but wrong in this way.
    pub fn bent(mut self, wrong: Wrong) -> Self {
        self.bent = Some(Bent::new(wrong));
        self
    }

    /// The same, but every call takes this long.
    pub fn slowed(mut self, call: Duration) -> Self {
        self.slow = Some(Slow(self.clock.clone(), call));
        self
    }

    /// The clock that judges its leases.
    pub fn clock(&self) -> Arc<ManualClock> {
        self.clock.clone()
    }

    /// The same, but nothing can be done to it.
    pub fn with_nothing_arrangeable(mut self) -> Self {
        self.arrangeable = false;
        self
    }

    fn store(&self) -> Arc<MemoryStore> {
        self.store.lock().expect("no holder panics").clone()
    }
}

#[async_trait]
impl Subject for Memory {
    async fn open(&self) -> Arc<dyn Store> {
        match (&self.bent, &self.slow) {
            (Some(bent), _) => Arc::new(Wrapped::new(self.store(), bent.clone())),
            (None, Some(slow)) => Arc::new(Wrapped::new(self.store(), slow.clone())),
            (None, None) => self.store(),
        }
    }

    fn namespace(&self, label: &str) -> Namespace {
        let number = self.namespaces.fetch_add(1, Ordering::Relaxed);
        Namespace::new(&format!("{label}-{number}")).expect("labels are valid names")
    }

    async fn pass(&self, span: Duration) {
        self.clock.advance(span);
    }

    fn settings(&self) -> SuiteSettings {
        self.settings
    }

    async fn restart(&self) -> Result<bool, String> {
        if self.arrangeable {
            let mut store = self.store.lock().expect("no holder panics");
            *store = Arc::new(store.restarted());
        }
        Ok(self.arrangeable)
    }

    async fn keep_copy(&self, namespace: &Namespace) -> Result<bool, String> {
        if self.arrangeable {
            let backup = self.store().backup(namespace);
            let copy = backup.ok_or("there is nothing to copy")?;
            let mut copies = self.copies.lock().expect("no holder panics");
            copies.insert(namespace.clone(), copy);
        }
        Ok(self.arrangeable)
    }

    async fn restore_copy(&self, namespace: &Namespace) -> Result<(), String> {
        let kept = self.copies.lock().expect("no holder panics");
        let copy = kept.get(namespace).ok_or("no copy was kept")?.clone();
        self.store().restore(namespace, copy);
        Ok(())
    }

    async fn corrupt(&self, namespace: &Namespace) -> Result<bool, String> {
        if self.arrangeable {
            self.store().corrupt(namespace);
        }
        Ok(self.arrangeable)
    }

    async fn kill(&self, boot: BootId) -> Result<bool, String> {
        if self.arrangeable {
            self.store().process_died(boot);
        }
        Ok(self.arrangeable)
    }

    async fn step_wall(&self, minutes: i64) -> Result<bool, String> {
        if self.arrangeable {
            let mut offset_ms = self.wall_offset_ms.lock().expect("no holder panics");
            *offset_ms += minutes * 60_000;
            let offset_ms = u64::try_from(*offset_ms).map_err(|error| error.to_string())?;
            self.clock.step_wall(offset_ms);
        }
        Ok(self.arrangeable)
    }
}
