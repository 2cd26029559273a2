//! The driver on its thread, and one call: it becomes one statement, and its answer is read.

use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use baton_core::ids::{Lineage, Namespace};
use baton_store::{Answer, Call, Capability, Class, Declaration, ExpiryClock, Finding, StoreError};
use mysql_async::{Row, Value};

use super::config::MysqlConfig;
use super::connect::Servers;
use super::schema::{self, Flavour};
use super::statement::{Ascii, Statement};
use super::{NAME, examine};
use crate::OpenError;
use crate::driver::{DriverError, Fields, Record, SchemaPresence, SeenLeases};
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

/// Where a call happens.
pub(super) struct CallContext<'a> {
    pub(super) engine: &'a MysqlEngine,
    pub(super) namespace: &'a Namespace,
}

impl CallContext<'_> {
    /// What the names of tables and procedures begin with.
    pub(super) fn prefix(&self) -> &str {
        &self.engine.servers.config.prefix
    }

    /// A call of one of our procedures: its first arguments are the namespace and the lineage that
    /// this handle has seen.
    pub(super) fn procedure(&self, name: &str) -> Statement {
        Statement::call(self.prefix(), name).with(Ascii(self.namespace)).with(self.engine.seen().0)
    }

    /// Runs a statement.
    pub(super) async fn rows(&self, text: String) -> Result<Vec<Row>, DriverError> {
        let servers = &self.engine.servers;
        let answer = servers.query(text).await;
        answer.map_err(|error| servers.failed(error, Some(self.namespace)))
    }

    /// The one row of an answer.
    pub(super) async fn row(&self, text: String) -> Result<Row, DriverError> {
        let row = self.rows(text).await?.into_iter().next();
        row.ok_or_else(no_row)
    }

    /// Calls a procedure that tells the lineage it took place in, with every row.
    pub(super) async fn call_rows(&self, procedure: Statement) -> Result<Vec<Row>, DriverError> {
        let rows = self.rows(procedure.text()).await?;
        let first = rows.first().ok_or_else(no_row)?;
        let lineage = Record::new(first, &self.record_name()).number("lineage")?;
        self.engine.note_seen(Lineage(lineage));
        Ok(rows)
    }

    /// The same of a procedure that answers with one row.
    pub(super) async fn call(&self, procedure: Statement) -> Result<Row, DriverError> {
        self.call_rows(procedure).await?.into_iter().next().ok_or_else(no_row)
    }

    /// What to call a record in errors, if it has no better name.
    pub(super) fn record_name(&self) -> String {
        format!("a record of namespace {}", self.namespace)
    }
}

fn no_row() -> DriverError {
    DriverError::unknown("the server answered without a row")
}

impl Fields for Row {
    fn bytes(&self, name: &str) -> Result<Option<&[u8]>, String> {
        let columns = self.columns_ref();
        let at = columns.iter().position(|column| column.name_ref() == name.as_bytes());
        match at.and_then(|at| self.as_ref(at)) {
            Some(Value::NULL) => Ok(None),
            Some(Value::Bytes(bytes)) => Ok(Some(bytes)),
            other => Err(format!("{other:?}")),
        }
    }
}
