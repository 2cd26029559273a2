//! The mysql store on a real server.
//!
//! ```text
//!   fixture: a server, SQL behind the store's back, copies of its data folder
//!     ├─► conforms: the whole suite, a process a handle (peer)
//!     ├─► traps: what goes wrong with plainer SQL, shown to bite it and not this store
//!     ├─► faults, refusals, restored, rights, round_trips, upgrade
//!     └─► fence, sweep: the user's own tables
//! ```

mod conforms;
mod faults;
mod fence;
mod fixture;
mod peer;
mod refusals;
mod restored;
mod rights;
mod round_trips;
mod sweep;
mod traps;
mod upgrade;
mod written_before;
