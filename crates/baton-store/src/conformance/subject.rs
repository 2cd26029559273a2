//! What the suite asks of the tests that hand a driver to it.

use std::fmt::{Debug, Display};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use baton_core::ids::{BootId, Namespace};

use super::case::Requirement;
use crate::capability::{Declaration, ExpiryClock};
use crate::contract::{Backend, Contract};
use crate::election::{Election, Store};

/// A contract whose stores can be handed to a suite.
pub trait Conforms: Contract {
    /// What cases are written against.
    type Handle: Backend<Self> + ?Sized;
    /// What only some stores have.
    type Requirement: Copy + Debug + Display + PartialEq + Send + Sync + 'static;

    /// Does a store that declares this have it?
    fn has(declaration: &Self::Declaration, need: Self::Requirement) -> bool;

    /// The store's name, for the report.
    fn name(declaration: &Self::Declaration) -> &str;
}

impl Conforms for Election {
    type Handle = dyn Store;
    type Requirement = Requirement;

    fn has(declaration: &Declaration, need: Requirement) -> bool {
        match need {
            Requirement::Capability(capability) => declaration.has(capability),
            Requirement::Expiry => declaration.expiry != ExpiryClock::Observer,
        }
    }

    fn name(declaration: &Declaration) -> &str {
        &declaration.name
    }
}

/// How long the leases of the suite are, and how much it writes. A driver whose time is real
/// chooses short leases and fewer increments.
#[derive(Clone, Copy, Debug)]
pub struct SuiteSettings {
    /// The leases that the cases take.
    pub ttl: Duration,
    /// How much later than the ttl a lease may still be found live.
    pub lateness: Duration,
    /// How many increments each of the 64 workers makes.
    pub increments: u64,
}

impl Default for SuiteSettings {
    fn default() -> Self {
        Self { ttl: Duration::from_secs(10), lateness: Duration::ZERO, increments: 1_000 }
    }
}

/// A store under test, and what can be done to it.
///
/// What cannot be arranged is said with `Ok(false)` or `None`, as it is unless a subject says how;
/// the report counts it. An `Err` is a failure of the arrangement itself, and fails the case.
#[async_trait]
pub trait Subject<C: Conforms = Election>: Send + Sync {
    /// A fresh handle, with a connection of its own, on the same data.
    async fn open(&self) -> Arc<C::Handle>;

    /// A namespace that was never used, with this label in its name. At most 100 bytes long.
    fn namespace(&self, label: &str) -> Namespace;

    /// Lets this much time pass by the clock that judges leases. May be dropped in between.
    async fn pass(&self, span: Duration);

    /// How long the leases are, and how much is written.
    fn settings(&self) -> SuiteSettings;

    /// Stops the store and starts it again with its data.
    async fn restart(&self) -> Result<bool, String> {
        Ok(false)
    }

    /// Keeps a copy of the namespace's data, in place of the last one.
    async fn keep_copy(&self, _namespace: &Namespace) -> Result<bool, String> {
        Ok(false)
    }

    /// Puts the copy back, as a restored backup or a promoted replica would.
    async fn restore_copy(&self, _namespace: &Namespace) -> Result<(), String> {
        Err("no copy was kept".to_owned())
    }

    /// Overwrites the namespace's lease with something that is not a lease.
    async fn corrupt(&self, _namespace: &Namespace) -> Result<bool, String> {
        Ok(false)
    }

    /// A handle whose session is in the time zone +02:00.
    async fn open_in_another_zone(&self) -> Option<Arc<C::Handle>> {
        None
    }

    /// Kills the process of this boot, which has beaten, so that nothing of it can act any more.
    async fn kill(&self, _boot: BootId) -> Result<bool, String> {
        Ok(false)
    }

    /// Steps the wall clock of this machine's side by this many minutes; the store's data stays.
    async fn step_wall(&self, _minutes: i64) -> Result<bool, String> {
        Ok(false)
    }
}
