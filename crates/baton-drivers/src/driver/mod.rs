//! What all drivers have in common. A driver contains what differs.
//!
//! ```text
//!   Service ──► Engine of a driver
//!                 ├─ ConnectionSlot   one connection: made on demand, discarded when broken
//!                 │    run(call)      within the deadline; late is Unknown
//!                 ├─ Hosts            each in turn, beginning with the one that answered last
//!                 ├─ Subscriptions    namespace ──► receivers of hints, joined again after a loss
//!                 ├─ SchemaVersion    may this program use what is there?   SchemaPresence
//!                 ├─ SeenLeases       does a reply show that the data went back?
//!                 ├─ Unchanged        how long something was silent, where the store has no clock
//!                 └─ Record           fields as text ──► lease, member, term; or Corrupt
//!   errors: a client's own ──► DriverError (of a call)   OpenError (of opening)
//!                                   └──────► StoreError ◄────┘
//! ```

// A build without some of the stores lacks those that use the rest.
#![cfg_attr(
    not(all(
        feature = "sqlite",
        feature = "postgres",
        feature = "mysql",
        feature = "redis",
        feature = "s3",
        feature = "etcd"
    )),
    allow(dead_code, unused_imports)
)]

mod error;
#[cfg(feature = "network")]
mod hosts;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "redis"))]
mod record;
mod schema;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod seen;
#[cfg(feature = "network")]
mod slot;
#[cfg(any(feature = "etcd", feature = "postgres", feature = "redis"))]
mod subscriptions;
#[cfg(any(feature = "etcd", feature = "s3"))]
mod unchanged;

pub(crate) use error::DriverError;
#[cfg(feature = "network")]
pub(crate) use hosts::{Hosts, all_shown, is_this_machine, shown};
#[cfg(any(feature = "mysql", feature = "postgres", feature = "redis"))]
pub(crate) use record::{Fields, Record};
pub use schema::IncompatibleSchema;
pub(crate) use schema::{SchemaPresence, SchemaState, SchemaVersion};
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub(crate) use seen::SeenLeases;
#[cfg(feature = "network")]
pub(crate) use slot::{ConnectionSlot, Connector, within};
#[cfg(any(feature = "etcd", feature = "postgres", feature = "redis"))]
pub(crate) use subscriptions::Subscriptions;
#[cfg(any(feature = "etcd", feature = "s3"))]
pub(crate) use unchanged::Unchanged;
