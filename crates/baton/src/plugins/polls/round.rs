//! What the leader does with the table: enqueues what is due, takes back what is stuck, and
//! hands out what waits.
//!
//! How long a poll has been where it is, the leader counts itself, from when it first saw it
//! there: no two machines' clocks are compared. Another leader counts anew.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use baton_core::ids::{BootId, NodeId};
use baton_core::time::{Moment, whole_ms};

use super::poll::Poll;
use super::state::PollState;
use super::table::PollTable;
use super::table::{Assignment, AttemptEnd, PollEntry};

#[derive(Clone, Debug)]
pub(super) struct Periodic {
    pub every: Duration,
    pub poll: Poll,
}

impl Periodic {
    fn slot(&self, wall_ms: u64) -> u64 {
        wall_ms / whole_ms(self.every).max(1)
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct PresentNodes {
    /// Nodes that beat and stay.
    pub live: BTreeMap<NodeId, BootId>,
    /// Processes that are not dead, the live ones among them.
    pub undead: BTreeSet<BootId>,
}

/// Since when a poll has been where it is.
#[derive(Clone, Debug, Default)]
pub(super) struct StateWatch(BTreeMap<u64, (PollState, u32, Option<BootId>, Moment)>);

impl StateWatch {
    fn look(&mut self, now: Moment, table: &PollTable) {
        let before = std::mem::take(&mut self.0);
        for entry in table.active() {
            let boot = entry.assigned.as_ref().map(|to| to.boot);
            let is = (entry.state, entry.attempt, boot);
            let known = before.get(&entry.id).filter(|it| (it.0, it.1, it.2) == is);
            let since = known.map_or(now, |it| it.3);
            self.0.insert(entry.id, (is.0, is.1, is.2, since));
        }
    }
}

/// One round. A node that was handed a poll has `patience` to begin, and after an attempt's own
/// time is over to say so. The table is changed in place; the caller that writes it finds out
/// whether it was.
pub(super) fn hold_round(
    table: &mut PollTable,
    plan: &[Periodic],
    present: &PresentNodes,
    patience: Duration,
    watch: &mut StateWatch,
    (now, wall_ms): (Moment, u64),
) {
    watch.look(now, table);
    for periodic in plan {
        let slot = periodic.slot(wall_ms);
        // A full table takes it in the next round, as long as the slot lasts.
        let _ = table.enqueue_slot(&periodic.poll, slot, wall_ms);
    }
    take_back(table, present, patience, watch, (now, wall_ms));
    table.runners.retain(|_, runner| present.undead.contains(&runner.boot));
    hand_out(table, present);
}

fn take_back(
    table: &mut PollTable,
    present: &PresentNodes,
    patience: Duration,
    watch: &StateWatch,
    (now, wall_ms): (Moment, u64),
) {
    let assigned: Vec<PollEntry> =
        table.active().filter(|entry| entry.assigned.is_some()).cloned().collect();
    for entry in assigned {
        let Some(to) = &entry.assigned else { continue };
        let waited = watch.0.get(&entry.id).map_or(Duration::ZERO, |it| now.since(it.3));
        let attempt = (to.boot, entry.attempt);
        match entry.state {
            PollState::Dispatching => {
                let is_live = present.live.get(&to.node) == Some(&to.boot);
                if !is_live || waited > patience {
                    table.withdraw(entry.id).expect("it was dispatching a moment ago");
                }
            }
            PollState::Running => {
                let allowed = Duration::from_millis(entry.timeout_ms) + patience;
                let end = match present.undead.contains(&to.boot) {
                    false => AttemptEnd::Failed(format!("node {} is gone", to.node)),
                    true if waited > allowed => AttemptEnd::TimedOut,
                    true => continue,
                };
                let ended = table.attempt_ended(entry.id, attempt, end, wall_ms);
                ended.expect("it was running a moment ago");
            }
            _ => {}
        }
    }
}

fn hand_out(table: &mut PollTable, present: &PresentNodes) {
    let waiting: Vec<PollEntry> =
        table.active().filter(|entry| entry.state == PollState::Pending).cloned().collect();
    for entry in waiting {
        if let Some(to) = choose(table, present, &entry) {
            table.dispatch(entry.id, &to).expect("it was pending a moment ago");
        }
    }
}

/// The node with the least to do that can run it; after a failure another one, if there is one.
fn choose(table: &PollTable, present: &PresentNodes, entry: &PollEntry) -> Option<Assignment> {
    let last = entry.assigned.as_ref().map(|to| &to.node);
    let free = present.live.iter().filter_map(|(node, boot)| {
        let runner = table.runners.get(node).filter(|runner| runner.boot == *boot)?;
        let busy = busy(table, *boot);
        let can = runner.names.contains(&entry.name) && busy < runner.places;
        can.then_some(((Some(node) == last, busy, runner.handed, node), *boot))
    });
    let ((.., node), boot) = free.min_by(|a, b| a.0.cmp(&b.0))?;
    Some(Assignment { node: node.clone(), boot })
}

fn busy(table: &PollTable, boot: BootId) -> usize {
    let has = |entry: &&PollEntry| {
        let held = matches!(entry.state, PollState::Dispatching | PollState::Running);
        held && entry.assigned.as_ref().is_some_and(|to| to.boot == boot)
    };
    table.active().filter(has).count()
}
