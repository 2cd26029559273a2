//! Fenced writes of the user's own: conditional on the epoch, in the transaction of the write, in a
//! database of the user's own.
//!
//! ```text
//!   BEGIN IMMEDIATE
//!   Fence::admit ── raises baton_fences, or StaleEpoch if a later epoch was here: roll back
//!   your own statements
//!   COMMIT
//! ```
//!
//! A process that is paused between BEGIN and COMMIT keeps every writer of the file waiting, and no
//! timeout ends that: SQLite has no server that could. [`Fence::write`] keeps that span as short as
//! it can be, with nothing but your statements in it. Prepare before it, wait for nothing in it.
//!
//! Any client can do the same: make the table with [`CREATE`], and in the transaction compare and
//! raise the row of the resource before anything else.

use baton_core::ids::Epoch;
use baton_store::StaleEpoch;
use rusqlite::{
    Connection, OpenFlags, OptionalExtension, Params, Transaction, TransactionBehavior,
};

use super::config::SqliteConfig;
use super::error::{uncommitted, undone};
use super::reader::look_at;
use super::records::{Bits, ReadRow};
use crate::OpenError;
use crate::fences::{FencesError, StoredFence, stored};

/// Makes the register, if it is not there.
pub const CREATE: &str = "\
CREATE TABLE IF NOT EXISTS baton_fences (
    resource TEXT    NOT NULL PRIMARY KEY,
    epoch    INTEGER NOT NULL
) STRICT, WITHOUT ROWID";

const HIGHEST: &str = "SELECT epoch FROM baton_fences WHERE resource = ?1";

const RAISE: &str = "INSERT OR REPLACE INTO baton_fences (resource, epoch) VALUES (?1, ?2)";

/// Why a write was not admitted. Roll the transaction back.
pub type FenceError = crate::FenceError<rusqlite::Error>;

impl From<rusqlite::Error> for FenceError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error)
    }
}

/// The fence of one resource: the highest epoch that was admitted wins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    resource: String,
}

impl Fence {
    /// The fence of this resource, which is anything that only one leader may write at a time.
    pub fn new(resource: &str) -> Self {
        Self { resource: resource.to_owned() }
    }

    /// Runs these statements in a transaction that begins now, is admitted, and is committed right
    /// after them; or says that a later epoch was here. What waits, such as a request to another
    /// service, belongs before it: as long as the transaction lasts, no other process can write.
    ///
    /// ```
    /// # use baton_core::ids::Epoch;
    /// # use baton_drivers::sqlite::{fence::{Fence, FenceError}, rusqlite::Connection};
    /// # fn example(invoices: &mut Connection, epoch: Epoch) -> Result<(), FenceError> {
    /// Fence::new("invoices").write(invoices, epoch, |transaction| {
    ///     transaction.execute("UPDATE invoices SET sent = 1 WHERE id = 7", ())
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn write<T>(
        &self,
        connection: &mut Connection,
        epoch: impl Into<Epoch>,
        statements: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, FenceError> {
        let now = TransactionBehavior::Immediate;
        let transaction = connection.transaction_with_behavior(now)?;
        self.admit(&transaction, epoch)?;
        let done = statements(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }

    /// Admits what this transaction is going to write, or says that a later epoch was here. The
    /// transaction must have begun with `BEGIN IMMEDIATE`, so that no other process writes
    /// meanwhile.
    pub fn admit(
        &self,
        transaction: &Transaction<'_>,
        epoch: impl Into<Epoch>,
    ) -> Result<(), FenceError> {
        let given = epoch.into().grantable()?;
        transaction.execute(CREATE, ())?;
        let resource = self.resource.as_str();
        let mut highest = transaction.prepare_cached(HIGHEST)?;
        let highest: Option<Bits> = highest.query_row([resource], |row| row.get(0)).optional()?;
        let highest = highest.map_or(Epoch::NONE, |bits| Epoch(bits.0));
        if given < highest {
            return Err(StaleEpoch { resource: self.resource.clone(), given, highest }.into());
        }
        transaction.prepare_cached(RAISE)?.execute((resource, Bits(given.0)))?;
        Ok(())
    }
}

/// The rows of one statement on the register; none if there is no register.
fn register(conn: &Connection, sql: &str, values: impl Params) -> rusqlite::Result<Vec<ReadRow>> {
    match conn.table_exists(Some("main"), "baton_fences")? {
        true => ReadRow::all(&mut conn.prepare(sql)?, values),
        false => Ok(Vec::new()),
    }
}

/// The fences of a database, for people.
pub(crate) fn list(location: &str) -> Result<Vec<StoredFence>, FencesError> {
    let config = SqliteConfig::parse(location).and_then(SqliteConfig::absolute);
    let config = config.map_err(OpenError::from)?;
    let sql = "SELECT resource, epoch FROM baton_fences";
    let all = |conn: &Connection| register(conn, sql, ()).map_err(|error| config.broken(error));
    stored(&look_at(&config, all).map_err(OpenError::from)?)
}

/// Takes a fence away, and says how high it was.
pub(crate) fn reset(location: &str, resource: &str) -> Result<Option<Epoch>, FencesError> {
    let config = SqliteConfig::parse(location).and_then(SqliteConfig::absolute);
    let config = config.map_err(OpenError::from)?;
    let conn = config.connect(&config.path, OpenFlags::SQLITE_OPEN_READ_WRITE);
    let mut conn = conn.map_err(OpenError::from)?;
    let undone = |error: rusqlite::Error| undone(&error);
    let now = TransactionBehavior::Immediate;
    let transaction = conn.transaction_with_behavior(now).map_err(undone)?;
    let delete = "DELETE FROM baton_fences WHERE resource = ?1 RETURNING resource, epoch";
    let gone = stored(&register(&transaction, delete, [resource]).map_err(undone)?)?;
    transaction.commit().map_err(|error| uncommitted(&error))?;
    Ok(gone.first().map(|fence| fence.epoch))
}
