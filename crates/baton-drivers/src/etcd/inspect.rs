//! Looking without taking part.

use baton_core::ids::Namespace;
use baton_store::{Inspection, StoreError};

use super::engine::EtcdEngine;
use super::step::Step;

/// The lease and the view. People want to know what is left, so etcd is asked.
pub(super) async fn inspect(
    engine: &EtcdEngine,
    namespace: &Namespace,
) -> Result<Inspection, StoreError> {
    let step = Step::new(engine, namespace, None, None);
    let sight = step.look().await?;
    let mut life = engine.memories.life(namespace);
    if sight.is_live() {
        // As on the first look: what was counted is set aside.
        life.alive = None;
        engine.memories.keep_life(namespace, life);
    }
    let life = step.life(&sight).await;
    let view = sight.view.as_ref().map(|seen| seen.record.clone());
    let lease = life.snapshot(&sight, step.now());
    Ok(Inspection { lease, lineage: super::LINEAGE, view })
}
