//! The rules of the node registry.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, NodeId};
use baton_core::protocol::{Member, NodeProfile, NodeRecord, Outcome, Registration};
use baton_core::time::Moment;
use rusqlite::{OptionalExtension, Row};

use super::columns::{Bits, Hex, Json, Name};
use super::context::CallContext;
use crate::driver::DriverError;

/// The silence of a node that was last heard of before the machine was booted: unknown, and
/// longer than any node waits.
const BEFORE_THE_BOOT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

const WRITE: &str = "INSERT INTO baton_nodes (namespace, node_id, boot, beat, eligible, draining, \
    load, seen, profile, machine, beat_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) \
    ON CONFLICT (namespace, node_id) DO UPDATE SET boot = ?3, beat = ?4, eligible = ?5, \
    draining = ?6, load = ?7, seen = ?8, profile = ?9, machine = ?10, beat_at = ?11";

/// Writes the node's record, unless another process goes by its id.
pub(super) fn register(
    context: &CallContext<'_>,
    node: &NodeRecord,
    replaces: Option<BootId>,
) -> Result<Registration, DriverError> {
    if let Some((boot, beat, machine)) = known(context, &node.id)? {
        let free =
            || boot == node.boot || Some(boot) == replaces || context.is_dead(boot, &machine);
        if !free() {
            return Ok(Registration::TakenBy { boot, beat });
        }
    }
    let values = rusqlite::params![
        context.namespace.as_str(),
        node.id.as_str(),
        Hex(node.boot),
        Bits(node.beat),
        node.eligible,
        node.draining,
        node.load,
        Bits(node.seen.0),
        Json(&*node.profile),
        &*context.machine.boot,
        Bits(context.at.now.as_micros()),
    ];
    context.conn.prepare_cached(WRITE)?.execute(values)?;
    Ok(Registration::Registered)
}

/// The record of this id: the process, its beat count, and the boot of the machine.
fn known(
    context: &CallContext<'_>,
    node: &NodeId,
) -> Result<Option<(BootId, u64, String)>, DriverError> {
    let sql = "SELECT boot, beat, machine FROM baton_nodes WHERE namespace = ?1 AND node_id = ?2";
    let mut statement = context.conn.prepare_cached(sql)?;
    let found = statement.query_row((context.namespace.as_str(), node.as_str()), |row| {
        Ok((row.get::<_, Hex>(0)?.0, row.get::<_, Bits>(1)?.0, row.get(2)?))
    });
    found.optional().map_err(context.spoilt(format_args!("the record of node {node}")))
}

/// Is the process that goes by this id known to be gone?
pub(super) fn is_dead(context: &CallContext<'_>, node: &NodeId) -> Result<bool, DriverError> {
    let known = known(context, node)?;
    Ok(known.is_some_and(|(boot, _, machine)| context.is_dead(boot, &machine)))
}

/// Takes a node's record out, if it is still this boot's.
pub(super) fn leave(
    context: &CallContext<'_>,
    node: &NodeId,
    boot: BootId,
) -> Result<Outcome, DriverError> {
    let sql = "DELETE FROM baton_nodes WHERE namespace = ?1 AND node_id = ?2 AND boot = ?3";
    let values = (context.namespace.as_str(), node.as_str(), Hex(boot));
    let removed = context.conn.prepare_cached(sql)?.execute(values)?;
    Ok(if removed == 1 { Outcome::Applied } else { Outcome::Conflict })
}

/// Every node record, sorted by id, with its age.
pub(super) fn members(context: &CallContext<'_>) -> Result<Vec<Member>, DriverError> {
    let sql = "SELECT node_id, boot, beat, eligible, draining, load, seen, profile, machine, \
               beat_at FROM baton_nodes WHERE namespace = ?1 ORDER BY node_id";
    let mut statement = context.conn.prepare_cached(sql)?;
    let rows = statement.query_map([context.namespace.as_str()], |row| member(context, row))?;
    rows.collect::<rusqlite::Result<_>>().map_err(context.spoilt("a node record"))
}

fn member(context: &CallContext<'_>, row: &Row<'_>) -> rusqlite::Result<Member> {
    let bits = |at: &str| row.get::<_, Bits>(at).map(|bits| bits.0);
    let record = NodeRecord {
        id: row.get::<_, Name>("node_id")?.0,
        boot: row.get::<_, Hex>("boot")?.0,
        beat: bits("beat")?,
        eligible: row.get("eligible")?,
        draining: row.get("draining")?,
        load: row.get("load")?,
        seen: Epoch(bits("seen")?),
        profile: Arc::new(row.get::<_, Json<NodeProfile>>("profile")?.0),
    };
    let machine: String = row.get("machine")?;
    let beat_at = Moment::from_micros(bits("beat_at")?);
    let here = machine == *context.machine.boot;
    let silent_for = if here { context.at.now.since(beat_at) } else { BEFORE_THE_BOOT };
    Ok(Member { record, silent_for: Some(silent_for) })
}
