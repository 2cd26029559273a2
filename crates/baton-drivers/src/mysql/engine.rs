//! The engine: every call becomes one statement, and its answer is read.

use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use baton_core::ids::{Lineage, Namespace};
use baton_store::{Answer, Call, Capability, Class, Declaration, ExpiryClock, Finding, StoreError};

use super::config::MysqlConfig;
use super::connect::Servers;
use super::context::CallContext;
use super::schema::{self, Flavour};
use super::{NAME, examine};
use crate::OpenError;
use crate::driver::{DriverError, SchemaPresence, SeenLeases};
use crate::reader::Access;
use crate::service::Engine;

/// A handle on the servers.
pub(super) struct MysqlEngine {
    pub(super) servers: Servers,
    pub(super) flavour: Flavour,
    presence: SchemaPresence,
    /// The highest lineage that a call of this handle was in.
    seen: AtomicU64,
    pub(super) leases: SeenLeases,
}

impl MysqlEngine {
    /// Connects, looks at what the server is, and sees to the schema. A reader only looks.
    pub(super) async fn open(config: MysqlConfig, access: Access) -> Result<Self, OpenError> {
        let servers = Servers::new(config)?;
        let flavour = examine::first_look(&servers).await?;
        let found = match access {
            Access::Read => schema::look(&servers).await?,
            Access::Write => schema::ensure(&servers, flavour).await.map(|()| true)?,
        };
        let (presence, seen) = (SchemaPresence::new(found), AtomicU64::new(0));
        Ok(Self { servers, flavour, presence, seen, leases: SeenLeases::default() })
    }

    pub(super) fn seen(&self) -> Lineage {
        Lineage(self.seen.load(Ordering::Relaxed))
    }

    pub(super) fn note_seen(&self, lineage: Lineage) {
        self.seen.fetch_max(lineage.0, Ordering::Relaxed);
    }
}

#[async_trait]
impl Engine for MysqlEngine {
    fn declaration(&self) -> Declaration {
        use Capability::{Counters, Lineage, MemberAge};
        let capabilities = [MemberAge, Lineage, Counters].into();
        let (name, class) = (NAME.to_owned(), Class::SingleServer);
        Declaration { name, class, expiry: ExpiryClock::Store, capabilities }
    }

    async fn call(&self, namespace: &Namespace, call: Call) -> Result<Answer, StoreError> {
        let look = schema::look(&self.servers);
        if let Some(nothing) = self.presence.answer_when_empty(&call, look).await? {
            return Ok(nothing);
        }
        let done = CallContext { engine: self, namespace }.perform(&call).await;
        done.map_err(DriverError::into_store_error)
    }

    async fn examine(&self) -> Result<Vec<Finding>, StoreError> {
        examine::examine(self).await.map_err(DriverError::into_store_error)
    }
}
