//! S3 and what speaks like it: objects, conditional writes, and nothing else.
//!
//! ```text
//!   handle ──► thread "baton-s3" ──► store ── one step a call
//!                                     ├ beat ─ registry ──► PUT …/workers/worker={id}.json
//!                                     ├ step ── state ────► PUT …/state.json     if it is still so
//!                                     └ step ── counters ─► PUT …/counters.json  if it is still so
//!   sweep: the user's own old objects, page by page
//!   self_test: is "if it is still so" honoured?             lease, fence, view, documents, terms
//! ```
//!
//! The rules are those of the memory store, and so is the data: a step reads the state, applies the
//! rule, and writes the state back on the condition that nobody else did. Everything that must
//! change together is one object; a conditional write of one object is all the atomicity there is.
//!
//! Who judges by which clock: whoever looks, by its own. A lease is over when the same version was
//! seen for long enough. The server's clock dates objects, and the wall clock stamps the history,
//! for people.
//!
//! Node records are objects of their own, so that a hundred beats do not compete for one.

mod beat;
mod bucket;
mod config;
mod connect;
mod cost;
mod counters;
mod date;
mod error;
mod examine;
pub mod fence;
pub(crate) mod fences;
mod layout;
mod prune;
mod registry;
mod schema;
mod self_test;
mod sheet;
mod state;
mod step;
mod store;
mod sweep;
mod tap;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use baton_store::Store;
pub use cost::{REQUESTS_PER_BEAT, Requests, requests_per_hour};
/// The client library, in the version that [`fence`] takes clients of.
pub use object_store;
use object_store::ObjectStore;

use self::config::Config;
use self::layout::Layout;
use self::step::Marks;
use self::store::S3Engine;
use crate::reader::Access;
use crate::refusal::Refusal;
use crate::service::Service;

pub(crate) use sweep::sweep;

/// A client for your own objects, by the URL of a store: the same server, keys and timeout, and no
/// write is repeated. What the URL names after the bucket does not matter to it.
pub fn client(url: &str) -> Result<Arc<dyn ObjectStore>, Refusal> {
    let (scheme, rest) = url.split_once("://").unwrap_or(("s3", url));
    let bucket = connect::bucket(&Config::parse(scheme, rest)?)?;
    Ok(Arc::new(bucket.store))
}

/// Opens the store that the URL names.
pub(crate) async fn open(
    scheme: &str,
    rest: &str,
    access: Access,
) -> Result<Arc<dyn Store>, Refusal> {
    let config = Config::parse(scheme, rest)?;
    let service = Service::start("baton-s3", move || start(config, access)).await?;
    Ok(Arc::new(service))
}

async fn start(config: Config, access: Access) -> Result<S3Engine, Refusal> {
    let place = config.place();
    let strange = |detail: String| Refusal::Strange { store: "s3", place: place.clone(), detail };
    let layout = Layout::new(&config.prefix).map_err(strange)?;
    let bucket = Arc::new(connect::bucket(&config)?);
    let chance = random().map_err(|problem| strange(problem.to_string()))?;
    let shelves = Mutex::new(BTreeMap::new());
    let engine = S3Engine { config, access, bucket, layout, marks: Marks::new(chance), shelves };
    // The trial writes. A reader needs no conditions to be honoured.
    if access == Access::Write {
        engine.self_test(chance).await?;
    }
    Ok(engine)
}

/// A number that nobody else draws.
fn random() -> Result<u128, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(u128::from_be_bytes(bytes))
}
