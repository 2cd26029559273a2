//! The term history: one key a term, written in the transaction that begins or ends it.

use baton_core::protocol::TermRecord;
use baton_store::StoreError;

use super::context::CallContext;
use super::record::{self, LeaseRow, Record};
use super::schema::Keys;
use super::wire::{Op, Range};

/// How many terms are kept.
const KEPT: u64 = 1_000;

/// A term begins: the last one is closed, and the oldest goes.
pub(super) fn begun(keys: &Keys, row: &LeaseRow, last: Option<TermRecord>) -> Vec<Op> {
    let mut writes = vec![closed(keys, row)];
    writes.extend(last.map(|term| Op::put(&keys.term(row.number - 1), term.write())));
    if row.number > KEPT {
        writes.push(Op::delete_range(&keys.terms, &keys.term(row.number - KEPT + 1)));
    }
    writes
}

/// The record's own term, as it stands.
pub(super) fn closed(keys: &Keys, row: &LeaseRow) -> Op {
    Op::put(&keys.term(row.number), row.term.write())
}

impl CallContext<'_> {
    /// The last terms, the newest first.
    pub(super) async fn history(&self, limit: usize) -> Result<Vec<TermRecord>, StoreError> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let range = Range::last_under(&self.keys().terms, limit);
        let found = self.engine.connection.range(&range).await?;
        let what = || format!("a term of namespace {}", self.namespace);
        found.iter().map(|found| Ok(record::read(found, what)?.record)).collect()
    }
}
