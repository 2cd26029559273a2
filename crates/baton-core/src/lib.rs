//! The deciding core of baton: who leads, and until when.
//!
//! ```text
//!                 ┌───────────────────── Core ─────────────────────┐
//!   Input ───────►│ observed: how the lease looked, and when       │──────► Actions
//!   now, and      │ term: what is held, its trust window           │  requests to the store,
//!   what happened │ claim: when to take a free lease               │  timers, start and stop of
//!                 │ view: who is there, who comes next             │  the term's work, events
//!                 └────────────────────────────────────────────────┘
//! ```
//!
//! The core is authoritative for its own trust window, by the local clock it is handed; the store
//! is authoritative for who holds the lease. Nothing here blocks, sleeps, reads a clock or draws a
//! number that its caller did not seed. The same code runs in production and in the simulator.

mod action;
mod beat;
mod core;
mod deaths;
mod event;
mod guard;
mod hash;
mod hints;
mod input;
mod invariant;
mod membership;
mod metrics;
mod notice;
mod query;
mod recent;
mod refusal;
mod snapshot;

pub mod election;
pub mod health;
pub mod ids;
pub mod lease;
pub mod partition;
pub mod planted;
pub mod protocol;
pub mod rng;
pub mod schedule;
pub mod settings;
pub mod time;
pub mod timer;

pub use action::Action;
pub use core::{Core, Identity};
pub use event::{DemotionReason, Event, Level, Phase, Topic};
pub use guard::breaker::{BreakerState, BreakerStatus};
pub use guard::fence::EpochFence;
pub use input::{Command, Input, LifelineReport};
pub use membership::MembersReading;
pub use metrics::MetricsReport;
pub use notice::LateNotice;
pub use recent::Recent;
pub use refusal::{TransferRefusal, foresee_refusal};
pub use snapshot::Snapshot;
