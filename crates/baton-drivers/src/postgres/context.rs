//! Where a call happens, and which file carries it out: one statement, one row back.

use baton_core::ids::Namespace;
use baton_core::protocol::{Outcome, Reply, Request};
use baton_store::{Answer, Call};
use tokio_postgres::types::{FromSql, ToSql, Type};
use tokio_postgres::{Client, Row};

use super::engine::Postgres;
use super::{beat, counters, documents, history, lease, prune, registry, view};
use crate::driver::{DriverError, Fields, Record};

/// A parameter and its type: sent together, so that the server need not be asked first.
pub(super) type Param<'a> = (&'a (dyn ToSql + Sync), Type);

/// Where a call happens.
pub(super) struct CallContext<'a> {
    pub(super) client: &'a Client,
    pub(super) engine: &'a Postgres,
    pub(super) namespace: &'a Namespace,
}

impl CallContext<'_> {
    /// Carries the call out.
    pub(super) async fn perform(&self, call: &Call) -> Result<Answer, DriverError> {
        Ok(match call {
            Call::Core(request) => Answer::Core(self.perform_core(request).await?),
            Call::Inspect => Answer::Inspected(beat::inspect(self).await?),
            Call::ReadDocument { name } => Answer::Document(documents::read(self, name).await?),
            Call::WriteDocument { name, body, precondition, fence } => {
                Answer::Written(documents::write(self, name, body, *precondition, *fence).await?)
            }
            Call::History { limit } => Answer::History(history::newest(self, *limit).await?),
            Call::Namespaces { after, limit } => {
                Answer::Namespaces(lease::namespaces(self, after.as_ref(), *limit).await?)
            }
            Call::Counters(call) => Answer::Counters(counters::perform(self, call).await?),
            Call::Prune { fence, prune } => {
                Answer::Pruned(prune::prune(self, *fence, prune).await?)
            }
        })
    }

    async fn perform_core(&self, request: &Request) -> Result<Reply, DriverError> {
        let hint = request.hint_when_applied();
        let hint = serde_json::to_string(&hint).expect("a hint is plain data");
        Ok(Reply::Done(match request {
            Request::Beat(beat) => return beat::beat(self, beat).await.map(Reply::Beat),
            Request::ReadMembers => return registry::members(self).await.map(Reply::Members),
            Request::PublishView { fence, view } => {
                view::publish(self, *fence, view, &hint).await?
            }
            Request::Release(release) => lease::release(self, release, &hint).await?,
            Request::Leave { node, boot } => registry::leave(self, node, *boot).await?,
            Request::Ask { epoch, ask } => lease::ask(self, *epoch, ask, &hint).await?,
        }))
    }

    /// Runs a statement whose `$1` is the namespace. `{t}` stands for schema and prefix.
    pub(super) async fn rows(
        &self,
        sql: &str,
        more: &[Param<'_>],
    ) -> Result<Vec<Row>, DriverError> {
        let namespace = self.namespace.as_str();
        let mut params: Vec<Param<'_>> = vec![(&namespace, Type::TEXT)];
        params.extend(more.iter().cloned());
        let sql = sql.replace("{t}", &self.engine.config().names());
        Ok(self.client.query_typed(&sql, &params).await?)
    }

    /// Calls one of our functions: `$1` is the namespace, `$2` and `$3` what this handle has seen.
    pub(super) async fn call(&self, sql: &str, more: &[Param<'_>]) -> Result<Row, DriverError> {
        let seen = self.engine.seen();
        let lineage = seen.lineage.to_string();
        let mut params: Vec<Param<'_>> = vec![(&lineage, Type::TEXT), (&seen.lsn, Type::PG_LSN)];
        params.extend(more.iter().cloned());
        self.only(self.rows(sql, &params).await?)
    }

    /// The one row of an answer.
    pub(super) fn only(&self, rows: Vec<Row>) -> Result<Row, DriverError> {
        rows.into_iter().next().ok_or_else(|| self.corrupt("the server answered without a row"))
    }

    /// Calls one that says `applied` or `conflict`.
    pub(super) async fn outcome(
        &self,
        sql: &str,
        more: &[Param<'_>],
    ) -> Result<Outcome, DriverError> {
        let row = self.call(sql, more).await?;
        match self.column::<&str>(&row, 0)? {
            "applied" => Ok(Outcome::Applied),
            "conflict" => Ok(Outcome::Conflict),
            other => Err(self.corrupt(&format!("the server answered {other:?}"))),
        }
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
