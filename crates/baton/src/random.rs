//! Random numbers: boot ids, keys, generated names, seeds for jitter.

use baton_core::ids::{BootId, NodeId};
use baton_store::clock::{Clock, SystemClock};

use crate::error::BuildError;

fn bytes<const N: usize>() -> Result<[u8; N], BuildError> {
    let mut drawn = [0; N];
    getrandom::fill(&mut drawn).map_err(|error| BuildError::Random(error.to_string()))?;
    Ok(drawn)
}

/// A boot id that no other process has: for a process, or for a request from outside of a cluster.
pub fn fresh_boot() -> Result<BootId, BuildError> {
    Ok(BootId(number()?))
}

/// A number of 128 bits, for a key.
pub fn number() -> Result<u128, BuildError> {
    Ok(u128::from_le_bytes(bytes()?))
}

pub fn seed() -> Result<u64, BuildError> {
    Ok(u64::from_le_bytes(bytes()?))
}

pub fn node_id() -> Result<NodeId, BuildError> {
    Ok(NodeId::generated(SystemClock.wall_ms(), seed()?))
}
