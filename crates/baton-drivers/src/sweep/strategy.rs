//! What is done with a record that has expired.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use baton_store::sweep::SweepError;
use serde_json::Value;

use super::table::{Table, check_name, check_path};
use super::target::InvalidSweep;

/// Why a callback failed, in its own words.
pub type CallbackError = Box<dyn std::error::Error + Send + Sync>;

type Done = Pin<Box<dyn Future<Output = Result<(), CallbackError>> + Send>>;

/// What the user does with records before they go.
#[derive(Clone)]
pub struct Callback(Arc<dyn Fn(Vec<Value>) -> Done + Send + Sync>);

impl Callback {
    /// Hands the records of one batch of this target over.
    pub(crate) async fn call(&self, target: &str, records: Vec<Value>) -> Result<(), SweepError> {
        (self.0)(records).await.map_err(|problem| SweepError::Callback {
            target: target.to_owned(),
            detail: problem.to_string(),
        })
    }
}

impl fmt::Debug for Callback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Callback")
    }
}

/// What is done with a record that has expired.
#[derive(Clone, Debug, Default)]
pub enum Strategy {
    /// It is removed.
    #[default]
    Delete,
    /// It is marked: the column, which must be NULL until then, is set to the server's time, in the
    /// unit of the table. On Redis the field of a hash.
    SoftDelete {
        /// The column, or the field.
        column: String,
    },
    /// It is moved, in the same step: a row to a table with the same columns, a key or an object
    /// under a prefix.
    Archive {
        /// The table, or the prefix.
        into: String,
    },
    /// The records are handed to a function, and removed once it returned `Ok`. At least once: a
    /// batch that could not be removed comes again.
    ///
    /// PostgreSQL and MySQL keep the rows locked meanwhile. SQLite, Redis and S3 do not: there a
    /// record that an update saves while the function runs stays, though it was handed over.
    Callback(Callback),
}

impl Strategy {
    /// Marks records in this column.
    pub fn soft_delete(column: impl Into<String>) -> Self {
        Self::SoftDelete { column: column.into() }
    }

    /// Moves records there.
    pub fn archive(into: impl Into<String>) -> Self {
        Self::Archive { into: into.into() }
    }

    /// Hands records to this function before they are removed.
    ///
    /// ```
    /// use baton_drivers::sweep::Strategy;
    ///
    /// let hand_over = Strategy::callback(|records| async move {
    ///     println!("{} sessions ended", records.len());
    ///     Ok(())
    /// });
    /// assert!(matches!(hand_over, Strategy::Callback(_)));
    /// ```
    pub fn callback<F, R>(take: F) -> Self
    where
        F: Fn(Vec<Value>) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), CallbackError>> + Send + 'static,
    {
        Self::Callback(Callback(Arc::new(move |records| Box::pin(take(records)))))
    }

    /// Its names may stand in a statement, and rows do not move to where they are.
    pub(crate) fn check_for(&self, table: &Table) -> Result<(), InvalidSweep> {
        match self {
            Self::SoftDelete { column } => check_name("column", column),
            Self::Archive { into } if *into == table.name => {
                Err(InvalidSweep::IntoItself { into: into.clone() })
            }
            Self::Archive { into } => check_path("table", into),
            Self::Delete | Self::Callback(_) => Ok(()),
        }
    }
}
