//! Old records go: nodes that were silent for long, and terms beyond those that are kept.

use baton_core::ids::{Epoch, Namespace};
use baton_store::{Prune, PruneOutcome, StoreError};

use super::engine::Redis;
use super::script::Arguments;

impl Redis {
    pub(super) async fn prune(
        &self,
        namespace: &Namespace,
        fence: Epoch,
        prune: &Prune,
    ) -> Result<PruneOutcome, StoreError> {
        let mut own = Arguments::default();
        own.number(fence.0);
        own.number(u64::try_from(prune.dead_for.as_micros()).unwrap_or(u64::MAX));
        own.number(u64::try_from(prune.keep_terms.max(1)).unwrap_or(u64::MAX));
        own.number(u64::from(prune.limit));
        let mut pieces = self.write(namespace, &self.steps.prune, own).await?;
        let gone = pieces.maybe_text()?.map(|text| text.parse()).transpose();
        match gone.map_err(|_| pieces.strange("how many went"))? {
            Some(records) => Ok(PruneOutcome::Pruned { records }),
            None => Ok(PruneOutcome::Fenced),
        }
    }
}
