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
//!   once/: work that is done once in all
//! ```
//!
//! The beat and the deadlines run on a thread of the node's own. Whether this node leads is
//! computed from the clock whenever it is asked.
//!
#![doc = include_str!("../guide/leading.md")]
#![cfg_attr(feature = "sqlite", doc = include_str!("../guide/fenced_write.md"))]
#![doc = include_str!("../guide/events_and_tests.md")]
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
mod tune;

pub mod clock;
pub mod lifeline;
pub mod once;
pub mod partitions;
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
pub use once::{OnCrash, Once, OnceError, OnceOutcome, OnceRun};
pub use plugin::{
    Every, InvalidPluginName, Plugin, PluginError, PluginReport, PluginReportDocument, PluginState,
    PluginStatus, RestartPolicy, Run, StateError, WorkKind, every,
};
pub use plugins::schedules::{ScheduledJob, ScheduledRun, cron};
pub use random::fresh_boot;
pub use service::{Service, ServiceContext, ServiceHandle, service};

pub use async_trait::async_trait;
pub use baton_core::ids::{BootId, Epoch, InvalidName, Namespace, NodeId};
pub use baton_core::settings::{Policy, Preempt, Profile, Settings};
pub use baton_core::{
    BreakerState, BreakerStatus, DemotionReason, Event, LateNotice, Level, MetricsReport, Phase,
    Snapshot, Topic, TransferRefusal,
};
/// The stores, each with the fence for the user's own data in it.
pub use baton_drivers as drivers;
/// What has expired in the user's own tables, keys and objects: for [`plugins::ttl`].
pub use baton_drivers::sweep;
pub use baton_drivers::{OpenError, StaleEpoch, client_url, open, open_to_read};
pub use baton_store::sweep::{Sweep, SweepError, Swept};
pub use baton_store::{
    BatchOutcome, Document, DocumentWrite, Precondition, Prune, PruneOutcome, Store, StoreError,
    WriteOutcome,
};
#[cfg(feature = "otel")]
pub use opentelemetry_sdk;
/// What [`Leadership::token`] returns: the type of the crate `tokio-util`, version 0.7.
pub use tokio_util::sync::CancellationToken;

/// The README's example is compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
