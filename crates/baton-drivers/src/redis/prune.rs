//! Old records are removed: nodes that were silent for long, and terms beyond those that are kept.

use baton_core::ids::{Epoch, Lineage};
use baton_store::{Prune, PruneOutcome, StoreError};

use super::context::CallContext;
use super::lease::micros;
use super::script::Arguments;

impl CallContext<'_> {
    pub(super) async fn prune(
        &self,
        fence: Epoch,
        prune: &Prune,
    ) -> Result<PruneOutcome, StoreError> {
        let arguments = Arguments::default()
            .text(fence)
            .text(micros(prune.dead_for))
            .text(prune.keep_terms.max(1))
            .text(prune.limit);
        let (lineage, records): (u64, Option<u32>) =
            self.run(&self.engine.scripts.prune, arguments).await?;
        self.note(Lineage(lineage), 0);
        Ok(records.map_or(PruneOutcome::Fenced, |records| PruneOutcome::Pruned { records }))
    }
}
