//! MySQL and MariaDB: one CALL a step, and the rules in stored procedures.
//!
//! ```text
//!   handle ──► service thread ──► engine ── one CALL, one reply ──► server
//!                        │ connect: a few connections,     │ sql/procedures: each
//!                        │   each host in turn             │   one transaction
//!                        │ statement: arguments as         │ sql/000…: tables
//!                        │   literals, bytes in hex        ▼
//!                        └ error: what the caller must do  InnoDB
//!   fence ──► the user's own transaction, in the user's own connection
//!   sweep ──► the user's own expired rows; sweep_plan: statements that fit the table
//! ```
//!
//! Who judges by which clock: the server's, in UTC with microseconds, read in a statement of its
//! own once every lock is held. The session's time zone has no part in it.
//!
//! Locks are taken in one order: meta (shared), namespace, node, lease. A beat that only looks
//! takes its own node's row alone.

mod beat;
mod config;
mod connect;
mod context;
mod counters;
mod documents;
mod error;
mod examine;
pub mod fence;
mod operations;
mod schema;
mod statement;
mod sweep;
mod sweep_plan;

use std::sync::Arc;

use baton_store::Store;

use config::MysqlConfig;

use crate::OpenError;
use crate::reader::Access;
use crate::service::Service;

pub(crate) use config::client_url;
/// The client library, in the version that [`fence`] takes transactions of.
pub use mysql_async;
pub(crate) use sweep::sweep;

/// The store's name in messages and reports.
const NAME: &str = "mysql";

/// Opens the store that the URL names.
pub(crate) async fn open(
    scheme: &str,
    rest: &str,
    access: Access,
) -> Result<Arc<dyn Store>, OpenError> {
    let config = MysqlConfig::parse(scheme, rest)?;
    let engine = move || context::MysqlEngine::open(config, access);
    let service = Service::start("baton-mysql", engine).await?;
    Ok(Arc::new(service))
}
