//! The handle: every call becomes one job.

use std::sync::Arc;

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_store::clock::{Clock, SystemClock};
use baton_store::{
    Answer, Backend, Call, Capability, Class, Contract, Declaration, Election, ExpiryClock,
    Finding, StoreError,
};
use tokio::sync::{mpsc, oneshot};

use super::config::SqliteConfig;
use super::connect::FileConnection;
use super::error::SqliteOpenError;
use super::machine::Machine;
use super::worker::{self, Job};

/// A handle on the file, with a connection and a thread of its own. The thread ends with it.
pub struct SqliteStore {
    jobs: mpsc::Sender<Job>,
}

impl SqliteStore {
    /// Opens the file. Blocks for as long as that takes.
    pub fn open(config: SqliteConfig) -> Result<Self, SqliteOpenError> {
        Self::open_with_clock(config, Arc::new(SystemClock))
    }

    /// The same, but leases are judged by this clock. Every process on the file must have the same.
    pub fn open_with_clock(
        config: SqliteConfig,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, SqliteOpenError> {
        let (machine, config) = (Machine::here(clock)?, config.absolute()?);
        let connection = FileConnection::open(&config, &machine, true, 0)?;
        Ok(Self { jobs: worker::start(config, machine, connection)? })
    }
}

/// What the store says of itself.
pub(super) fn declaration() -> Declaration {
    use Capability::{Counters, DeathProof, Lineage, MemberAge};
    let capabilities = [MemberAge, Lineage, DeathProof, Counters].into();
    let (name, class) = ("sqlite".to_owned(), Class::SingleServer);
    Declaration { name, class, expiry: ExpiryClock::Store, capabilities }
}

#[async_trait]
impl Backend for SqliteStore {
    fn declaration(&self) -> Declaration {
        declaration()
    }

    async fn call(&self, namespace: &Namespace, call: Call) -> Result<Answer, StoreError> {
        if let Some(answer) = Election::check_call(&declaration(), &call)? {
            return Ok(answer);
        }
        let (reply, answer) = oneshot::channel();
        let job = Job { namespace: namespace.clone(), call, reply };
        let detail = "the store's thread has ended; open the store again";
        let gone = |_| StoreError::Unavailable { detail: detail.to_owned() };
        self.jobs.send(job).await.map_err(gone)?;
        let detail = "the store's thread ended during this call".to_owned();
        let answer = answer.await.map_err(|_| StoreError::Unknown { detail })?;
        Election::check_answer(namespace, answer?)
    }

    /// There is no server; what can be wrong with the file is found when it is opened.
    async fn examine(&self) -> Result<Vec<Finding>, StoreError> {
        Ok(Vec::new())
    }
}
