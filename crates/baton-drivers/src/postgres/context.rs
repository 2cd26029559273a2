//! Where a call happens: one statement, one row back.

use baton_core::ids::Namespace;
use tokio_postgres::types::{FromSql, ToSql, Type};
use tokio_postgres::{Client, Row};

use super::engine::Postgres;
use crate::driver::{DriverError, Fields, Record};

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
    pub(super) engine: &'a Postgres,
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
        row.try_get(at).map_err(|problem| self.corrupt(&super::error::whole(&problem)))
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
        let found: Result<Option<Raw<'_>>, _> = self.try_get(name);
        found.map(|raw| raw.map(|raw| raw.0)).map_err(|problem| super::error::whole(&problem))
    }
}

struct Raw<'a>(&'a [u8]);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(raw))
    }

    fn accepts(kind: &Type) -> bool {
        matches!(*kind, Type::TEXT | Type::BYTEA)
    }
}
