//! PostgreSQL, version 12 and later: one server, and its replicas for the day it is lost.
//!
//! ```text
//!   Service ── one thread ──► context ── connect: one connection ──► server
//!                              │                     pooler: which no other program shares
//!                              │ a call = one statement = one round trip     functions in sql/
//!                              ├ operations  beat  counters
//!                              ├ hints come on the same connection           NOTIFY
//!                              └ schema: made at first opening               <prefix>meta …
//!   sweep ── the user's own expired rows ── sweep_plan: statements that fit the table
//!   fence ── the user's own transaction ── <prefix>fence(resource, epoch) ──► <prefix>fences
//! ```
//!
//! The rules are functions at the server, so that a beat is one request and one reply. Leases and
//! ages are judged by the server's `clock_timestamp()`, read under the locks of the step.
//!
//! The lineage moves when the server is another one, or on another timeline, or the database or its
//! tables were made anew, or when it is behind what this handle has seen: see
//! `sql/functions/settle.sql`.

mod beat;
mod config;
mod connect;
mod context;
mod counters;
mod error;
mod examine;
pub mod fence;
mod operations;
mod pooler;
mod schema;
mod sweep;
mod sweep_plan;
mod tls;

use std::sync::Arc;

use baton_store::Store;

use crate::OpenError;
use crate::reader::Access;
use crate::service::Service;

pub(crate) use config::client_url;
pub use schema::schema_sql;
pub(crate) use sweep::sweep;
/// The client library, in the version that [`fence`] takes transactions of.
pub use tokio_postgres;

use config::PostgresConfig;
use context::PostgresEngine;

/// The store's name in messages and reports.
const NAME: &str = "postgres";

/// Opens the store that the URL names.
pub(crate) async fn open(
    scheme: &str,
    rest: &str,
    access: Access,
) -> Result<Arc<dyn Store>, OpenError> {
    let config = PostgresConfig::parse(scheme, rest)?;
    let service =
        Service::start("baton-postgres", move || PostgresEngine::open(config, access)).await?;
    Ok(Arc::new(service))
}
