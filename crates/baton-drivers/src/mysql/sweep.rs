//! Expired rows of a user's own table: one short transaction a batch.
//!
//! ```text
//!   START TRANSACTION ── Fence::admit ── SELECT keys … FOR UPDATE SKIP LOCKED
//!   DELETE · UPDATE · INSERT … SELECT, DELETE, by those keys, if still due ── COMMIT
//! ```
//!
//! A locking read sees what was committed last, so a row that was changed meanwhile is looked at as
//! it is now. A session that stops in the middle is ended by the server after a while, so that its
//! locks do not keep the next leader waiting.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use baton_core::ids::Epoch;
use baton_store::sweep::{Sweep, SweepError, Swept};
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Params, Row, Transaction, TxOpts, Value};
use tokio::sync::Mutex;

use super::config::MysqlConfig;
use super::connect::{Servers, abort};
use super::error::QueryError;
use super::fence::{Fence, FenceError, NO_TABLE};
use super::sweep_plan::{KEYS_MAX, Plan};
use crate::OpenError;
use crate::driver::{DriverError, within};
use crate::sweep::{CLOCK_WENT_BACK, InvalidSweep, Strategy, Table};

/// A session that says nothing for this long is ended by the server: longer than a batch, and than
/// a callback may take.
const IDLE_S: u64 = 60;

/// The same in a transaction without a callback.
const IDLE: Duration = Duration::from_secs(5);

/// Statements in a batch, and in the check before the first batch.
const STATEMENTS: u32 = 6;

/// A table that is swept.
struct MysqlSweep {
    name: String,
    servers: Servers,
    table: Table,
    strategy: Strategy,
    fence: Fence,
    /// Taken while a batch runs: if it is dropped half-way, so is the connection.
    ready: Mutex<Option<PreparedSweep>>,
}

/// A connection, and the statements that fit the table as it was when the connection was made.
struct PreparedSweep {
    conn: Conn,
    plan: Plan,
}

/// A sweep of this table.
pub(crate) fn sweep(
    scheme: &str,
    rest: &str,
    table: Table,
    strategy: Strategy,
) -> Result<Arc<dyn Sweep>, InvalidSweep> {
    let config = MysqlConfig::parse(scheme, rest).map_err(OpenError::from)?;
    let fence = Fence::new(&format!("ttl:{}", table.name)).with_prefix(&config.prefix);
    let fence = fence.expect("the address takes plain names alone").within(match &strategy {
        Strategy::Callback(_) => Duration::from_secs(IDLE_S),
        _ => IDLE,
    });
    let servers = Servers::new(config)?;
    let (name, ready) = (format!("mysql table {}", table.name), Mutex::new(None));
    Ok(Arc::new(MysqlSweep { name, servers, table, strategy, fence, ready }))
}

impl MysqlSweep {
    /// Connects, and looks at the table.
    async fn look(&self) -> Result<PreparedSweep, SweepError> {
        let mut conn = self.servers.connect().await.map_err(|error| self.query_failed(error))?;
        let session = format!("SET SESSION time_zone = '+00:00', wait_timeout = {IDLE_S}");
        conn.query_drop(session).await.map_err(|error| self.failed(error))?;
        let plan = Plan::make(&self.servers, &mut conn, &self.table, &self.strategy).await;
        Ok(PreparedSweep { conn, plan: plan.map_err(|error| self.driver_failed(error))? })
    }

    /// The same, and sees to the fence register.
    async fn prepare(&self) -> Result<PreparedSweep, SweepError> {
        let mut ready = self.look().await?;
        let look = format!("SELECT epoch FROM `{}fences` LIMIT 0", self.servers.config.prefix);
        match ready.conn.query_drop(look).await {
            Err(mysql_async::Error::Server(error)) if error.code == NO_TABLE => {
                let made = self.fence.create(&mut ready.conn).await;
                made.map_err(|refused| self.fenced(refused))?;
            }
            there => there.map_err(|error| self.failed(error))?,
        }
        Ok(ready)
    }

    /// Hands it back if the server still answers on it.
    async fn if_alive(&self, mut ready: PreparedSweep) -> Option<PreparedSweep> {
        match within(self.servers.config.timeout, ready.conn.ping()).await {
            Some(Ok(())) => Some(ready),
            Some(Err(_)) | None => {
                abort(ready.conn);
                None
            }
        }
    }

    /// Every statement has its time, and so has the whole.
    async fn in_time<T>(
        &self,
        work: impl Future<Output = Result<T, SweepError>>,
    ) -> Result<T, SweepError> {
        let most = self.servers.config.timeout * STATEMENTS;
        let done = within(most, work).await;
        done.unwrap_or_else(|| Err(self.query_failed(QueryError::Late(most))))
    }

    async fn run(
        &self,
        ready: &mut PreparedSweep,
        epoch: Epoch,
        limit: u32,
    ) -> Result<u32, SweepError> {
        let failed = |error| self.failed(error);
        let PreparedSweep { conn, plan } = ready;
        let mut work = conn.start_transaction(TxOpts::default()).await.map_err(failed)?;
        self.fence.admit(&mut work, epoch).await.map_err(|refused| self.fenced(refused))?;
        let rows: Vec<Row> = work.exec(&plan.due, (limit,)).await.map_err(failed)?;
        let keys: Vec<Vec<Value>> = rows.iter().map(|row| plan.key(row)).collect();
        if let (Strategy::Callback(callback), false) = (&self.strategy, rows.is_empty()) {
            let records = rows.iter().map(|row| plan.record(row)).collect();
            callback.call(&self.name, records).await?;
        }
        let gone = self.act(&mut work, plan, keys).await?;
        work.commit().await.map_err(failed)?;
        Ok(u32::try_from(gone).unwrap_or(u32::MAX))
    }

    /// What is done to the rows with these keys, which are locked. How many there were.
    async fn act(
        &self,
        work: &mut Transaction<'_>,
        plan: &Plan,
        keys: Vec<Vec<Value>>,
    ) -> Result<u64, SweepError> {
        let mut gone = 0;
        for some in keys.chunks(KEYS_MAX) {
            let mut copied = None;
            for statement in plan.acts(some.len()) {
                let params = Params::Positional(some.iter().flatten().cloned().collect());
                work.exec_drop(statement, params).await.map_err(|error| self.failed(error))?;
                let rows = work.affected_rows();
                if copied.replace(rows).is_some_and(|copied| copied != rows) {
                    let (target, detail) = (self.name.clone(), CLOCK_WENT_BACK.to_owned());
                    return Err(SweepError::Unavailable { target, detail });
                }
            }
            gone += copied.unwrap_or_default();
        }
        Ok(gone)
    }

    fn failed(&self, error: mysql_async::Error) -> SweepError {
        self.query_failed(QueryError::Call(error))
    }

    fn query_failed(&self, error: QueryError) -> SweepError {
        self.driver_failed(self.servers.failed(error, None))
    }

    fn driver_failed(&self, error: DriverError) -> SweepError {
        SweepError::of_store(&self.name, error.into_store_error())
    }

    fn fenced(&self, error: FenceError) -> SweepError {
        error.into_sweep_error(&self.name, |error| self.failed(error))
    }
}

#[async_trait]
impl Sweep for MysqlSweep {
    fn name(&self) -> &str {
        &self.name
    }

    async fn examine(&self) -> Result<(), SweepError> {
        self.in_time(self.look()).await.map(|ready| abort(ready.conn))
    }

    async fn batch(&self, epoch: Epoch, limit: u32) -> Result<Swept, SweepError> {
        let mut held = self.ready.lock().await;
        let alive = match held.take() {
            Some(ready) => self.if_alive(ready).await,
            None => None,
        };
        let mut ready = match alive {
            Some(ready) => ready,
            None => self.in_time(self.prepare()).await?,
        };
        let most = match &self.strategy {
            Strategy::Callback(_) => Duration::from_secs(IDLE_S),
            _ => self.servers.config.timeout * STATEMENTS,
        };
        let done = within(most, self.run(&mut ready, epoch, limit)).await;
        let done = done.unwrap_or_else(|| Err(self.query_failed(QueryError::Late(most))));
        match done {
            Ok(records) => {
                *held = Some(ready);
                Ok(Swept { records, more: records >= limit })
            }
            Err(error) => {
                // The server undoes what was begun.
                abort(ready.conn);
                Err(error)
            }
        }
    }
}
