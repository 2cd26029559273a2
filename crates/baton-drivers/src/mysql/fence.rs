//! Fenced writes for the user's own tables: a write is conditional on the epoch, in the same
//! transaction, and the highest epoch seen wins, resource by resource.
//!
//! ```text
//!   START TRANSACTION
//!     admit(epoch) ── sets the bound, raises <prefix>fences, and locks its row until COMMIT
//!     your own statements
//!   COMMIT                      a later epoch waits here, and an earlier one comes too late
//! ```
//!
//! The register is a table in your own database, beside your own tables: never a row that the lease
//! needs, so that a long transaction of yours holds up no renewal. It holds up a later epoch for
//! one lease at most, however long its process is paused: the server ends a session that does
//! nothing for that long, and none waits longer for a lock.
//!
//! Any client can do the same: run [`Fence::bound_statement`], then the two statements of
//! [`Fence::statements`]: begin a transaction, run the first, run the second, and go on only if the
//! second affected one row. It always changes what it finds, so that it does not matter whether the
//! client counts rows that were found or rows that were changed (`CLIENT_FOUND_ROWS`).

use std::time::Duration;

use baton_core::ids::Epoch;
use baton_core::settings::Settings;
use baton_store::StaleEpoch;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Error, Transaction};

use super::config::{MysqlConfig, PREFIXES, is_prefix};
use super::connect::Servers;
use super::error::QueryError;
use super::statement::{Argument, Bytes};
use crate::OpenError;
use crate::fences::{FencesError, StoredFence, stored};

/// The server's code for a table that does not exist.
pub(super) const NO_TABLE: u16 = 1146;

/// The longest limit that every server takes for all of them: a year.
const BOUND_MAX_S: u64 = 31_536_000;

/// Why a write was not admitted. Roll the transaction back.
pub type FenceError = crate::FenceError<Error>;

impl From<Error> for FenceError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

/// The fence of one resource: the highest epoch that was admitted wins. It is a row in the table
/// `<prefix>fences`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    resource: String,
    table: String,
    bound: Duration,
}

impl Fence {
    /// The fence of this resource, which is anything that only one leader may write at a time,
    /// in the table `baton_fences` of the connection's database.
    pub fn new(resource: &str) -> Self {
        let (resource, table) = (resource.to_owned(), "baton_fences".to_owned());
        Self { resource, table, bound: Settings::default().lease_timeout }
    }

    /// The same, with this bound: the lease of the node that writes, `term.lease_timeout()`.
    /// Without it, it is the default lease, 15 s. Whole seconds count, and one at least.
    ///
    /// A session that [`Fence::admit`] was called on is ended by the server once it has done
    /// nothing for this long, as that of a paused process does: MariaDB ends it in a transaction
    /// alone (`idle_transaction_timeout`), MySQL, which has no such limit, also between two
    /// (`wait_timeout`). No row lock is waited for longer (`innodb_lock_wait_timeout`). A shorter
    /// limit that the session has already stays. All of it lasts until the session ends or is
    /// reset, as the client library's pool does whenever a connection is given back.
    #[must_use]
    pub fn within(self, bound: Duration) -> Self {
        Self { bound, ..self }
    }

    /// The same, in the table `<prefix>fences`.
    pub fn with_prefix(self, prefix: &str) -> Result<Self, FenceError> {
        if !is_prefix(prefix) {
            return Err(FenceError::Name { name: prefix.to_owned(), wanted: PREFIXES });
        }
        Ok(Self { table: format!("{prefix}fences"), ..self })
    }

    /// The statement that makes the table, if it is not there.
    pub fn create_statement(&self) -> String {
        format!(
            "CREATE TABLE IF NOT EXISTS `{}` (resource VARBINARY(512) NOT NULL, \
             epoch BIGINT UNSIGNED NOT NULL, writes BIGINT UNSIGNED NOT NULL, \
             PRIMARY KEY (resource)) ENGINE = InnoDB",
            self.table
        )
    }

    /// The statement that sets the bound, for any client: see [`Fence::within`].
    pub fn bound_statement(&self) -> String {
        let most = self.bound.as_secs().clamp(1, BOUND_MAX_S);
        let lower = |name: &str| {
            let now = format!("@@SESSION.{name}");
            let least = format!("IF({now} BETWEEN 1 AND {most}, {now}, {most})");
            // MySQL takes nothing for a number that may be a decimal.
            format!("SESSION {name} = CAST({least} AS UNSIGNED)")
        };
        // Each server reads one of the comments.
        format!(
            "SET {} /*M!100300 , {} */ /*!80000 , {} */",
            lower("innodb_lock_wait_timeout"),
            lower("idle_transaction_timeout"),
            lower("wait_timeout")
        )
    }

    /// The two statements that admit a write, for any client. The first takes the resource; the
    /// second the epoch, the resource and the epoch again, and affects one row if it is admitted.
    pub fn statements(&self) -> [String; 2] {
        let table = &self.table;
        [
            format!(
                "INSERT INTO `{table}` (resource, epoch, writes) VALUES (?, 0, 0) \
                 ON DUPLICATE KEY UPDATE writes = writes + 1"
            ),
            format!(
                "UPDATE `{table}` SET epoch = ?, writes = writes + 1 \
                 WHERE resource = ? AND epoch <= ?"
            ),
        ]
    }

    /// Makes the table, if it is not there. Commits whatever the connection was about.
    pub async fn create(&self, conn: &mut Conn) -> Result<(), FenceError> {
        Ok(conn.query_drop(self.create_statement()).await?)
    }

    /// Admits what this transaction writes, unless a later epoch has written to the resource. The
    /// register's row stays locked until the transaction ends, so that no other comes in between:
    /// within the bound of [`Fence::within`] if its process is paused.
    ///
    /// ```no_run
    /// # use baton_core::ids::Epoch;
    /// # use baton_drivers::mysql::fence::{Fence, FenceError};
    /// # use mysql_async::{Conn, TxOpts, prelude::Queryable};
    /// # async fn example(conn: &mut Conn, epoch: Epoch) -> Result<(), FenceError> {
    /// let fence = Fence::new("invoices");
    /// let mut work = conn.start_transaction(TxOpts::default()).await?;
    /// fence.admit(&mut work, epoch).await?;
    /// work.query_drop("UPDATE invoices SET sent = 1 WHERE id = 7").await?;
    /// work.commit().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn admit(
        &self,
        transaction: &mut Transaction<'_>,
        epoch: impl Into<Epoch>,
    ) -> Result<(), FenceError> {
        let epoch = epoch.into().grantable()?;
        transaction.query_drop(self.bound_statement()).await?;
        let [register, raise] = self.statements();
        let name = self.resource.as_bytes();
        transaction.exec_drop(register, (name,)).await?;
        transaction.exec_drop(raise, (epoch.0, name, epoch.0)).await?;
        if transaction.affected_rows() == 1 {
            return Ok(());
        }
        let look = format!("SELECT epoch FROM `{}` WHERE resource = ? FOR UPDATE", self.table);
        let highest: Option<u64> = transaction.exec_first(look, (name,)).await?;
        let highest = Epoch(highest.unwrap_or(0));
        Err(StaleEpoch { resource: self.resource.clone(), given: epoch, highest }.into())
    }
}

/// The fences that a statement on the register reads; none if there is no register.
async fn register(servers: &Servers, sql: String) -> Result<Vec<StoredFence>, FencesError> {
    match servers.query(sql).await {
        Ok(rows) => stored(&rows),
        Err(error) if error.code() == Some(NO_TABLE) => Ok(Vec::new()),
        Err(error @ QueryError::NoConnection(_)) => Err(servers.refused(error).into()),
        Err(error) => Err(servers.failed(error, None).into_store_error().into()),
    }
}

/// Where the register is, and what reads all of it.
fn opened(scheme: &str, rest: &str) -> Result<(Servers, String), OpenError> {
    let servers = Servers::new(MysqlConfig::parse(scheme, rest)?)?;
    let sql = format!("SELECT resource, epoch FROM `{}fences`", servers.config.prefix);
    Ok((servers, sql))
}

/// The fences of a database, for people.
pub(crate) async fn list(scheme: &str, rest: &str) -> Result<Vec<StoredFence>, FencesError> {
    let (servers, all) = opened(scheme, rest)?;
    register(&servers, all).await
}

/// Takes a fence away, and says how high it was.
pub(crate) async fn reset(
    scheme: &str,
    rest: &str,
    resource: &str,
) -> Result<Option<Epoch>, FencesError> {
    let (servers, all) = opened(scheme, rest)?;
    let this = format!(" WHERE resource = {}", Bytes(resource.as_bytes()).literal());
    let found = register(&servers, all + &this).await?;
    if !found.is_empty() {
        let table = format!("`{}fences`", servers.config.prefix);
        register(&servers, format!("DELETE FROM {table}{this}")).await?;
    }
    Ok(found.first().map(|fence| fence.epoch))
}
