//! Where a call happens, and which file carries it out: one statement, one answer.

use baton_core::ids::{Lineage, Namespace};
use baton_core::protocol::{Outcome, Reply, Request};
use baton_store::{Answer, Call};
use mysql_async::{Row, Value};

use super::engine::MysqlEngine;
use super::statement::Statement;
use super::{beat, counters, documents, history, lease, prune, registry, view};
use crate::driver::{DriverError, Fields, Record};

/// Where a call happens.
pub(super) struct CallContext<'a> {
    pub(super) engine: &'a MysqlEngine,
    pub(super) namespace: &'a Namespace,
}

impl CallContext<'_> {
    /// Carries the call out.
    pub(super) async fn perform(&self, call: &Call) -> Result<Answer, DriverError> {
        Ok(match call {
            Call::Core(request) => Answer::Core(self.perform_core(request).await?),
            Call::Inspect => Answer::Inspected(view::inspect(self).await?),
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
        Ok(Reply::Done(match request {
            Request::Beat(beat) => return beat::beat(self, beat).await.map(Reply::Beat),
            Request::ReadMembers => return registry::members(self).await.map(Reply::Members),
            Request::PublishView { fence, view } => view::publish(self, *fence, view).await?,
            Request::Release(release) => lease::release(self, release).await?,
            Request::Leave { node, boot } => registry::leave(self, node, *boot).await?,
            Request::Ask { epoch, ask } => lease::ask(self, *epoch, ask).await?,
        }))
    }

    /// What the names of tables and procedures begin with.
    pub(super) fn prefix(&self) -> &str {
        &self.engine.servers.config.prefix
    }

    /// A call of one of our procedures: its first arguments are the namespace and the lineage that
    /// this handle has seen.
    pub(super) fn procedure(&self, name: &str) -> Statement {
        Statement::call(self.prefix(), name).with(self.namespace).with(self.engine.seen())
    }

    /// Runs a statement.
    pub(super) async fn rows(&self, text: String) -> Result<Vec<Row>, DriverError> {
        let servers = &self.engine.servers;
        let answer = servers.query(text).await;
        answer.map_err(|error| error.into_driver_error(&servers.place(), Some(self.namespace)))
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

    /// Calls one that says whether it was applied.
    pub(super) async fn outcome(&self, procedure: Statement) -> Result<Outcome, DriverError> {
        let row = self.call(procedure).await?;
        Ok(match Record::new(&row, &self.record_name()).flag("applied")? {
            true => Outcome::Applied,
            false => Outcome::Conflict,
        })
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
