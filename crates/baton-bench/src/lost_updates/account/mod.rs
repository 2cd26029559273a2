//! The shared number, in the user's own part of the store: read and written beside baton.
//!
//! ```text
//!   raise(epoch) ─► read ─► … ─► write_fenced(n + 1, epoch) ── behind? refused
//!                   read ─► … ─► write(n + 1) ── always done
//! ```

mod postgres;
mod redis;

use baton::Epoch;

use crate::error::BenchError;
use crate::fixture::StoreKind;

/// The number, by the store that keeps it.
pub enum Account {
    Postgres(postgres::Table),
    Redis(redis::Key),
}

impl Account {
    /// Is there one for this kind of store?
    pub fn is_for(kind: StoreKind) -> bool {
        matches!(kind, StoreKind::Postgres | StoreKind::Redis)
    }

    /// Opens the number of this name.
    pub async fn open(kind: StoreKind, url: &str, name: &str) -> Result<Self, BenchError> {
        match kind {
            StoreKind::Redis => Ok(Self::Redis(redis::Key::open(url, name).await?)),
            _ => Ok(Self::Postgres(postgres::Table::open(url, name).await?)),
        }
    }

    /// Sets it to 0.
    pub async fn make(&mut self) -> Result<(), BenchError> {
        match self {
            Self::Postgres(table) => table.make().await,
            Self::Redis(key) => key.write(0).await,
        }
    }

    /// What it is.
    pub async fn read(&mut self) -> Result<u64, BenchError> {
        match self {
            Self::Postgres(table) => table.read().await,
            Self::Redis(key) => key.read().await,
        }
    }

    /// Writes it, whichever process has written meanwhile.
    pub async fn write(&mut self, value: u64) -> Result<(), BenchError> {
        match self {
            Self::Postgres(table) => table.write(value).await,
            Self::Redis(key) => key.write(value).await,
        }
    }

    /// Raises the fence without a write. `false`: a later epoch was here.
    pub async fn raise(&mut self, epoch: Epoch) -> Result<bool, BenchError> {
        match self {
            Self::Postgres(table) => table.fenced(None, epoch).await,
            Self::Redis(key) => key.fenced(None, epoch).await,
        }
    }

    /// Writes it unless a later epoch was here; then `false`.
    pub async fn write_fenced(&mut self, value: u64, epoch: Epoch) -> Result<bool, BenchError> {
        match self {
            Self::Postgres(table) => table.fenced(Some(value), epoch).await,
            Self::Redis(key) => key.fenced(Some(value), epoch).await,
        }
    }
}
