//! Counters that any process adds to and the leader consolidates: cheap, exact in the end, and
//! exact at once for a reader that includes what is pending.
//!
//! ```text
//!   add, sub, set ──► Counters ── gathers for 2 ms, sums per counter ──► one append ──► store
//!    (many tasks)       └ tasks wait until their append is durable ◄── repeated if unanswered
//!                                                                          pending changes
//!   CountersPlugin, every 60 s or when asked ── one fenced step ──►        value + pending = sum
//!   get ── value and pending, in one look ──►
//! ```
//!
//! Each append has a number, and a store takes each number of a writer once: an append whose answer
//! is lost is sent again and counts once. A consolidation applies changes and takes them off the
//! pending in one step, fenced by the leader's epoch: a leader that dies in the middle
//! has done all of it or nothing.
//!
//! ```
//! use baton::plugins::counters::{Counters, CountersPlugin};
//! use baton::Node;
//!
//! # use std::{error::Error, sync::Arc};
//! # async fn count(store: Arc<dyn baton::Store>) -> Result<(), Box<dyn Error>> {
//! let node = Node::builder(store).plugin(CountersPlugin::default()).build()?;
//! let counters: Counters = node.counters();
//! counters.add("orders", 3).await?;
//! counters.sub("stock", 3).await?;
//! counters.set("price", 250).await?;
//! assert_eq!(counters.get("orders").await?, 3);
//! # Ok(())
//! # }
//! ```

mod handle;
mod plugin;
mod writer;

pub use baton_store::{CounterName, CounterValue, InvalidCounter, Reading};
pub use handle::{CountError, Counters, CountersConfig};
pub use plugin::{CountersPlugin, PluginConfig};
