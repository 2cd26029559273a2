//! The published view: fenced by its epoch, ordered by its number within it.

use std::sync::Arc;

use baton_core::ids::{Epoch, Namespace};
use baton_core::protocol::{Outcome, View};
use baton_store::StoreError;

use super::documents::raised;
use super::engine::EtcdEngine;
use super::record::Record;
use super::sight::{Sight, unchanged};
use super::step::{Committed, Step, TRIES, crowded};
use super::wire::{Compare, Op};

/// Publishes a view.
pub(super) async fn publish(
    engine: &EtcdEngine,
    namespace: &Namespace,
    fence: Epoch,
    view: Arc<View>,
) -> Result<Outcome, StoreError> {
    let step = Step::new(engine, namespace, None, None);
    let (mut sight, mut fresh) = match step.remembered() {
        Some(sight) => (sight, false),
        None => (step.look().await?, true),
    };
    for _ in 0..TRIES {
        if is_refused(&sight, fence, &view) {
            if fresh {
                return Ok(Outcome::Conflict);
            }
            (sight, fresh) = (step.look().await?, true);
            continue;
        }
        let keys = step.keys();
        let known = sight.view.as_ref().map_or(0, |seen| seen.revision);
        let mut compare = vec![Compare::written_at(&keys.view(), known)];
        compare.extend(unchanged(&keys.lease(), &sight.lease));
        compare.extend(unchanged(&keys.fence(), &sight.fence));
        let mut writes = vec![Op::put(&keys.view(), view.write())];
        writes.extend(raised(keys, &sight, fence));
        match step.commit(compare, writes).await? {
            Committed::Done(_) => return Ok(Outcome::Applied),
            Committed::Stale(now) => (sight, fresh) = (*now, true),
        }
    }
    Err(crowded())
}

fn is_refused(sight: &Sight, fence: Epoch, view: &View) -> bool {
    let known = sight.view.as_ref().map(|seen| seen.record.version);
    let older =
        known.is_some_and(|known| known.epoch == view.version.epoch && known >= view.version);
    older || fence < sight.highest_epoch()
}
