//! Redis and Valkey: one script a step, judged by the server's clock.
//!
//! ```text
//!   open ──► config ──► connect: each host in turn, until a master answers ── line
//!   engine ── beat, lease, registry, history, counters: a call as arguments ── reply: its answer
//!      │ EVALSHA, one round trip
//!      ▼
//!   lua/ prelude + lease + lineage + terms + one step ──► the keys of one namespace (schema)
//!      │ PUBLISH in the same script
//!      ▼
//!   hints ── a second connection, subscribed again whenever it breaks
//!
//!   sweep ── the user's own expired keys, by an index of the user's own
//!   fence ── the user's own writes     examine, rights ── the server as it is     error
//! ```

mod beat;
mod config;
mod connect;
mod counters;
mod documents;
mod engine;
mod error;
mod examine;
pub mod fence;
pub(crate) mod fences;
mod hints;
mod history;
mod lease;
mod line;
mod prune;
mod registry;
mod reply;
mod rights;
mod schema;
mod script;
mod sweep;

use std::sync::Arc;

/// The client library, in the version that [`fence`] takes connections and commands of.
pub use ::redis as client;
use baton_store::Store;

use crate::reader::Access;
use crate::refusal::Refusal;
use crate::service::Service;

pub(crate) use config::client_url;
pub(crate) use sweep::sweep;

/// What the store is called in messages.
const NAME: &str = "redis";

/// Opens the store that the URL names.
pub(crate) async fn open(
    scheme: &str,
    rest: &str,
    access: Access,
) -> Result<Arc<dyn Store>, Refusal> {
    let config = config::RedisConfig::parse(scheme, rest)?;
    let service =
        Service::start("baton-redis", move || engine::Redis::open(config, access)).await?;
    Ok(Arc::new(service))
}
