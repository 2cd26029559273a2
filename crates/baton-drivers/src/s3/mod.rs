//! S3 and what speaks like it: objects, conditional writes, and nothing else.
//!
//! ```text
//!   handle ──► thread "baton-s3" ──► context ── operations
//!                                     ├ registry ──────► PUT …/workers/worker={id}.json
//!                                     ├ state ─────────► PUT …/state.json     if it is still so
//!                                     │                  lease, fence, view, terms, documents
//!                                     ├ counters ──────► PUT …/counters.json  if it is still so
//!                                     └ documents ─────► PUT …/documents/…, then …/state.json
//!   sweep: the user's own old objects, page by page
//!   examine: is "if it is still so" honoured?
//!   bucket ── observing_client: the HTTP client ── error: what became of a request
//! ```
//!
//! The rules are those of the memory store, and so is the data: a call reads the state, applies the
//! rule, and writes the state back on the condition that no other write came between. Everything
//! that must change together is one object; a conditional write of one object is all the atomicity
//! there is. The bodies of documents are objects that never change, so that no renewal writes them
//! and no follower reads them.
//!
//! Which clock judges: that of the node which looks. A lease is over when the same version was seen
//! for long enough. The server's clock dates objects, and the wall clock stamps the history,
//! for people.
//!
//! Node records are objects of their own, so that a hundred beats do not compete for one.

mod bucket;
mod config;
mod connect;
mod context;
mod cost;
mod counters;
mod documents;
mod error;
mod examine;
pub mod fence;
mod json_object;
mod observing_client;
mod operations;
mod registry;
mod schema;
mod state;
mod sweep;

use std::sync::Arc;

use baton_store::Store;
pub use cost::{REQUESTS_PER_BEAT, Requests, requests_per_hour};
/// The client library, in the version that [`fence`] takes clients of.
pub use object_store;
use object_store::ObjectStore;

use self::config::S3Config;
use self::context::S3Engine;
use crate::OpenError;
use crate::reader::Access;
use crate::service::Service;

pub(crate) use sweep::sweep;

/// A client for your own objects, by the URL of a store: the same server, keys and timeout, and no
/// write is repeated. What the URL names after the bucket does not matter to it.
pub fn client(url: &str) -> Result<Arc<dyn ObjectStore>, OpenError> {
    let (scheme, rest) = url.split_once("://").unwrap_or(("s3", url));
    let bucket = connect::bucket(&S3Config::parse(scheme, rest)?)?;
    Ok(Arc::new(bucket.store))
}

pub(crate) async fn open(
    scheme: &str,
    rest: &str,
    access: Access,
) -> Result<Arc<dyn Store>, OpenError> {
    let config = S3Config::parse(scheme, rest)?;
    let service = Service::start("baton-s3", move || S3Engine::open(config, access)).await?;
    Ok(Arc::new(service))
}

/// A number that no other process draws.
fn random() -> Result<u128, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(u128::from_be_bytes(bytes))
}
