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

mod error;
#[cfg(feature = "network")]
mod hosts;
mod record;
mod schema;
mod seen;
#[cfg(feature = "network")]
mod slot;
#[cfg(feature = "network")]
mod subscriptions;
mod unchanged;

pub(crate) use error::DriverError;
#[cfg(feature = "network")]
pub(crate) use hosts::{Hosts, all_shown, is_this_machine, shown};
pub(crate) use record::{Fields, Record, boot_id};
pub use schema::IncompatibleSchema;
pub(crate) use schema::{SchemaPresence, SchemaState, SchemaVersion};
pub(crate) use seen::{BeatServer, SeenLeases};
#[cfg(feature = "network")]
pub(crate) use slot::{ConnectionSlot, Connector, within};
#[cfg(feature = "network")]
pub(crate) use subscriptions::Subscriptions;
pub(crate) use unchanged::Unchanged;
