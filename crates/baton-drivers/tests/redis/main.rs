//! The redis store, on real servers.
//!
//! ```text
//!   ground: a server, what can be done to it ──► conforms (peer: a process of its own)
//!   contender: a node's side                 ──► traps  faults  restarts  rights  round_trips
//!   certificates                             ──► refusals
//!                                                fence, sweep: the user's own keys
//! ```

mod certificates;
mod conforms;
mod faults;
mod fence;
mod ground;
mod peer;
mod refusals;
mod restarts;
mod rights;
mod round_trips;
mod sweep;
mod traps;
