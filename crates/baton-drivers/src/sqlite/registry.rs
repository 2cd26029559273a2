//! The rules of the node registry.

use baton_core::ids::{BootId, NodeId};
use baton_core::protocol::{Member, NodeRecord, Outcome, Registration};

use super::context::CallContext;
use super::records::{Bits, json};
use crate::driver::{DriverError, boot_id};

/// The silence, in microseconds, of a node that was last heard of before the machine was booted:
/// unknown, and longer than any node waits.
const BEFORE_THE_BOOT_US: i64 = 365 * 24 * 60 * 60 * 1_000_000;

const WRITE: &str = "INSERT INTO baton_nodes (namespace, node_id, boot, beat, eligible, draining, \
    load, seen, profile, machine, beat_at, partitions, partitions_boot) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) \
    ON CONFLICT (namespace, node_id) DO UPDATE SET boot = ?3, beat = ?4, eligible = ?5, \
    draining = ?6, load = ?7, seen = ?8, profile = ?9, machine = ?10, beat_at = ?11, \
    partitions = ?12, partitions_boot = ?13";

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
            node.boot.to_string(),
            Bits(node.beat),
            node.eligible,
            node.draining,
            node.load,
            Bits(node.seen.0),
            json(&*node.profile),
            &*self.machine.boot,
            Bits(self.at.now.as_micros()),
            node.partitions.as_deref().map(json),
            node.partitions.as_ref().map(|_| node.boot.to_string()),
        ];
        self.run(WRITE, values)?;
        Ok(Registration::Registered)
    }

    /// The record of this id: the process, its beat count, and the boot of the machine.
    fn known_node(&self, node: &NodeId) -> Result<Option<(BootId, u64, String)>, DriverError> {
        let sql =
            "SELECT boot, beat, machine FROM baton_nodes WHERE namespace = ?1 AND node_id = ?2";
        let values = (self.namespace.as_str(), node.as_str());
        self.one(sql, values, &format!("the record of node {node}"), |it| {
            Ok((it.id("boot", boot_id)?, it.number("beat")?, it.text("machine")?.to_owned()))
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
        let removed = self.run(sql, (self.namespace.as_str(), node.as_str(), boot.to_string()))?;
        Ok(if removed == 1 { Outcome::Applied } else { Outcome::Conflict })
    }

    /// Every node record, sorted by id, with its age.
    pub(super) fn members(&self) -> Result<Vec<Member>, DriverError> {
        let sql = "SELECT node_id, boot, beat, eligible, draining, load, seen, profile, \
                   CASE WHEN partitions_boot = boot THEN partitions END AS partitions, \
                   CASE WHEN machine = ?2 THEN max(?3 - beat_at, 0) ELSE ?4 END AS silent_us \
                   FROM baton_nodes WHERE namespace = ?1 ORDER BY node_id";
        let (machine, now) = (&*self.machine.boot, Bits(self.at.now.as_micros()));
        let values = (self.namespace.as_str(), machine, now, BEFORE_THE_BOOT_US);
        self.all(sql, values, "a node record", |record| record.member())
    }
}
