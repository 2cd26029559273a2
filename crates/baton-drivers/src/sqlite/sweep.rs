//! Expired rows of a user's own table: one short IMMEDIATE transaction a batch, on a thread where
//! it may block.
//!
//! ```text
//!   BEGIN IMMEDIATE ── no other writes from now on ── Fence::admit ── the rows that are due
//!   DELETE · UPDATE · INSERT … SELECT, DELETE, each row by its key, if it is due ── COMMIT
//! ```
//!
//! A callback is not called inside the transaction, which would keep every writer of the file
//! waiting: the rows are read, handed over, and removed in a transaction that looks at them again.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use baton_core::ids::Epoch;
use baton_store::sweep::{Sweep, SweepError, Swept};
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::config::SqliteConfig;
use super::error::{SqliteOpenError, uncommitted};
use super::fence::Fence;
use super::file_identity::FileId;
use super::sweep_plan::{DueRows, Plan};
use crate::driver::DriverError;
use crate::sweep::{InvalidSweep, Strategy, Table};

/// A table that is swept.
#[derive(Clone)]
struct SqliteSweep {
    name: String,
    config: SqliteConfig,
    table: Table,
    strategy: Strategy,
    fence: Fence,
    /// Taken while a batch runs, and put back if it went well.
    ready: Arc<Mutex<Option<PreparedSweep>>>,
}

/// A connection, which file it is on, and the statements that fit the table as it was then.
struct PreparedSweep {
    conn: Connection,
    file: FileId,
    plan: Plan,
}

/// A sweep of this table.
pub(crate) fn sweep(
    location: &str,
    table: Table,
    strategy: Strategy,
) -> Result<Arc<dyn Sweep>, InvalidSweep> {
    let config = SqliteConfig::parse(location);
    let config = config.map_err(|error| InvalidSweep::Store(error.into()))?;
    let name = format!("sqlite table {}", table.name);
    let fence = Fence::new(&format!("ttl:{}", table.name));
    Ok(Arc::new(SqliteSweep { name, config, table, strategy, fence, ready: Arc::default() }))
}

#[async_trait]
impl Sweep for SqliteSweep {
    fn name(&self) -> &str {
        &self.name
    }

    async fn examine(&self) -> Result<(), SweepError> {
        self.run_blocking(|sweep| sweep.file().and_then(|file| sweep.prepare(file)).map(drop)).await
    }

    async fn batch(&self, epoch: Epoch, limit: u32) -> Result<Swept, SweepError> {
        let Strategy::Callback(callback) = &self.strategy else {
            let step = move |sweep: &Self| {
                sweep.in_transaction(epoch, |transaction, plan| plan.remove(transaction, limit))
            };
            let records = self.run_blocking(step).await?;
            return Ok(Swept { records, more: records >= limit });
        };
        let read = move |sweep: &Self| {
            sweep.in_transaction(epoch, |transaction, plan| plan.read(transaction, limit))
        };
        let DueRows { keys, records } = self.run_blocking(read).await?;
        let found = u32::try_from(keys.len()).unwrap_or(u32::MAX);
        if found == 0 {
            return Ok(Swept::default());
        }
        callback.call(&self.name, records).await?;
        let remove = move |sweep: &Self| {
            sweep.in_transaction(epoch, |transaction, plan| plan.remove_these(transaction, &keys))
        };
        let records = self.run_blocking(remove).await?;
        Ok(Swept { records, more: found >= limit })
    }
}

impl SqliteSweep {
    /// Runs it where it may block. A caller that stops waiting cancels nothing.
    async fn run_blocking<T: Send + 'static>(
        &self,
        step: impl FnOnce(&Self) -> Result<T, SweepError> + Send + 'static,
    ) -> Result<T, SweepError> {
        let sweep = self.clone();
        let done = tokio::task::spawn_blocking(move || step(&sweep)).await;
        done.unwrap_or_else(|ended| {
            Err(SweepError::Unknown { target: self.name.clone(), detail: ended.to_string() })
        })
    }

    /// Opens the file, and looks at the table.
    fn prepare(&self, file: FileId) -> Result<PreparedSweep, SweepError> {
        let conn = self.config.connect(&self.config.path, OpenFlags::SQLITE_OPEN_READ_WRITE);
        let conn = conn.map_err(|error| self.refused(&error))?;
        let plan = Plan::make(&conn, &self.table, &self.strategy);
        Ok(PreparedSweep { conn, file, plan: plan.map_err(|error| self.failed(error))? })
    }

    /// The file that the path names now.
    fn file(&self) -> Result<FileId, SweepError> {
        FileId::of_present(&self.config.path).map_err(|error| self.refused(&error))
    }

    /// One transaction, fenced. After an error the connection is thrown away.
    fn in_transaction<T>(
        &self,
        epoch: Epoch,
        step: impl FnOnce(&Transaction<'_>, &Plan) -> rusqlite::Result<T>,
    ) -> Result<T, SweepError> {
        let mut held = self.ready.lock().expect("no holder panics");
        let file = self.file()?;
        let mut ready = match held.take().filter(|ready| ready.file == file) {
            Some(ready) => ready,
            None => self.prepare(file)?,
        };
        let transaction = ready.conn.transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction = transaction.map_err(|error| self.failed(error))?;
        let admitted = self.fence.admit(&transaction, epoch);
        admitted.map_err(|error| error.into_sweep_error(&self.name, |error| self.failed(error)))?;
        let done = step(&transaction, &ready.plan).map_err(|error| self.failed(error))?;
        let sweep_error = |error| SweepError::of_store(&self.name, uncommitted(&error));
        transaction.commit().map_err(sweep_error)?;
        *held = Some(ready);
        Ok(done)
    }

    fn failed(&self, error: impl Into<DriverError>) -> SweepError {
        SweepError::of_store(&self.name, error.into().into_store_error())
    }

    fn refused(&self, error: &SqliteOpenError) -> SweepError {
        SweepError::of_store(&self.name, error.in_use())
    }
}
