//! The stores that baton can lead through.
//!
//! ```text
//!   open(url) ──► sqlite://path        one file, every process of one machine
//!             ├─► memory://            this process alone; for trying things out
//!             └─► postgres://  mysql://  redis://  s3://  etcd://
//!                    │ url_parts, address: the URL taken apart, secrets, TLS
//!                    │ driver: what all drivers have in common
//!                    └ service: a thread of the driver's own, where its connections live
//!   open_to_read(url) ──► the same stores for reading commands: nothing is made or written
//!   client_url(url) ──► the same server or file for a client of the user's own
//!   fences::list(url), fences::reset(url) ──► the fences of the user's own data, for people
//!   shown(url) ──► what of it people may see; server_hosts(url) ──► where its servers are
//!   sweep::open(url, what) ──► what has expired of the user's own, swept in fenced batches
//! ```
//!
//! Each store is a feature and a folder, and the same question is answered in the same file name in
//! each: `config` the URL's options, `connect`, `schema`, `context` where a call is carried out,
//! `operations` what is asked, `error`, and `fence` for the user's own data. Where there is more to
//! say, `beat`, `counters`, `records`, `examine` and `sweep` are files too; what the server runs is
//! in `sql/` or `lua/`.

// A build without some of the stores has no use for all that they share.
#![cfg_attr(
    not(feature = "all"),
    allow(dead_code, unused_imports, unused_variables, clippy::needless_pass_by_value)
)]

#[cfg(feature = "network")]
pub mod address;
mod client_url;
mod driver;
#[cfg(feature = "etcd")]
pub mod etcd;
mod fence_error;
pub mod fences;
mod hosts;
#[cfg(feature = "mysql")]
pub mod mysql;
mod open;
mod open_error;
#[cfg(feature = "postgres")]
pub mod postgres;
mod reader;
#[cfg(feature = "redis")]
pub mod redis;
#[cfg(feature = "s3")]
pub mod s3;
#[cfg(feature = "network")]
mod service;
mod shown;
#[cfg(feature = "sqlite")]
pub mod sqlite;
pub mod sweep;
#[cfg(feature = "network")]
pub mod tls;
mod url_parts;

pub use baton_store::StaleEpoch;
pub use client_url::client_url;
pub use driver::IncompatibleSchema;
pub use fence_error::FenceError;
pub use hosts::server_hosts;
pub use open::{memory, open, open_to_read};
pub use open_error::OpenError;
pub use shown::{shown, without_secrets};
