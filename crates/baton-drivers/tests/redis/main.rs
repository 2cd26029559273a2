//! The redis store, on real servers.
//!
//! ```text
//!   fixture: a server, what can be done to it ──► conforms (peer: a process of its own)
//!   contender: a node's side                 ──► traps  faults  failovers  restarts
//!                                                restored  rights  round_trips
//!   certificates                             ──► refusals
//!                                                fence, sweep: the user's own keys
//! ```

mod certificates;
mod conforms;
mod failovers;
mod faults;
mod fence;
mod fixture;
mod peer;
mod refusals;
mod restarts;
mod restored;
mod rights;
mod round_trips;
mod sweep;
mod traps;
mod written_before;
