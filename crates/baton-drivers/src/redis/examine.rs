//! What `baton doctor` sees of the server.

use baton_store::{Finding, StoreError};

use super::engine::Redis;

/// Looks at the server.
pub(super) async fn examine(store: &Redis) -> Result<Vec<Finding>, StoreError> {
    let link = store.line.link().await?;
    Ok(vec![Finding::ok("version", link.version.clone())])
}
