//! Numbers nobody can foresee, for requests and trials that come from outside of a cluster.

use baton_core::ids::BootId;

use crate::error::CommandError;

/// A boot id that no process of a cluster has.
pub fn boot() -> Result<BootId, CommandError> {
    let mut drawn = [0; 16];
    getrandom::fill(&mut drawn).map_err(|problem| CommandError::System {
        what: "the system gives no random numbers",
        problem: std::io::Error::other(problem.to_string()),
    })?;
    Ok(BootId(u128::from_le_bytes(drawn)))
}
