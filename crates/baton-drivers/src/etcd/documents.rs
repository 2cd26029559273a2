//! The rules of versioned documents.

use baton_core::ids::Epoch;
use baton_store::{Document, Precondition, StoreError, WriteOutcome};

use super::context::{CallContext, Plan};
use super::record::{self, Record};
use super::wire::{Compare, Op, Range};

impl CallContext<'_> {
    /// Reads a document.
    pub(super) async fn read_document(&self, name: &str) -> Result<Option<Document>, StoreError> {
        let found = self.engine.connection.range(&Range::key(&self.keys().document(name))).await?;
        let what = || format!("document {name:?} of namespace {}", self.namespace);
        found.first().map(|found| Ok(record::read(found, what)?.record)).transpose()
    }

    /// Writes the document of this call, fenced if an epoch is given.
    pub(super) async fn write_document(
        &self,
        body: &[u8],
        precondition: Precondition,
        fence: Option<Epoch>,
    ) -> Result<WriteOutcome, StoreError> {
        let keys = self.keys();
        let key = keys.document(self.document());
        self.carry_out(|state| {
            if fence.is_some_and(|fence| fence < state.highest_epoch()) {
                return Plan::Answer(WriteOutcome::Fenced);
            }
            let known = state.document.as_ref();
            let present = known.map_or(0, |stored| stored.record.version);
            let holds = match precondition {
                Precondition::Any => true,
                Precondition::Absent => present == 0,
                Precondition::Version(version) => present == version && present != 0,
            };
            if !holds {
                return Plan::Answer(WriteOutcome::Conflict(present));
            }
            let next = Document { version: present.saturating_add(1), body: body.to_vec() };
            let revision = known.map_or(0, |stored| stored.revision);
            let mut compare = vec![Compare::written_at(&key, revision)];
            let mut writes = vec![Op::put(&key, next.write())];
            if let Some(fence) = fence {
                compare.extend(state.same_epochs(keys));
                writes.extend(state.raised(keys, fence));
            }
            Plan::Write(compare, writes, WriteOutcome::Written(next.version))
        })
        .await
    }
}
