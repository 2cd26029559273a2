//! What baton asks of a store, and how to tell whether a store keeps to it.
//!
//! ```text
//!   contract ──── what every kind of store has: calls and answers as data, hints, a declaration
//!      │  operation ── how an operation is declared, once
//!      │  election ─── the operations and the contract of the stores that baton leads through
//!      │  capability, error ── what a store declares, and what its errors ask of the caller
//!      │  finding ─ what is to be said of a server: its version, its settings, its rights
//!      ├── lease_rule ──── who may claim, renew, release: pure, for stores that run it themselves
//!      ├── memory ──────── the executable specification: pure rules, then a store around them
//!      ├── stale_epoch ─── what a fence says to a writer that comes too late
//!      ├── sweep ───────── a place that records expire in, swept in fenced batches
//!      ├── wrap ────────── faults, recorded histories, counts, around any store
//!      └── conformance ─── the suite a driver is handed to, one file a theme
//! ```
//!
//! The store is authoritative for who holds the lease; who judges its expiry is declared by
//! [`ExpiryClock`]. Nothing here knows a database client.

mod capability;
mod contract;
mod counters;
mod document;
mod election;
mod error;
mod finding;
mod namespaces;
mod operation;
mod prune;
mod stale_epoch;

pub mod clock;
pub mod conformance;
pub mod counts_by_name;
pub mod lease_rule;
pub mod memory;
pub mod sweep;
pub mod wrap;

pub use capability::{Capability, Class, Declaration, ExpiryClock};
pub use contract::{Backend, Contract, HintStream};
pub use counters::{
    APPEND_MAX, COUNTER_BYTES_MAX, Change, CounterAnswer, CounterCall, CounterName, CounterValue,
    Delta, InvalidCounter, Reading,
};
pub use document::{
    BatchOutcome, DOCUMENT_BYTES_MAX, DOCUMENTS_MAX, Document, DocumentWrite, Precondition,
    WriteOutcome,
};
pub use election::{Answer, Call, Election, Inspection, Store};
pub use error::StoreError;
pub use finding::{Finding, FindingLevel};
pub use namespaces::namespace_page;
pub use operation::Operation;
pub use prune::{Prune, PruneOutcome};
pub use stale_epoch::StaleEpoch;
