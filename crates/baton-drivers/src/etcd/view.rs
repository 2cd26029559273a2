//! The published view: fenced by its epoch, ordered by its number within it.

use std::sync::Arc;

use baton_core::ids::Epoch;
use baton_core::protocol::{Outcome, View};
use baton_store::StoreError;

use super::context::{CallContext, Plan};
use super::namespace_state::NamespaceState;
use super::record::Record;
use super::wire::{Compare, Op};

impl CallContext<'_> {
    /// Publishes a view.
    pub(super) async fn publish_view(
        &self,
        fence: Epoch,
        view: Arc<View>,
    ) -> Result<Outcome, StoreError> {
        let keys = self.keys();
        self.carry_out(|state| {
            if is_refused(state, fence, &view) {
                return Plan::Answer(Outcome::Conflict);
            }
            let known = state.view.as_ref().map_or(0, |stored| stored.revision);
            let mut compare = vec![Compare::written_at(&keys.view, known)];
            compare.extend(state.same_epochs(keys));
            let mut writes = vec![Op::put(&keys.view, view.write())];
            writes.extend(state.raised(keys, fence));
            Plan::Write(compare, writes, Outcome::Applied)
        })
        .await
    }
}

fn is_refused(state: &NamespaceState, fence: Epoch, view: &View) -> bool {
    let known = state.view.as_ref().map(|stored| stored.record.version);
    let older =
        known.is_some_and(|known| known.epoch == view.version.epoch && known >= view.version);
    older || fence < state.highest_epoch()
}
