//! What a node can be asked about itself while it runs: figures for a monitoring system.
//!
//! ```text
//!   counted as it happens, by additions alone          asked at each scrape
//!   store ◄── Count (a layer) ─┐                       ┌─ core: leader, epoch, breaker, beats
//!   events ──► NodeCounts ────────┤                       ├─ term: deadlines
//!                              └──► gather ◄───────────┴─ plugins: runs, failures
//!                                     │ NodeMetrics: families of samples
//!                                     ├──► to_string(): Prometheus' exposition format
//!                                     ├──► http/ (feature `http`): /metrics, health, /leader
//!                                     └──► otel/ (feature `otel`): instruments, and traces
//! ```
//!
//! `logs/` is what a node tells in the application's own logs, through `tracing`.
//!
//! There is no task that gathers: a node without a scraper does nothing for it. `docs/metrics.md`
//! has every name with its meaning, and a test keeps the two alike.

mod counts;
mod family;
mod gather;
mod logs;
mod schedules;

#[cfg(feature = "http")]
pub(crate) mod http;
#[cfg(feature = "otel")]
pub(crate) mod otel;

pub use family::{Family, FamilyKind, NodeMetrics, Sample};

pub(crate) use counts::NodeCounts;
#[cfg(feature = "http")]
pub(crate) use gather::CoreFigures;
#[cfg(any(feature = "http", feature = "otel"))]
pub(crate) use gather::gather;
pub(crate) use logs::Logs;

/// A value of an event as text: `window-closed`, or `{"released":"shutdown"}`.
fn bare(value: serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text,
        other => other.to_string(),
    }
}
