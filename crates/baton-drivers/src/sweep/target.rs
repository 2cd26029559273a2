//! What can be swept, and why something cannot.

use std::time::Duration;

use super::table::Table;
use crate::OpenError;

/// Keys of Redis that expire by an index of the user's own: a sorted set whose members are the
/// keys and whose scores are their expiries, in milliseconds since 1970. An update moves the expiry
/// with `ZADD`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    pub(crate) index: String,
}

impl Keys {
    /// The keys that this sorted set names.
    pub fn by_index(index: impl Into<String>) -> Self {
        Self { index: index.into() }
    }
}

/// Objects of S3 below a prefix that are over this long after they were last written, by the
/// server's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objects {
    pub(crate) prefix: String,
    pub(crate) age: Duration,
}

impl Objects {
    /// The objects whose keys begin with this prefix and whose last write is this long ago.
    pub fn under(prefix: impl Into<String>, age: Duration) -> Self {
        Self { prefix: prefix.into(), age }
    }
}

/// What is swept.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Target {
    /// Rows of PostgreSQL, MySQL or SQLite.
    Table(Table),
    /// Keys of Redis.
    Keys(Keys),
    /// Objects of S3.
    Objects(Objects),
}

impl From<Table> for Target {
    fn from(table: Table) -> Self {
        Self::Table(table)
    }
}

impl From<Keys> for Target {
    fn from(keys: Keys) -> Self {
        Self::Keys(keys)
    }
}

impl From<Objects> for Target {
    fn from(objects: Objects) -> Self {
        Self::Objects(objects)
    }
}

/// Why something cannot be swept, found before anything is connected. One line each.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message says what its variant and fields mean")]
pub enum InvalidSweep {
    #[error(transparent)]
    Store(#[from] OpenError),
    #[error(
        "{what} name {name:?} must be 1 to 63 letters, digits or '_', and not begin with a digit"
    )]
    Name { what: &'static str, name: String },
    #[error("table {table} needs a key; name the columns that tell a row from every other")]
    NoKey { table: String },
    #[error("the age of {target} is 0 ms; give how long a record may live")]
    NoAge { target: String },
    #[error("{target} holds what baton itself keeps at {own}; choose another prefix")]
    Own { target: String, own: String },
    #[error("{what} is empty; name one")]
    Empty { what: &'static str },
    #[error("{scheme}:// holds {holds}, and {given} was given to be swept")]
    Kind { scheme: String, holds: &'static str, given: &'static str },
    #[error("{scheme}:// cannot {what}; choose another strategy")]
    Strategy { scheme: &'static str, what: &'static str },
    #[error("records would be archived where they are swept, at {into}; choose another place")]
    IntoItself { into: String },
}
