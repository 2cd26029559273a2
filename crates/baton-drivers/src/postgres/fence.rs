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
//! The register is a table of its own, and so a transaction that is left open holds up whoever
//! writes the same resource under a later epoch, but never a renewal or an acquisition.

use baton_core::ids::Epoch;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;
use tokio_postgres::{Error, Transaction};

use super::config::is_plain;

/// Raised by the function: a later epoch was here.
const BEHIND: &str = "BT002";

/// The register's table and function alone, for a database that baton's own tables are not in.
/// `None` if a name has other characters than a-z, 0-9 and '_', or begins with a digit.
pub fn sql(schema: &str, prefix: &str) -> Option<String> {
    let plain = is_plain(schema, 63) && is_plain(prefix, 40);
    let parts = concat!(include_str!("sql/fences.sql"), include_str!("sql/functions/fence.sql"));
    plain.then(|| parts.replace("{t}", &format!("{schema}.{prefix}")))
}

/// Why a write was not admitted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// A later epoch was here: the writer's term is over.
    #[error("epoch {given} may not write {resource} any more; {highest} was here")]
    Behind {
        /// What was to be written.
        resource: String,
        /// Under which epoch.
        given: Epoch,
        /// The highest that was admitted.
        highest: Epoch,
    },
    /// The register could not be asked; roll the transaction back.
    #[error("the fence cannot be asked: {0}")]
    Store(#[from] Error),
}

/// The register of one prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    statement: String,
}

impl Default for Fence {
    /// The one of the default schema and prefix.
    fn default() -> Self {
        Self { statement: "SELECT public.baton_fence($1, $2::numeric)".to_owned() }
    }
}

impl Fence {
    /// The one of this schema and prefix. `None` if a name has other characters than a-z, 0-9 and
    /// '_', or begins with a digit.
    pub fn named(schema: &str, prefix: &str) -> Option<Self> {
        let plain = is_plain(schema, 63) && is_plain(prefix, 40);
        let statement = format!("SELECT {schema}.{prefix}fence($1, $2::numeric)");
        plain.then_some(Self { statement })
    }

    /// Admits what this transaction is going to write, or says that a later epoch was here. Ask
    /// before the write; until the transaction ends nobody writes under a later epoch.
    pub async fn admit(
        &self,
        transaction: &Transaction<'_>,
        resource: &str,
        epoch: Epoch,
    ) -> Result<(), Refused> {
        let given = epoch.0.to_string();
        let params: [super::step::Param<'_>; 2] = [(&resource, Type::TEXT), (&given, Type::TEXT)];
        let Err(problem) = transaction.query_typed(&self.statement, &params).await else {
            return Ok(());
        };
        let said = problem.as_db_error().filter(|said| *said.code() == SqlState::from_code(BEHIND));
        let highest = said.and_then(|said| said.detail()?.parse().ok()).map(Epoch);
        match highest {
            Some(highest) => {
                Err(Refused::Behind { resource: resource.to_owned(), given: epoch, highest })
            }
            None => Err(Refused::Store(problem)),
        }
    }
}
