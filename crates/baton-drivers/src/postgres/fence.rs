//! Fenced writes of the user's own: conditional on the epoch, in the transaction of the write.
//!
//! ```text
//!   BEGIN
//!   SELECT public.baton_fence('invoices', 7)   raises SQLSTATE BT002 if 8 was here already
//!   UPDATE invoices …                          the user's own tables, in the same database
//!   COMMIT                                     until now a later epoch waits
//! ```
//!
//! From another language the first line is all there is to it. The highest epoch that was admitted
//! wins, per resource; a resource is any text. Writers of one epoch do not wait for each other.
//! The register is a table of its own, and so a transaction that is left open holds up the writers
//! of the same resource under a later epoch, but never a renewal or an acquisition.
//!
//! It holds them up for one lease at most, however long its process is paused: a fenced transaction
//! that does nothing for that long is ended by the server, and none waits longer for a lock.

use std::time::Duration;

use baton_core::ids::Epoch;
use baton_core::settings::Settings;
use baton_store::StaleEpoch;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Error, Row, Transaction};

use super::config::{PostgresConfig, is_plain};
use super::connect::PostgresConnector;
use super::context::{Param, text};
use crate::OpenError;
use crate::driver::ConnectionSlot;
use crate::fences::{FencesError, StoredFence, stored};
use crate::reader::Access;

/// The longest limit that the server takes.
const BOUND_MAX_MS: u128 = i32::MAX as u128;

/// Raised by the function: a later epoch was here.
const BEHIND: &str = "BT002";

/// The register's table and function alone, for a database that baton's own tables are not in.
/// `None` if a name has other characters than a-z, 0-9 and '_', or begins with a digit.
pub fn sql(schema: &str, prefix: &str) -> Option<String> {
    let plain = is_plain(schema, 63) && is_plain(prefix, 40);
    let parts = concat!(include_str!("sql/fences.sql"), include_str!("sql/functions/fence.sql"));
    plain.then(|| parts.replace("{t}", &format!("{schema}.{prefix}")))
}

/// Why a write was not admitted. Roll the transaction back.
pub type FenceError = crate::FenceError<Error>;

impl From<Error> for FenceError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

/// The fence of one resource: the highest epoch that was admitted wins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    resource: String,
    statement: String,
    bound: Duration,
}

impl Fence {
    /// The fence of this resource, which is anything that only one leader may write at a time,
    /// in the default schema and under the default prefix.
    pub fn new(resource: &str) -> Self {
        let (resource, statement) = (resource.to_owned(), statement("public", "baton_"));
        Self { resource, statement, bound: Settings::default().lease_timeout }
    }

    /// The same, with this bound: the lease of the node that writes, `term.lease_timeout()`.
    /// Without it, it is the default lease, 15 s.
    ///
    /// In a transaction that was admitted, the server ends the session once it has done nothing for
    /// this long (`idle_in_transaction_session_timeout`), as that of a paused process does, and no
    /// lock is waited for longer (`lock_timeout`). Both end with the transaction. A shorter limit
    /// that the session has already stays.
    #[must_use]
    pub fn within(self, bound: Duration) -> Self {
        Self { bound, ..self }
    }

    /// The same, in the register of this schema and prefix.
    pub fn in_schema(self, schema: &str, prefix: &str) -> Result<Self, FenceError> {
        if !is_plain(schema, 63) || !is_plain(prefix, 40) {
            let wanted = "of a-z, 0-9 and '_', and not begin with a digit";
            return Err(FenceError::Name { name: format!("{schema}.{prefix}"), wanted });
        }
        Ok(Self { statement: statement(schema, prefix), ..self })
    }

    /// Admits what this transaction is going to write, or says that a later epoch was here. Ask
    /// before the write; until the transaction ends no other writes under a later epoch. It ends
    /// within the bound of [`Fence::within`] if its process is paused.
    pub async fn admit(
        &self,
        transaction: &Transaction<'_>,
        epoch: impl Into<Epoch>,
    ) -> Result<(), FenceError> {
        let epoch = epoch.into().grantable()?;
        let resource = self.resource.as_str();
        let given = epoch.0.to_string();
        let bound = format!("{}ms", self.bound.as_millis().clamp(1, BOUND_MAX_MS));
        let params = [text(&resource), text(&given), text(&bound)];
        let Err(problem) = transaction.query_typed(&self.statement, &params).await else {
            return Ok(());
        };
        let stale =
            problem.as_db_error().filter(|stale| *stale.code() == SqlState::from_code(BEHIND));
        let highest = stale.and_then(|stale| stale.detail()?.parse().ok()).map(Epoch);
        Err(match highest {
            Some(highest) => {
                StaleEpoch { resource: self.resource.clone(), given: epoch, highest }.into()
            }
            None => problem.into(),
        })
    }
}

/// Sets the limits, then asks: the columns are computed from left to right.
fn statement(schema: &str, prefix: &str) -> String {
    let limit = |name: &str| {
        let now = format!("pg_catalog.current_setting('{name}')");
        format!(
            "pg_catalog.set_config('{name}', CASE WHEN {now}::interval > '0' \
             AND {now}::interval < $3::interval THEN {now} ELSE $3 END, true)"
        )
    };
    let (idle, lock) = (limit("idle_in_transaction_session_timeout"), limit("lock_timeout"));
    format!("SELECT {idle}, {lock}, {schema}.{prefix}fence($1, $2::numeric)")
}

/// The rows of one statement on the register; none if there is no register.
async fn register(
    (scheme, rest): (&str, &str),
    access: Access,
    sql: &str,
    params: &[Param<'_>],
) -> Result<Vec<Row>, FencesError> {
    let config = PostgresConfig::parse(scheme, rest).map_err(OpenError::from)?;
    let (timeout, sql) = (config.timeout, sql.replace("{t}", &config.names()));
    let slot = ConnectionSlot::new(PostgresConnector::new(config, access)?, timeout);
    // Without a connection the error is one of opening.
    drop(slot.get().await?);
    let sql = sql.as_str();
    let rows = slot.run(|connection| async move {
        match connection.client.query_typed(sql, params).await {
            Err(problem) if problem.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(Vec::new()),
            rows => Ok(rows?),
        }
    });
    Ok(rows.await?)
}

/// The fences of a database, for people.
pub(crate) async fn list(scheme: &str, rest: &str) -> Result<Vec<StoredFence>, FencesError> {
    let sql = "SELECT resource, epoch::text FROM {t}fences";
    stored(&register((scheme, rest), Access::Read, sql, &[]).await?)
}

/// Takes a fence away, and says how high it was.
pub(crate) async fn reset(
    scheme: &str,
    rest: &str,
    resource: &str,
) -> Result<Option<Epoch>, FencesError> {
    let sql = "DELETE FROM {t}fences WHERE resource = $1 RETURNING resource, epoch::text";
    let gone = register((scheme, rest), Access::Write, sql, &[text(&resource)]).await?;
    Ok(stored(&gone)?.first().map(|fence| fence.epoch))
}
