//! Elects one leader among the instances of a service, and proves that it is the only one.
//!
//! ```text
//!   your service ── Node::builder(store) ──► Node ──► Leadership: epoch, deadline, token, lost
//!                          │                  │ ───► events, metrics, commands
//!                          ▼                  ▼
//!                       Plugin ◄── plugin/  drive/ ──► baton-core   decides
//!                       work that only the    │ ─────► baton-store  one round trip a beat
//!                       leader does           │ ─────► lifeline/    proof of death
//!   plugins/: those that come with baton      └──────► observe/     figures, when asked
//! ```
//!
//! The beat and the deadlines run on a thread of the node's own. Whether this node leads is
//! computed from the clock whenever it is asked.
//!
//! This page leads from nothing to a plugin with a fenced write.
//!
//! # 1. The dependency
//!
//! ```toml
//! [dependencies]
//! baton = { path = "../baton/crates/baton" } # not published yet: a checkout, or git = "…"
//! tokio = { version = "1", features = ["macros", "rt-multi-thread"] }
//! ```
//!
//! The embedded store comes with it. For another store name its feature: `postgres`, `mysql`,
//! `redis`, `s3` or `etcd`. `http` adds an endpoint for Prometheus and for health checks, `otel`
//! adds OpenTelemetry.
//!
//! # 2. A store and a node
//!
//! The instances of a service meet in a store: a database that the service has already, or a file
//! if they share a machine. Each instance opens the same URL and builds a [`Node`].
//!
//! ```
//! use baton::Node;
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let store = baton::open("memory://").await?; // or postgres://app@db/app
//!     let node = Node::builder(store).build()?;
//!     println!("{} takes part", node.id());
//!     node.leave().await;
//!     Ok(())
//! }
//! ```
//!
//! [`Node::leave`] hands leadership over and takes the node out. A node that is merely dropped
//! leaves too, but the process may end first.
//!
//! # 3. Leading
//!
//! [`Node::leadership`] waits until this node leads. The [`Leadership`] that it returns is the
//! right to lead for one *term*. Each term has an *epoch*: a number that grows with every term and
//! never repeats.
//!
//! ```
//! # use baton::Node;
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let node = Node::builder(baton::open("memory://").await?).build()?;
//! let term = node.leadership().await?;
//! assert!(node.is_leader());
//! println!("{} leads in epoch {}", node.id(), term.epoch());
//! drop(term); // the work has ended: the lease may be released
//! # node.leave().await;
//! # Ok(())
//! # }
//! ```
//!
//! # 4. The deadline
//!
//! A leader holds a lease and renews it with every beat. If renewals fail, the term ends at its
//! [deadline](Leadership::deadline), before another node can lead. Work is told to stop
//! `stop_grace` earlier: [`may_start_work`](Leadership::may_start_work) turns false,
//! [`lost`](Leadership::lost) returns, and every [`token`](Leadership::token) is cancelled.
//!
//! ```
//! # use baton::Node;
//! # use std::time::Duration;
//! # async fn send_report() {}
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let node = Node::builder(baton::open("memory://").await?).build()?;
//! let term = node.leadership().await?;
//! if term.may_start_work() {
//!     let done = term.token().run_until_cancelled(send_report()).await;
//!     assert!(done.is_some(), "the term ended first");
//! }
//! assert!(term.deadline() > baton::clock::now());
//! assert!(term.time_left() > Duration::ZERO);
//! # drop(term);
//! # node.leave().await;
//! # Ok(())
//! # }
//! ```
//!
//! # 5. A plugin
//!
//! Work that is repeated is best a [`Plugin`]: baton starts it with the term, repeats it, starts it
//! again when it fails, and stops it before the lease ends. [`every`] makes one of a closure.
//!
//! ```
//! use std::time::Duration;
//! use baton::{Node, every};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let report = every("report", Duration::from_secs(60), |term| async move {
//!     println!("epoch {} reports", term.epoch());
//!     Ok(())
//! });
//! let node = Node::builder(baton::open("memory://").await?).plugin(report).build()?;
//! # node.leave().await;
//! # Ok(())
//! # }
//! ```
//!
//! # 6. A fenced write
//!
//! A leader can be paused between its last look at the clock and its write, and come back when
//! another node leads. So the write carries the epoch, and the database refuses it once a later
//! leader has written, in the same transaction. Each store has such a fence in [`drivers`]; this
//! plugin uses SQLite's.
#![cfg_attr(
    feature = "sqlite",
    doc = r#"
```
use std::path::PathBuf;

use baton::drivers::sqlite::{fence::Fence, rusqlite::Connection};
use baton::{Leadership, Node, Plugin, PluginError, async_trait};

/// Numbers invoices: two leaders at once would give a number twice.
struct Invoices {
    database: PathBuf,
}

#[async_trait]
impl Plugin for Invoices {
    fn name(&self) -> &str {
        "invoices"
    }

    async fn on_become_coordinator(&self, _: &Leadership) -> Result<(), PluginError> {
        let database = Connection::open(&self.database)?;
        database.execute("CREATE TABLE IF NOT EXISTS invoices (number INTEGER PRIMARY KEY)", ())?;
        Ok(())
    }

    async fn coordinator_work(&self, term: &Leadership) -> Result<(), PluginError> {
        let mut database = Connection::open(&self.database)?;
        let fence = Fence::new("invoices"); // the resource that only one leader may write
        fence.write(&mut database, term.epoch(), |transaction| {
            transaction.execute("INSERT INTO invoices DEFAULT VALUES", ())
        })?; // an error if a later epoch was here: nothing is written
        Ok(())
    }
}

# #[tokio::main]
# async fn main() -> Result<(), Box<dyn std::error::Error>> {
# let folder = tempfile::tempdir()?;
# let database = folder.path().join("shop.db");
let node = Node::builder(baton::open("memory://").await?)
    .plugin(Invoices { database })
    .build()?;
# let mut events = node.events();
# while node.plugins()[0].runs == 0 { events.next().await; }
# assert_eq!(node.plugins()[0].failures, 0);
# node.leave().await;
# Ok(())
# }
```
"#
)]
//! What baton itself keeps, [`Leadership::write_document`] writes with a fence. For anything else,
//! which cannot compare epochs, there is [`Node::fence_register`].
//!
//! # 7. Events
//!
//! [`Node::events`] is a stream of everything that happens at a node.
//!
//! ```
//! # use baton::{Event, Node};
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let store = baton::open("memory://").await?;
//! let (node, mut events) = Node::builder(store).build_with_events()?; // from the first event on
//! while let Some(stamped) = events.next().await {
//!     if let Event::LeaderChanged { new: Some(leader), epoch, .. } = &stamped.event {
//!         println!("{leader} leads in epoch {epoch}");
//!         break;
//!     }
//! }
//! # node.leave().await;
//! # Ok(())
//! # }
//! ```
//!
//! # 8. A test
//!
//! In a test, several nodes of one process share a store in memory. [`Profile::Fast`] has short
//! times.
//!
//! ```
//! use baton::{Node, Profile};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store = baton::open("memory://").await?;
//! let first = Node::builder(store.clone()).id("a").profile(Profile::Fast).build()?;
//! let second = Node::builder(store).id("b").profile(Profile::Fast).build()?;
//! first.leadership().await?;
//! assert!(!second.is_leader());
//!
//! first.leave().await;
//! let term = second.leadership().await?;
//! assert_eq!(u64::from(term.epoch()), 2);
//! # drop(term);
//! # second.leave().await;
//! # Ok(())
//! # }
//! ```
//!
//! # Where to go on
//!
//! - the programs in `examples/`: `leader` is the shortest, `axum_service` is a whole service
//! - `docs/plugins.md`: what a plugin can do wrong, and what becomes of it
//! - [`plugins`]: clean-up, counters, cluster health and polls, which come with baton
//! - `docs/operations.md`: settings, several machines, monitoring
//! - `docs/guarantees.md`: each promise and what checks it
//! - `docs/api.md`: what of this API is stable, and what may change

#![warn(missing_debug_implementations)]

mod builder;
mod drive;
mod error;
mod event;
mod fence_register;
mod handover;
mod leadership;
mod node;
mod observe;
mod plugin;
mod random;
mod service;
mod shared;
mod term;

pub mod clock;
pub mod lifeline;
pub mod plugins;
pub mod shutdown;

pub use builder::NodeBuilder;
pub use error::{BuildError, LeftError};
pub use event::{Events, Stamped};
pub use fence_register::{FenceRegister, FenceRegisterError};
pub use handover::{Handover, HandoverError};
pub use leadership::Leadership;
pub use lifeline::LifelineConfig;
pub use node::{Departure, Node};
#[cfg(feature = "otel")]
pub use observe::otel::{Telemetry, TelemetryError};
pub use observe::{Family, FamilyKind, NodeMetrics, Sample};
pub use plugin::{
    Every, InvalidPluginName, Plugin, PluginError, PluginReport, PluginReportDocument, PluginState,
    PluginStatus, RestartPolicy, Run, StateError, WorkKind, every,
};
pub use random::fresh_boot;
pub use service::{Service, ServiceContext, ServiceHandle, service};

pub use async_trait::async_trait;
pub use baton_core::ids::{BootId, Epoch, InvalidName, Namespace, NodeId};
pub use baton_core::settings::{Policy, Preempt, Profile, Settings};
pub use baton_core::{
    BreakerState, BreakerStatus, DemotionReason, Event, LateNotice, MetricsReport, Phase, Snapshot,
    TransferRefusal,
};
/// The stores, each with the fence for the user's own data in it.
pub use baton_drivers as drivers;
/// What has expired in the user's own tables, keys and objects: for [`plugins::ttl`].
pub use baton_drivers::sweep;
pub use baton_drivers::{OpenError, StaleEpoch, client_url, open, open_to_read};
pub use baton_store::sweep::{Sweep, SweepError, Swept};
pub use baton_store::{
    Document, Precondition, Prune, PruneOutcome, Store, StoreError, WriteOutcome,
};
#[cfg(feature = "otel")]
pub use opentelemetry_sdk;
/// What [`Leadership::token`] returns: the type of the crate `tokio-util`, version 0.7.
pub use tokio_util::sync::CancellationToken;

/// The README's example is compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
