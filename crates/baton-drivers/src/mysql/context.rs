//! Where a call happens: one statement, one answer.

use baton_core::ids::{Lineage, Namespace};
use mysql_async::{Row, Value};

use super::engine::MysqlEngine;
use super::statement::Statement;
use crate::driver::{DriverError, Fields, Record};

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
        Statement::call(self.prefix(), name).with(self.namespace).with(self.engine.seen().0)
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
        row.ok_or_else(|| DriverError::unknown("the server answered without a row"))
    }

    /// Calls a procedure that tells the lineage it took place in.
    pub(super) async fn call(&self, procedure: Statement) -> Result<Row, DriverError> {
        let row = self.row(procedure.text()).await?;
        let lineage = Record::new(&row, &self.record_name()).number("lineage")?;
        self.engine.note_seen(Lineage(lineage));
        Ok(row)
    }

    /// What to call a record in errors, if it has no better name.
    pub(super) fn record_name(&self) -> String {
        format!("a record of namespace {}", self.namespace)
    }
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
