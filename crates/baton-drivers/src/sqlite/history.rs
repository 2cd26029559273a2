//! The rules of the term history: written in the same transaction that begins or ends a term.

use baton_core::ids::Epoch;
use baton_core::protocol::{NodeRecord, TermEnd, TermRecord};
use baton_store::lease_rule::{self, LastTerm, UnreleasedEnd};

use super::context::CallContext;
use super::records::{Bits, json};
use crate::driver::DriverError;

/// How many terms are kept of each namespace.
const KEPT: i64 = 1_000;

struct TermRow {
    seq: i64,
    epoch: Epoch,
    ended_ms: Option<u64>,
}

impl CallContext<'_> {
    /// A term begins; the last one, if it is still open, ended as given.
    pub(super) fn begin_term(
        &self,
        epoch: Epoch,
        node: &NodeRecord,
        unreleased: Option<UnreleasedEnd>,
    ) -> Result<(), DriverError> {
        let last = self.last_term()?;
        let state = last.as_ref().map_or(LastTerm::None, |last| match last.ended_ms {
            Some(at) => LastTerm::Ended(at),
            None => LastTerm::Open,
        });
        let change = lease_rule::begin_term(self.at.wall_ms, epoch, node, state, unreleased);
        if let (Some(last), Some((at, end))) = (&last, change.closes) {
            self.close_term(last, at, end)?;
        }
        let term = change.begins;
        let sql = "INSERT INTO baton_terms (namespace, epoch, node_id, boot, began_ms, gap_ms, \
                   gap_at_most_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let values = rusqlite::params![
            self.namespace.as_str(),
            Bits(term.epoch.0),
            term.node.as_str(),
            term.boot.to_string(),
            Bits(term.began_ms),
            term.gap_ms.map(Bits),
            term.gap_at_most_ms.map(Bits),
        ];
        self.run(sql, values)?;
        let forget = "DELETE FROM baton_terms WHERE namespace = ?1 AND seq <= (SELECT seq FROM \
                      baton_terms WHERE namespace = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)";
        self.run(forget, (self.namespace.as_str(), KEPT)).map(drop)
    }

    /// The term of this epoch ended then, if it is the last one.
    pub(super) fn end_term(
        &self,
        epoch: Epoch,
        ended_ms: u64,
        end: TermEnd,
    ) -> Result<(), DriverError> {
        match self.last_term()? {
            Some(last) if last.epoch == epoch => self.close_term(&last, ended_ms, end),
            _ => Ok(()),
        }
    }

    /// The last terms, the newest first.
    pub(super) fn newest_terms(&self, limit: usize) -> Result<Vec<TermRecord>, DriverError> {
        let sql = "SELECT epoch, node_id, boot, began_ms, ended_ms, ended_by, gap_ms, \
                   gap_at_most_ms FROM baton_terms WHERE namespace = ?1 ORDER BY seq DESC LIMIT ?2";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.all(sql, (self.namespace.as_str(), limit), "the term history", |record| record.term())
    }

    fn last_term(&self) -> Result<Option<TermRow>, DriverError> {
        let sql = "SELECT seq, epoch, ended_ms FROM baton_terms WHERE namespace = ?1 \
                   ORDER BY seq DESC LIMIT 1";
        self.one(sql, [self.namespace.as_str()], "the term history", |it| {
            let (epoch, ended_ms) = (Epoch(it.number("epoch")?), it.maybe_number("ended_ms")?);
            Ok(TermRow { seq: it.number("seq")?, epoch, ended_ms })
        })
    }

    fn close_term(&self, term: &TermRow, at_ms: u64, end: TermEnd) -> Result<(), DriverError> {
        let sql = "UPDATE baton_terms SET ended_ms = ?2, ended_by = ?3 WHERE seq = ?1";
        self.run(sql, (term.seq, Bits(at_ms), json(&end))).map(drop)
    }
}
