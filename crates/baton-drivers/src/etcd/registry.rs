//! The rules of the node registry.

use baton_core::ids::{BootId, NodeId};
use baton_core::protocol::{BeatRequest, Member, NodeRecord, Outcome, Registration};
use baton_store::StoreError;

use super::context::{CallContext, Plan};
use super::namespace_state::unchanged;
use super::record::{self, Stored};
use super::wire::{Op, Range};

/// May this beat write its node's record?
pub(super) fn admitted(known: Option<&Stored<NodeRecord>>, beat: &BeatRequest) -> Registration {
    match known.map(|stored| &stored.record) {
        Some(known) if known.boot != beat.node.boot && Some(known.boot) != beat.replaces => {
            Registration::TakenBy { boot: known.boot, beat: known.beat }
        }
        _ => Registration::Registered,
    }
}

impl CallContext<'_> {
    /// Takes a node's record out, if it is this boot's.
    pub(super) async fn leave(&self, node: &NodeId, boot: BootId) -> Result<Outcome, StoreError> {
        let key = self.keys().node(node);
        let outcome = self.carry_out(|state| match &state.node {
            Some(stored) if stored.record.boot == boot => {
                Plan::Write(unchanged(&key, &state.node), vec![Op::delete(&key)], Outcome::Applied)
            }
            _ => Plan::Answer(Outcome::Conflict),
        });
        let outcome = outcome.await?;
        self.engine.cache.with(self.namespace, |cached| cached.nodes.remove(node));
        Ok(outcome)
    }

    /// Every node record. etcd has no clock to ask, so no ages.
    pub(super) async fn members(&self) -> Result<Vec<Member>, StoreError> {
        let records = self.node_records().await?;
        Ok(records.into_iter().map(|it| Member { record: it.record, silent_for: None }).collect())
    }

    /// Every node record, as it was read.
    pub(super) async fn node_records(&self) -> Result<Vec<Stored<NodeRecord>>, StoreError> {
        let found = self.engine.connection.range(&Range::under(&self.keys().nodes)).await?;
        let what = || format!("a node of namespace {}", self.namespace);
        found.iter().map(|found| record::read(found, what)).collect()
    }
}
