//! The rules of the node registry.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, NodeId};
use baton_core::protocol::{Member, NodeProfile, NodeRecord, Outcome, Registration};
use baton_core::time::Moment;
use rusqlite::Row;

use super::columns::{Bits, Json, Text};
use super::context::CallContext;
use crate::driver::DriverError;

/// The silence of a node that was last heard of before the machine was booted: unknown, and
/// longer than any node waits.
const BEFORE_THE_BOOT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

const WRITE: &str = "INSERT INTO baton_nodes (namespace, node_id, boot, beat, eligible, draining, \
    load, seen, profile, machine, beat_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) \
    ON CONFLICT (namespace, node_id) DO UPDATE SET boot = ?3, beat = ?4, eligible = ?5, \
    draining = ?6, load = ?7, seen = ?8, profile = ?9, machine = ?10, beat_at = ?11";

impl CallContext<'_> {
    /// Writes the node's record, unless another process goes by its id.
    pub(super) fn register(
        &self,
        node: &NodeRecord,
        replaces: Option<BootId>,
    ) -> Result<Registration, DriverError> {
        if let Some((boot, beat, machine)) = self.known_node(&node.id)? {
            let free =
                || boot == node.boot || Some(boot) == replaces || self.is_dead(boot, &machine);
            if !free() {
                return Ok(Registration::TakenBy { boot, beat });
            }
        }
        let values = rusqlite::params![
            self.namespace.as_str(),
            node.id.as_str(),
            Text(node.boot),
            Bits(node.beat),
            node.eligible,
            node.draining,
            node.load,
            Bits(node.seen.0),
            Json(&*node.profile),
            &*self.machine.boot,
            Bits(self.at.now.as_micros()),
        ];
        self.run(WRITE, values)?;
        Ok(Registration::Registered)
    }

    /// The record of this id: the process, its beat count, and the boot of the machine.
    fn known_node(&self, node: &NodeId) -> Result<Option<(BootId, u64, String)>, DriverError> {
        let sql =
            "SELECT boot, beat, machine FROM baton_nodes WHERE namespace = ?1 AND node_id = ?2";
        let values = (self.namespace.as_str(), node.as_str());
        self.one(sql, values, format_args!("the record of node {node}"), |row| {
            Ok((row.get::<_, Text<BootId>>(0)?.0, row.get::<_, Bits>(1)?.0, row.get(2)?))
        })
    }

    /// Is the process that goes by this id known to be gone?
    pub(super) fn is_dead_node(&self, node: &NodeId) -> Result<bool, DriverError> {
        let known = self.known_node(node)?;
        Ok(known.is_some_and(|(boot, _, machine)| self.is_dead(boot, &machine)))
    }

    /// Takes a node's record out, if it is still this boot's.
    pub(super) fn leave(&self, node: &NodeId, boot: BootId) -> Result<Outcome, DriverError> {
        let sql = "DELETE FROM baton_nodes WHERE namespace = ?1 AND node_id = ?2 AND boot = ?3";
        let removed = self.run(sql, (self.namespace.as_str(), node.as_str(), Text(boot)))?;
        Ok(if removed == 1 { Outcome::Applied } else { Outcome::Conflict })
    }

    /// Every node record, sorted by id, with its age.
    pub(super) fn members(&self) -> Result<Vec<Member>, DriverError> {
        let sql = "SELECT node_id, boot, beat, eligible, draining, load, seen, profile, machine, \
                   beat_at FROM baton_nodes WHERE namespace = ?1 ORDER BY node_id";
        self.all(sql, [self.namespace.as_str()], "a node record", |row| self.member(row))
    }

    fn member(&self, row: &Row<'_>) -> rusqlite::Result<Member> {
        let bits = |at: &str| row.get::<_, Bits>(at).map(|bits| bits.0);
        let record = NodeRecord {
            id: row.get::<_, Text<NodeId>>("node_id")?.0,
            boot: row.get::<_, Text<BootId>>("boot")?.0,
            beat: bits("beat")?,
            eligible: row.get("eligible")?,
            draining: row.get("draining")?,
            load: row.get("load")?,
            seen: Epoch(bits("seen")?),
            profile: Arc::new(row.get::<_, Json<NodeProfile>>("profile")?.0),
        };
        let silent_for = match row.get::<_, String>("machine")? == *self.machine.boot {
            true => self.at.now.since(Moment::from_micros(bits("beat_at")?)),
            false => BEFORE_THE_BOOT,
        };
        Ok(Member { record, silent_for: Some(silent_for) })
    }
}
