//! etcd, by its own leases and transactions.
//!
//! ```text
//!   handle ─► service's thread ─► context ─► beat  lease  operations: all others
//!                                   │            │ a transaction: compare all that was seen, write
//!                                   │            ▼
//!                                   │ cache          connect ── HTTP, /v3/… ──► etcd, a member
//!                                   └─ hints ── /v3/watch, for as long as it lasts ──►
//! ```
//!
//! etcd is authoritative for who holds the lease and for when it is over: the holder key is
//! attached to an etcd lease, and etcd removes both. It has no clock to ask, so the history is
//! stamped by the node that writes it, and no ages of members are shown.
//!
//! A call is one transaction that compares everything it rests on. What it rests on is cached
//! from the last answer, so a steady beat is one request, and a holder's is two: a lease of its own
//! for every renewal (`lease` says why), then the transaction. The first in line has a lease ready
//! (`spare_lease`), so its takeover is one transaction.
//!
//! What cannot be noticed: a cluster restored from a snapshot that keeps the cluster's id and whose
//! revisions have passed those that were seen. So no lineage is declared; the floor that nodes
//! bring along keeps their epochs from coming back.

mod beat;
mod cache;
mod config;
mod connect;
mod context;
mod error;
mod examine;
pub mod fence;
mod hints;
mod lease;
mod namespace_state;
mod operations;
mod records;
mod schema;
mod spare_lease;
mod wire;

use std::sync::{Arc, Mutex};

use baton_core::ids::Lineage;
use baton_store::Store;

use self::config::EtcdConfig;
use self::connect::Connection;
use self::context::EtcdEngine;
use crate::OpenError;
use crate::reader::Access;
use crate::service::Service;

const NAME: &str = "etcd";

/// The only one there is.
const LINEAGE: Lineage = Lineage(0);

pub(crate) async fn open(
    scheme: &str,
    rest: &str,
    access: Access,
) -> Result<Arc<dyn Store>, OpenError> {
    let config = EtcdConfig::parse(scheme, rest)?;
    let engine = move || async move {
        let connection = Connection::new(config)?;
        schema::check(&connection, access).await?;
        let (cache, watches) = (Arc::default(), Mutex::default());
        Ok(EtcdEngine { connection: Arc::new(connection), cache, watches })
    };
    Ok(Arc::new(Service::start("baton-etcd", engine).await?))
}
