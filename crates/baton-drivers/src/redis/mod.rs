//! Redis and Valkey: one script a call, judged by the server's clock.
//!
//! ```text
//!   open ──► config ──► connect: each host in turn, until a master answers
//!   context ── operations, counters: a call as arguments of a script    records: what scripts show
//!      │ script: EVALSHA, one round trip
//!      ▼
//!   lua/ prelude + lease + lineage + terms + the script ──► the keys of one namespace (schema)
//!      │ PUBLISH in the same script
//!      ▼
//!   hints ── a second connection, subscribed again whenever it breaks
//!
//!   sweep ── the user's own expired keys, by an index of the user's own
//!   fence ── the user's own writes     examine ── the server as it is     error
//! ```

mod config;
mod connect;
mod context;
mod counters;
mod error;
mod examine;
pub mod fence;
mod hints;
mod operations;
mod records;
mod schema;
mod script;
mod sweep;

use std::sync::Arc;

/// The client library, in the version that [`fence`] takes connections and commands of.
pub use ::redis as client;
use baton_store::Store;

use crate::OpenError;
use crate::reader::Access;
use crate::service::Service;

pub(crate) use config::client_url;
pub(crate) use sweep::sweep;

const NAME: &str = "redis";

pub(crate) async fn open(
    scheme: &str,
    rest: &str,
    access: Access,
) -> Result<Arc<dyn Store>, OpenError> {
    let config = config::RedisConfig::parse(scheme, rest)?;
    let engine = move || context::RedisEngine::open(config, access);
    Ok(Arc::new(Service::start("baton-redis", engine).await?))
}
