//! Nodes on the memory store, in one process, on the real clock: what the library promises.

mod cluster;
mod counters;
mod elections;
mod flood;
mod handles;
mod handover;
mod health;
mod hosting;
mod leaving;
mod lifelines;
mod logs;
mod networks;
#[cfg(feature = "http")]
mod observe;
mod once;
mod partitions;
mod plugins;
mod polls;
mod schedules;
mod services;
#[cfg(feature = "postgres")]
mod store_outage;
mod terms;
mod ttl;
