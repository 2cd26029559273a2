//! What the leader does with the board: enqueues what is due, takes back what is stuck, and
//! hands out what waits.
//!
//! How long a poll has been where it is, the leader counts itself, from when it first saw it
//! there: no two machines' clocks are compared. Another leader counts anew.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use baton_core::ids::{BootId, NodeId};
use baton_core::time::{Moment, whole_ms};

use super::entry::{Assignment, AttemptEnd, PollEntry};
use super::poll::Poll;
use super::state::PollState;
use super::table::PollTable;

/// A poll and how often it is due.
#[derive(Clone, Debug)]
pub(super) struct Periodic {
    pub every: Duration,
    pub poll: Poll,
}

impl Periodic {
    /// The slot that this moment belongs to.
    fn slot(&self, wall_ms: u64) -> u64 {
        wall_ms / whole_ms(self.every).max(1)
    }
}

/// Who is there.
#[derive(Clone, Debug, Default)]
pub(super) struct Present {
    /// Nodes that beat and stay.
    pub live: BTreeMap<NodeId, BootId>,
    /// Processes that are not dead, the live ones among them.
    pub undead: BTreeSet<BootId>,
}

/// How long things may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// From when a poll is handed to a node until that node begins.
    pub claim: Duration,
    /// After an attempt's own time is over, until its node has said so.
    pub report: Duration,
}

/// Since when a poll has been where it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Watch(BTreeMap<u64, (PollState, u32, Option<BootId>, Moment)>);

impl Watch {
    fn look(&mut self, now: Moment, board: &PollTable) {
        let before = std::mem::take(&mut self.0);
        for entry in board.active() {
            let boot = entry.assigned.as_ref().map(|to| to.boot);
            let is = (entry.state, entry.attempt, boot);
            let known = before.get(&entry.id).filter(|it| (it.0, it.1, it.2) == is);
            let since = known.map_or(now, |it| it.3);
            self.0.insert(entry.id, (is.0, is.1, is.2, since));
        }
    }

    fn for_how_long(&self, now: Moment, id: u64) -> Duration {
        self.0.get(&id).map_or(Duration::ZERO, |it| now.since(it.3))
    }
}

/// One round. The board is changed in place; whoever writes it finds out whether it was.
pub(super) fn tend(
    board: &mut PollTable,
    plan: &[Periodic],
    present: &Present,
    patience: &Patience,
    watch: &mut Watch,
    (now, wall_ms): (Moment, u64),
) {
    watch.look(now, board);
    for periodic in plan {
        let slot = periodic.slot(wall_ms);
        // A full board takes it in the next round, as long as the slot lasts.
        let _ = board.enqueue_slot(&periodic.poll, slot, wall_ms);
    }
    take_back(board, present, patience, watch, (now, wall_ms));
    board.runners.retain(|_, runner| present.undead.contains(&runner.boot));
    hand_out(board, present);
}

fn take_back(
    board: &mut PollTable,
    present: &Present,
    patience: &Patience,
    watch: &Watch,
    (now, wall_ms): (Moment, u64),
) {
    let assigned: Vec<PollEntry> =
        board.active().filter(|entry| entry.assigned.is_some()).cloned().collect();
    for entry in assigned {
        let Some(to) = &entry.assigned else { continue };
        let waited = watch.for_how_long(now, entry.id);
        let attempt = (to.boot, entry.attempt);
        match entry.state {
            PollState::Dispatching => {
                let is_live = present.live.get(&to.node) == Some(&to.boot);
                if !is_live || waited > patience.claim {
                    board.withdraw(entry.id).expect("it was dispatching a moment ago");
                }
            }
            PollState::Running => {
                let allowed = Duration::from_millis(entry.timeout_ms) + patience.report;
                let end = match present.undead.contains(&to.boot) {
                    false => AttemptEnd::Failed(format!("node {} is gone", to.node)),
                    true if waited > allowed => AttemptEnd::TimedOut,
                    true => continue,
                };
                let ended = board.attempt_ended(entry.id, attempt, end, wall_ms);
                ended.expect("it was running a moment ago");
            }
            _ => {}
        }
    }
}

fn hand_out(board: &mut PollTable, present: &Present) {
    let waiting: Vec<PollEntry> =
        board.active().filter(|entry| entry.state == PollState::Pending).cloned().collect();
    for entry in waiting {
        if let Some(to) = choose(board, present, &entry) {
            board.dispatch(entry.id, &to).expect("it was pending a moment ago");
        }
    }
}

/// The node with the least to do that can run it; after a failure another one, if there is one.
fn choose(board: &PollTable, present: &Present, entry: &PollEntry) -> Option<Assignment> {
    let last = entry.assigned.as_ref().map(|to| &to.node);
    let free = present.live.iter().filter_map(|(node, boot)| {
        let runner = board.runners.get(node).filter(|runner| runner.boot == *boot)?;
        let busy = busy(board, *boot);
        let can = runner.names.contains(&entry.name) && busy < runner.places;
        can.then_some(((Some(node) == last, busy, runner.handed, node), *boot))
    });
    let ((.., node), boot) = free.min_by(|a, b| a.0.cmp(&b.0))?;
    Some(Assignment { node: node.clone(), boot })
}

fn busy(board: &PollTable, boot: BootId) -> usize {
    let has = |entry: &&PollEntry| {
        let held = matches!(entry.state, PollState::Dispatching | PollState::Running);
        held && entry.assigned.as_ref().is_some_and(|to| to.boot == boot)
    };
    board.active().filter(has).count()
}
