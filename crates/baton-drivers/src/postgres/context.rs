//! The driver on its thread, and one call: a statement over the one connection, and one row back.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_store::{
    Answer, Call, Capability, Class, Declaration, ExpiryClock, Finding, HintStream, StoreError,
};
use tokio::task::JoinSet;
use tokio_postgres::types::{FromSql, PgLsn, ToSql, Type};
use tokio_postgres::{Client, Row};

use super::config::PostgresConfig;
use super::connect::{self, Connection, PostgresConnector};
use super::{NAME, examine, schema};
use crate::OpenError;
use crate::driver::{
    ConnectionSlot, DriverError, Fields, Record, SchemaPresence, SeenLeases, within,
};
use crate::reader::Access;
use crate::service::Engine;

/// Making the schema may wait for others that make it too.
const SCHEMA_TIMEOUT: Duration = Duration::from_secs(20);

/// The furthest that this handle has seen the data get. Behind that, it has gone back.
#[derive(Clone, Copy)]
pub(super) struct SeenPosition {
    pub(super) lineage: u64,
    pub(super) lsn: PgLsn,
}

/// A handle on the server.
pub(super) struct PostgresEngine {
    slot: Arc<ConnectionSlot<PostgresConnector>>,
    listening: OnceLock<Mutex<JoinSet<()>>>,
    presence: SchemaPresence,
    seen: Mutex<SeenPosition>,
    pub(super) leases: SeenLeases,
}

impl PostgresEngine {
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
            seen: Mutex::new(SeenPosition { lineage: 0, lsn: PgLsn::from(0) }),
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
    pub(super) fn seen(&self) -> SeenPosition {
        *self.seen.lock().expect("no holder of this lock panics")
    }

    /// A reply showed this. Positions are comparable within a lineage only.
    pub(super) fn note_seen(&self, lineage: u64, lsn: PgLsn) {
        let mut seen = self.seen.lock().expect("no holder of this lock panics");
        if lineage > seen.lineage || (lineage == seen.lineage && lsn > seen.lsn) {
            *seen = SeenPosition { lineage, lsn };
        }
    }
}

#[async_trait]
impl Engine for PostgresEngine {
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

/// A parameter and its type: sent together, so that the server need not be asked first.
pub(super) type Param<'a> = (&'a (dyn ToSql + Sync), Type);

pub(super) fn text(value: &(impl ToSql + Sync)) -> Param<'_> {
    (value, Type::TEXT)
}

pub(super) fn bytea(value: &(impl ToSql + Sync)) -> Param<'_> {
    (value, Type::BYTEA)
}

pub(super) fn int8(value: &i64) -> Param<'_> {
    (value, Type::INT8)
}

pub(super) fn jsonb(value: &(impl ToSql + Sync)) -> Param<'_> {
    (value, Type::JSONB)
}

/// Where a call happens.
pub(super) struct CallContext<'a> {
    pub(super) client: &'a Client,
    pub(super) engine: &'a PostgresEngine,
    pub(super) namespace: &'a Namespace,
}

impl CallContext<'_> {
    /// Runs a statement whose `$1` is the namespace. `{t}` stands for schema and prefix.
    pub(super) async fn rows(
        &self,
        sql: &str,
        more: &[Param<'_>],
    ) -> Result<Vec<Row>, DriverError> {
        let namespace = self.namespace.as_str();
        let mut params = vec![text(&namespace)];
        params.extend(more.iter().cloned());
        let sql = sql.replace("{t}", &self.engine.config().names());
        Ok(self.client.query_typed(&sql, &params).await?)
    }

    /// Calls one of our functions: `$1` is the namespace, `$2` and `$3` what this handle has seen.
    pub(super) async fn call(&self, sql: &str, more: &[Param<'_>]) -> Result<Row, DriverError> {
        let seen = self.engine.seen();
        let lineage = seen.lineage.to_string();
        let mut params: Vec<Param<'_>> = vec![text(&lineage), (&seen.lsn, Type::PG_LSN)];
        params.extend(more.iter().cloned());
        self.only(self.rows(sql, &params).await?)
    }

    /// The one row of an answer.
    pub(super) fn only(&self, rows: Vec<Row>) -> Result<Row, DriverError> {
        rows.into_iter().next().ok_or_else(|| self.corrupt("the server answered without a row"))
    }

    /// A column, which must be what we write.
    pub(super) fn column<'r, T: FromSql<'r>>(
        &self,
        row: &'r Row,
        at: usize,
    ) -> Result<T, DriverError> {
        row.try_get(at).map_err(|problem| self.corrupt(&super::error::full_message(&problem)))
    }

    /// A number of 64 bits in a column of text.
    pub(super) fn number(&self, row: &Row, name: &str) -> Result<u64, DriverError> {
        Record::new(row, &self.record_name()).number(name)
    }

    /// An answer that is not one of ours.
    pub(super) fn corrupt(&self, detail: &str) -> DriverError {
        DriverError::corrupt(self.record_name(), detail)
    }

    fn record_name(&self) -> String {
        format!("a record of namespace {}", self.namespace)
    }
}

/// Columns of text and of bytes, as records are read from them.
impl Fields for Row {
    fn bytes(&self, name: &str) -> Result<Option<&[u8]>, String> {
        let text: Result<Option<&str>, _> = self.try_get(name);
        let found = text.map(|text| text.map(str::as_bytes)).or_else(|_| self.try_get(name));
        found.map_err(|problem| super::error::full_message(&problem))
    }
}
