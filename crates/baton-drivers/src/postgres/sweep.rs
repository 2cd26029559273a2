//! Expired rows of a user's own table: one short transaction a batch.
//!
//! ```text
//!   BEGIN ── fence('ttl:<table>', epoch) ──► a later one was here: StaleEpoch
//!   WITH due AS (… FOR UPDATE SKIP LOCKED) DELETE … ── COMMIT
//! ```
//!
//! A session that stops in the middle, paused or cut off, is ended by the server after a while, so
//! that its locks do not keep the next leader waiting.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use baton_core::ids::Epoch;
use baton_store::StoreError;
use baton_store::sweep::{Sweep, SweepError, Swept};
use tokio::sync::Mutex;
use tokio_postgres::Transaction;
use tokio_postgres::types::Type;

use super::config::PostgresConfig;
use super::connect::{Connection, PostgresConnector};
use super::context::Param;
use super::fence::{Fence, FenceError};
use super::sweep_plan::Plan;
use super::{NAME, sweep_plan};
use crate::OpenError;
use crate::driver::{Connector, DriverError, within};
use crate::reader::Access;
use crate::sweep::{Callback, InvalidSweep, Strategy, Table};

/// A transaction that does nothing for this long is ended by the server.
const IDLE: Duration = Duration::from_secs(5);

/// The same while the user's callback runs, and so the most that it may take.
const IDLE_IN_CALLBACK: Duration = Duration::from_secs(60);

/// Statements in a batch; the check before the first batch has fewer.
const STATEMENTS: u32 = 5;

/// A table that is swept.
struct PostgresSweep {
    name: String,
    connector: PostgresConnector,
    table: Table,
    strategy: Strategy,
    fence: Fence,
    /// Taken while a batch runs: if it is dropped half-way, so is the connection.
    ready: Mutex<Option<PreparedSweep>>,
}

/// A connection, and the statements that fit the table as it was when the connection was made.
struct PreparedSweep {
    connection: Connection,
    plan: Plan,
}

/// A sweep of this table.
pub(crate) fn sweep(
    scheme: &str,
    rest: &str,
    table: Table,
    strategy: Strategy,
) -> Result<Arc<dyn Sweep>, InvalidSweep> {
    let config = PostgresConfig::parse(scheme, rest).map_err(OpenError::from)?;
    let connector = PostgresConnector::new(config, Access::Write)?;
    let config = &connector.config;
    let fence = Fence::new(&format!("ttl:{}", table.name));
    let fence = fence.in_schema(&config.schema, &config.table_prefix);
    let fence = fence.expect("the address takes plain names alone").within(match &strategy {
        Strategy::Callback(_) => IDLE_IN_CALLBACK,
        _ => IDLE,
    });
    let name = format!("{NAME} table {}", table.name);
    let ready = Mutex::new(None);
    Ok(Arc::new(PostgresSweep { name, connector, table, strategy, fence, ready }))
}

impl PostgresSweep {
    /// Connects, and looks at the table.
    async fn look(&self) -> Result<PreparedSweep, SweepError> {
        let connection = self.connector.connect().await;
        let connection = connection.map_err(|error| self.failed(StoreError::from(error)))?;
        let plan = Plan::make(&connection.client, &self.table, &self.strategy).await;
        Ok(PreparedSweep { connection, plan: plan.map_err(|error| self.failed(error))? })
    }

    /// The same, and sees to the fence register.
    async fn prepare(&self) -> Result<PreparedSweep, SweepError> {
        let ready = self.look().await?;
        let made = sweep_plan::ensure_fence(&ready.connection.client, &self.connector.config).await;
        made.map_err(|error| self.failed(error))?;
        Ok(ready)
    }

    /// Every statement ends by itself before this does.
    async fn in_time<T>(
        &self,
        work: impl Future<Output = Result<T, SweepError>>,
    ) -> Result<T, SweepError> {
        let detail = "no answer in time".to_owned();
        let late = SweepError::Unknown { target: self.name.clone(), detail };
        within(self.connector.config.timeout * STATEMENTS, work).await.unwrap_or(Err(late))
    }

    async fn run(
        &self,
        ready: &mut PreparedSweep,
        epoch: Epoch,
        limit: u32,
    ) -> Result<u32, SweepError> {
        let PreparedSweep { connection, plan } = ready;
        let transaction = connection.client.transaction().await.map_err(|e| self.failed(e))?;
        self.fence.admit(&transaction, epoch).await.map_err(|refused| self.fenced(refused))?;
        let removed = match &self.strategy {
            Strategy::Callback(callback) => {
                self.hand_over(&transaction, plan, callback, limit).await?
            }
            _ => {
                let limit = i64::from(limit);
                let done = transaction.execute_typed(&plan.batch, &[(&limit, Type::INT8)]).await;
                done.map_err(|e| self.failed(e))?
            }
        };
        transaction.commit().await.map_err(|e| self.failed(e))?;
        Ok(u32::try_from(removed).unwrap_or(u32::MAX))
    }

    /// Locks the rows, hands them over, and removes them if that went well.
    async fn hand_over(
        &self,
        transaction: &Transaction<'_>,
        plan: &Plan,
        callback: &Callback,
        limit: u32,
    ) -> Result<u64, SweepError> {
        let limit = i64::from(limit);
        let rows = transaction.query_typed(&plan.batch, &[(&limit, Type::INT8)]).await;
        let rows = rows.map_err(|e| self.failed(e))?;
        let (mut parts, mut places, mut records) = (Vec::new(), Vec::new(), Vec::new());
        for row in &rows {
            parts.push(row.try_get::<_, u32>(0).map_err(|e| self.failed(e))?);
            places.push(row.try_get::<_, String>(1).map_err(|e| self.failed(e))?);
            let record = row.try_get(2).map(serde_json::from_str).map_err(|e| self.failed(e))?;
            let foreign =
                |problem: serde_json::Error| self.failed(DriverError::refused(problem.to_string()));
            records.push(record.map_err(foreign)?);
        }
        if records.is_empty() {
            return Ok(0);
        }
        callback.call(&self.name, records).await?;
        let params: [Param<'_>; 2] = [(&parts, Type::OID_ARRAY), (&places, Type::TEXT_ARRAY)];
        let removed = transaction.execute_typed(&plan.remove, &params).await;
        removed.map_err(|e| self.failed(e))
    }

    fn failed(&self, error: impl Into<DriverError>) -> SweepError {
        SweepError::of_store(&self.name, error.into().into_store_error())
    }

    fn fenced(&self, error: FenceError) -> SweepError {
        error.into_sweep_error(&self.name, |error| self.failed(error))
    }
}

#[async_trait]
impl Sweep for PostgresSweep {
    fn name(&self) -> &str {
        &self.name
    }

    async fn examine(&self) -> Result<(), SweepError> {
        self.in_time(self.look()).await.map(drop)
    }

    async fn batch(&self, epoch: Epoch, limit: u32) -> Result<Swept, SweepError> {
        let mut held = self.ready.lock().await;
        let mut ready = match held.take().filter(|ready| !ready.connection.client.is_closed()) {
            Some(ready) => ready,
            None => self.in_time(self.prepare()).await?,
        };
        let work = self.run(&mut ready, epoch, limit);
        let records = match &self.strategy {
            // The callback takes as long as it takes, and the server minds the rest.
            Strategy::Callback(_) => work.await?,
            _ => self.in_time(work).await?,
        };
        *held = Some(ready);
        Ok(Swept { records, more: records >= limit })
    }
}
