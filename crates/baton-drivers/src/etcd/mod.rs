//! etcd, by its own leases and transactions.
//!
//! ```text
//!   handle ─► service's thread ─► engine ─► beat  lease  registry  view  documents  history
//!                                   │                    │ step: compare all that was seen, write
//!                                   │                    ▼
//!                                   │ memory         connect ── HTTP, /v3/… ──► etcd, a member
//!                                   └─ hints ── /v3/watch, for as long as it lasts ──►
//! ```
//!
//! etcd is authoritative for who holds the lease and for when it is over: the holder key goes with
//! an etcd lease, and etcd removes both. It tells no time of day, so the history is stamped by the
//! node that writes it, and no ages of members are told.
//!
//! A step is one transaction that compares everything it rests on. What it rests on is remembered
//! from the last answer, so a steady beat is one request, and a holder's is two: a lease of its own
//! for every renewal (`lease` says why), then the transaction. The first in line has a lease ready
//! (`spare`), so its takeover is one transaction.
//!
//! What cannot be noticed: a cluster restored from a snapshot that keeps the cluster's id and whose
//! revisions have passed those that were seen. So no lineage is declared; the floor that nodes
//! bring along keeps their epochs from coming back.

mod beat;
mod config;
mod connect;
mod documents;
mod engine;
mod error;
mod examine;
pub mod fence;
pub(crate) mod fences;
mod hints;
mod history;
mod inspect;
mod keys;
mod lease;
mod memory;
mod prune;
mod record;
mod registry;
mod schema;
mod sight;
mod spare;
mod step;
mod view;
mod wire;

use std::sync::Arc;

use baton_core::ids::Lineage;
use baton_store::Store;

use self::config::EtcdConfig;
use self::connect::Link;
use self::engine::EtcdEngine;
use crate::reader::Access;
use crate::refusal::Refusal;
use crate::service::Service;

/// The only one there is.
const LINEAGE: Lineage = Lineage(0);

/// Opens the store that the URL names.
pub(crate) async fn open(
    scheme: &str,
    rest: &str,
    access: Access,
) -> Result<Arc<dyn Store>, Refusal> {
    let config = EtcdConfig::from_location(scheme, rest)?;
    let engine = move || async move {
        let link = connected(config)?;
        match access {
            Access::Read => schema::look(&link).await?,
            Access::Write => schema::settle(&link).await?,
        }
        Ok::<_, Refusal>(EtcdEngine::new(link))
    };
    Ok(Arc::new(Service::start("baton-etcd", engine).await?))
}

fn connected(config: EtcdConfig) -> Result<Link, Refusal> {
    let place = config.place.clone();
    Link::new(config).map_err(|detail| Refusal::Tls { store: "etcd", place, detail })
}
