//! The engine: every call is one statement over the one connection.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_store::{
    Answer, Call, Capability, Class, Declaration, ExpiryClock, Finding, HintStream, StoreError,
};
use tokio::task::JoinSet;
use tokio_postgres::types::PgLsn;

use super::config::PostgresConfig;
use super::connect::{self, Connection, PostgresConnector};
use super::context::CallContext;
use super::{NAME, examine, schema};
use crate::OpenError;
use crate::driver::{ConnectionSlot, SchemaPresence, SeenLeases, within};
use crate::reader::Access;
use crate::service::Engine;

/// Making the schema may wait for others that make it too.
const SCHEMA_TIMEOUT: Duration = Duration::from_secs(20);

/// The furthest that this handle has seen the data get. Behind that, it has gone back.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    pub(super) lineage: u64,
    pub(super) lsn: PgLsn,
}

/// A handle on the server.
pub(super) struct Postgres {
    slot: Arc<ConnectionSlot<PostgresConnector>>,
    listening: OnceLock<Mutex<JoinSet<()>>>,
    presence: SchemaPresence,
    seen: Mutex<Seen>,
    pub(super) leases: SeenLeases,
}

impl Postgres {
    /// Connects, and sees to it that the schema is there and may be used. A reader only looks.
    pub(super) async fn open(config: PostgresConfig, access: Access) -> Result<Self, OpenError> {
        let timeout = config.timeout;
        let slot = ConnectionSlot::new(PostgresConnector::new(config, access)?, timeout);
        let connection = slot.get().await?;
        let connector = slot.connector();
        let ready = async {
            if access == Access::Read {
                return schema::look(&connection.client, &connector.config).await;
            }
            schema::ensure(&connection.client, &connector.config).await?;
            examine::require_rights(&connection.client, &connector.config).await?;
            connector.ready(&connection).await;
            Ok(true)
        };
        let found = within(SCHEMA_TIMEOUT, ready).await.unwrap_or_else(|| {
            let place = connector.config.place();
            let detail = format!("the schema took longer than {SCHEMA_TIMEOUT:?}");
            Err(OpenError::Unreachable { store: NAME, place, detail })
        })?;
        Ok(Self {
            slot: Arc::new(slot),
            listening: OnceLock::new(),
            presence: SchemaPresence::new(found),
            seen: Mutex::new(Seen { lineage: 0, lsn: PgLsn::from(0) }),
            leases: SeenLeases::default(),
        })
    }

    pub(super) fn config(&self) -> &PostgresConfig {
        &self.slot.connector().config
    }

    pub(super) fn access(&self) -> Access {
        self.slot.connector().access
    }

    /// The furthest that was seen.
    pub(super) fn seen(&self) -> Seen {
        *self.seen.lock().expect("no holder of this lock panics")
    }

    /// A reply showed this. Positions are comparable within a lineage only.
    pub(super) fn note_seen(&self, lineage: u64, lsn: PgLsn) {
        let mut seen = self.seen.lock().expect("no holder of this lock panics");
        if lineage > seen.lineage || (lineage == seen.lineage && lsn > seen.lsn) {
            *seen = Seen { lineage, lsn };
        }
    }
}

#[async_trait]
impl Engine for Postgres {
    fn declaration(&self) -> Declaration {
        use Capability::{Counters, Lineage, MemberAge, Push};
        let capabilities = [Push, MemberAge, Lineage, Counters].into();
        let (name, class) = (NAME.to_owned(), Class::SingleServer);
        Declaration { name, class, expiry: ExpiryClock::Store, capabilities }
    }

    async fn call(&self, namespace: &Namespace, call: Call) -> Result<Answer, StoreError> {
        let call = &call;
        let on = |connection: Arc<Connection>| async move {
            let client = &connection.client;
            let look = schema::look(client, self.config());
            if let Some(nothing) = self.presence.answer_when_empty(call, look).await? {
                return Ok(nothing);
            }
            CallContext { client, engine: self, namespace }.perform(call).await
        };
        self.slot.run(on).await
    }

    async fn hints(&self, namespace: &Namespace) -> Result<HintStream, StoreError> {
        self.listening.get_or_init(|| {
            let (mut tasks, slot) = (JoinSet::new(), Arc::clone(&self.slot));
            tasks.spawn(async move { slot.connector().subscriptions.keep_connected(&slot).await });
            Mutex::new(tasks)
        });
        let names = self.config().names();
        loop {
            let listening = |connection: Arc<Connection>| {
                let names = &names;
                async move {
                    let channel = connect::listen(&connection.client, names, namespace).await?;
                    Ok((channel, connection))
                }
            };
            let (channel, connection) = self.slot.run(listening).await?;
            let subscriptions = &self.slot.connector().subscriptions;
            let stream = subscriptions.subscribe(channel, namespace);
            // A connection that was made meanwhile does not know of this subscription.
            if self.slot.is_present(&connection) {
                return Ok(stream);
            }
        }
    }

    async fn examine(&self) -> Result<Vec<Finding>, StoreError> {
        let on = |connection: Arc<Connection>| async move {
            examine::examine(&connection.client, self.config()).await
        };
        self.slot.run(on).await
    }
}
