//! The stores that baton can lead through.
//!
//! ```text
//!   open(url) ──► sqlite://path        one file, every process of one machine
//!             ├─► memory://            this process alone; for trying things out
//!             └─► postgres://  mysql://  redis://  s3://  etcd://
//!                    │ parts, address: the URL taken apart, secrets, TLS
//!                    └ service: a thread of the driver's own, where its connections live
//!   open_to_read(url) ──► the same stores for reading commands: nothing is made or written
//!   client_url(url) ──► the same server or file for a client of the user's own
//!   fences::list(url), fences::reset(url) ──► the fences of the user's own data, for people
//!   shown(url) ──► what of it people may see; server_hosts(url) ──► where its servers are
//!   sweep::open(url, what) ──► what has expired of the user's own, swept in fenced batches
//! ```
//!
//! Each store is a feature and a folder, and the same question is answered in the same file name in
//! each: `config` the URL's options, `connect`, `schema`, `beat`, `lease`, `documents`, `hints`,
//! `error`, `fence`, `fences` and `sweep` for the user's own data, and what the server runs in
//! `sql/` or `lua/`.

#[cfg(feature = "network")]
pub mod address;
mod client_url;
#[cfg(feature = "etcd")]
pub mod etcd;
pub mod fences;
mod hosts;
#[cfg(feature = "mysql")]
pub mod mysql;
mod open;
mod parts;
#[cfg(feature = "postgres")]
pub mod postgres;
mod reader;
#[cfg(feature = "redis")]
pub mod redis;
#[cfg(feature = "network")]
mod refusal;
#[cfg(feature = "s3")]
pub mod s3;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod seen;
#[cfg(feature = "network")]
mod service;
mod shown;
#[cfg(feature = "sqlite")]
pub mod sqlite;
pub mod sweep;
#[cfg(feature = "network")]
pub mod tls;

pub use baton_store::StaleEpoch;
pub use client_url::client_url;
pub use hosts::server_hosts;
pub use open::{OpenError, open, open_to_read};
#[cfg(feature = "network")]
pub use refusal::Refusal;
pub use shown::{shown, without_secrets};
