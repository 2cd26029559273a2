//! The rules of the term history: written in the same transaction that begins or ends a term.

use baton_core::ids::Epoch;
use baton_core::protocol::{NodeRecord, TermEnd, TermRecord};
use baton_store::lease_rule::{self, LastTerm, Unreleased};
use rusqlite::{OptionalExtension, Row};

use super::columns::{Bits, Hex, Json, Name};
use super::context::CallContext;
use crate::driver::DriverError;

/// How many terms are kept of each namespace.
const KEPT: i64 = 1_000;

/// A term begins; the last one, if it is still open, ended as given.
pub(super) fn begin(
    context: &CallContext<'_>,
    epoch: Epoch,
    node: &NodeRecord,
    unreleased: Option<Unreleased>,
) -> Result<(), DriverError> {
    let last = last(context)?;
    let state = last.as_ref().map_or(LastTerm::None, |last| match last.ended_ms {
        Some(at) => LastTerm::Ended(at),
        None => LastTerm::Open,
    });
    let change = lease_rule::begin_term(context.at.wall_ms, epoch, node, state, unreleased);
    if let (Some(last), Some((at, end))) = (&last, change.closes) {
        close(context, last.seq, at, end)?;
    }
    let term = change.begins;
    let sql = "INSERT INTO baton_terms (namespace, epoch, node_id, boot, began_ms, gap_ms, \
               gap_at_most_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let (namespace, began_ms) = (context.namespace.as_str(), Bits(term.began_ms));
    let (gap_ms, gap_at_most_ms) = (term.gap_ms.map(Bits), term.gap_at_most_ms.map(Bits));
    let (id, boot) = (term.node.as_str(), Hex(term.boot));
    let values = (namespace, Bits(term.epoch.0), id, boot, began_ms, gap_ms, gap_at_most_ms);
    context.conn.prepare_cached(sql)?.execute(values)?;
    let forget = "DELETE FROM baton_terms WHERE namespace = ?1 AND seq <= (SELECT seq FROM \
                  baton_terms WHERE namespace = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)";
    context.conn.prepare_cached(forget)?.execute((namespace, KEPT))?;
    Ok(())
}

/// The term of this epoch ended then, if it is the last one.
pub(super) fn end(
    context: &CallContext<'_>,
    epoch: Epoch,
    ended_ms: u64,
    end: TermEnd,
) -> Result<(), DriverError> {
    match last(context)? {
        Some(last) if last.epoch == epoch => close(context, last.seq, ended_ms, end),
        _ => Ok(()),
    }
}

/// The last terms, the newest first.
pub(super) fn newest(
    context: &CallContext<'_>,
    limit: usize,
) -> Result<Vec<TermRecord>, DriverError> {
    let sql = "SELECT epoch, node_id, boot, began_ms, ended_ms, ended_by, gap_ms, gap_at_most_ms \
               FROM baton_terms WHERE namespace = ?1 ORDER BY seq DESC LIMIT ?2";
    let mut statement = context.conn.prepare_cached(sql)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement.query_map((context.namespace.as_str(), limit), term)?;
    rows.collect::<rusqlite::Result<_>>().map_err(context.spoilt("the term history"))
}

struct Last {
    seq: i64,
    epoch: Epoch,
    ended_ms: Option<u64>,
}

fn last(context: &CallContext<'_>) -> Result<Option<Last>, DriverError> {
    let sql = "SELECT seq, epoch, ended_ms FROM baton_terms WHERE namespace = ?1 \
               ORDER BY seq DESC LIMIT 1";
    let mut statement = context.conn.prepare_cached(sql)?;
    let found = statement.query_row([context.namespace.as_str()], |row| {
        let epoch = Epoch(row.get::<_, Bits>(1)?.0);
        let ended_ms = row.get::<_, Option<Bits>>(2)?.map(|bits| bits.0);
        Ok(Last { seq: row.get(0)?, epoch, ended_ms })
    });
    found.optional().map_err(context.spoilt("the term history"))
}

fn close(context: &CallContext<'_>, seq: i64, at_ms: u64, end: TermEnd) -> Result<(), DriverError> {
    let sql = "UPDATE baton_terms SET ended_ms = ?2, ended_by = ?3 WHERE seq = ?1";
    context.conn.prepare_cached(sql)?.execute((seq, Bits(at_ms), Json(end)))?;
    Ok(())
}

fn term(row: &Row<'_>) -> rusqlite::Result<TermRecord> {
    let ended_ms = row.get::<_, Option<Bits>>("ended_ms")?;
    let ended_by = row.get::<_, Option<Json<TermEnd>>>("ended_by")?;
    Ok(TermRecord {
        epoch: Epoch(row.get::<_, Bits>("epoch")?.0),
        node: row.get::<_, Name>("node_id")?.0,
        boot: row.get::<_, Hex>("boot")?.0,
        began_ms: row.get::<_, Bits>("began_ms")?.0,
        ended: ended_ms.zip(ended_by).map(|(at, end)| (at.0, end.0)),
        gap_ms: row.get::<_, Option<Bits>>("gap_ms")?.map(|bits| bits.0),
        gap_at_most_ms: row.get::<_, Option<Bits>>("gap_at_most_ms")?.map(|bits| bits.0),
    })
}
