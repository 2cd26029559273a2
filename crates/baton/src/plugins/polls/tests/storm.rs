//! Seeded storms: leaders change and write late, nodes die and report late, answers are lost.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use baton_core::rng::Rng;

use super::{PATIENCE, at, node, ticket};
use crate::plugins::polls::poll::Poll;
use crate::plugins::polls::round::{Periodic, PresentNodes, StateWatch, hold_round};
use crate::plugins::polls::runner::{AttemptId, claim};
use crate::plugins::polls::state::PollState;
use crate::plugins::polls::table::PollTable;
use crate::plugins::polls::table::{Assignment, AttemptEnd, PollEntry};

const SEEDS: u64 = 300;
const STEPS: u64 = 400;

/// The largest number of writes that are under way at once.
const PENDING_WRITES_MAX: usize = 4;

/// A process that runs polls.
struct Runner {
    me: Assignment,
    running: BTreeSet<AttemptId>,
    reports: Vec<(AttemptId, AttemptEnd)>,
    over: BTreeSet<AttemptId>,
}

impl Runner {
    fn new(number: u64, boot: u64) -> Self {
        let me = node(&format!("n{number}"), u128::from(boot));
        Self { me, running: BTreeSet::new(), reports: Vec::new(), over: BTreeSet::new() }
    }
}

/// A change that was made on a copy and is yet to be written.
struct PendingWrite {
    table: PollTable,
    version: u64,
    writer: Writer,
}

enum Writer {
    Coordinator { epoch: u64 },
    Node { boot: u128, reported: usize, claimed: Vec<PollEntry> },
    Client,
}

struct World {
    /// The store writes whatever comes, at whatever version.
    is_careless: bool,
    rng: Rng,
    second: u64,
    table: PollTable,
    version: u64,
    epoch: u64,
    watches: BTreeMap<u64, StateWatch>,
    nodes: Vec<Runner>,
    boots: u64,
    pending_writes: Vec<PendingWrite>,
    plan: Vec<Periodic>,
    requests: u64,
    /// Who began which attempt.
    begun: BTreeMap<AttemptId, u128>,
    ended: BTreeMap<u64, PollState>,
    slots: BTreeMap<(String, u64), u64>,
}

impl World {
    fn new(seed: u64) -> Self {
        let poll = Poll { timeout: Duration::from_secs(5), retries: 2, ..Poll::new("x") };
        Self {
            is_careless: false,
            rng: Rng::new(seed),
            second: 1_000,
            table: PollTable::default(),
            version: 0,
            epoch: 1,
            watches: BTreeMap::new(),
            nodes: (0..3).map(|number| Runner::new(number, number + 1)).collect(),
            boots: 3,
            pending_writes: Vec::new(),
            plan: vec![Periodic { every: Duration::from_secs(7), poll }],
            requests: 0,
            begun: BTreeMap::new(),
            ended: BTreeMap::new(),
            slots: BTreeMap::new(),
        }
    }

    fn step(&mut self) {
        match self.rng.below(20) {
            0..5 => self.second += self.rng.below(4),
            5..9 => self.hold_round(),
            9..13 => self.look(),
            13..17 => self.write(),
            17 => self.end_something(),
            18 => self.client_asks(),
            _ => self.misfortune(),
        }
        self.check();
    }

    fn add_pending_write(&mut self, writer: Writer, table: PollTable) {
        self.pending_writes.push(PendingWrite { table, version: self.version, writer });
        if self.pending_writes.len() > PENDING_WRITES_MAX {
            self.pending_writes.remove(0);
        }
    }

    fn hold_round(&mut self) {
        // A leader that was replaced goes on for a while.
        let epoch = self.epoch - self.rng.below(2).min(self.epoch - 1);
        let live = self.nodes.iter().map(|it| (it.me.node.clone(), it.me.boot)).collect();
        let undead = self.nodes.iter().map(|it| it.me.boot).collect();
        let mut table = self.table.clone();
        let watch = self.watches.entry(epoch).or_default();
        let now = (at(self.second), self.second * 1_000);
        hold_round(&mut table, &self.plan, &PresentNodes { live, undead }, PATIENCE, watch, now);
        self.add_pending_write(Writer::Coordinator { epoch }, table);
    }

    fn look(&mut self) {
        let at = usize::try_from(self.rng.below(3)).expect("small");
        let (runner, mut table) = (&self.nodes[at], self.table.clone());
        for ((id, attempt), end) in &runner.reports {
            let _ = table.attempt_ended(*id, (runner.me.boot, *attempt), end.clone(), 0);
        }
        let names = BTreeSet::from(["x".to_owned()]);
        table.register(&runner.me, &names, 2).expect("there is room");
        let known = runner.running.union(&runner.over).copied().collect();
        let room = 2_usize.saturating_sub(runner.running.len());
        let claimed = claim(&mut table, &runner.me, &known, room).expect("its own to claim");
        let (boot, reported) = (runner.me.boot.0, runner.reports.len());
        self.add_pending_write(Writer::Node { boot, reported, claimed }, table);
    }

    fn write(&mut self) {
        if self.pending_writes.is_empty() {
            return;
        }
        let count = u64::try_from(self.pending_writes.len()).expect("small");
        let at = usize::try_from(self.rng.below(count)).expect("small");
        let PendingWrite { table, version, writer } = self.pending_writes.swap_remove(at);
        let fenced = matches!(writer, Writer::Coordinator { epoch } if epoch < self.epoch);
        if (fenced || version != self.version) && !self.is_careless {
            return;
        }
        if table != self.table {
            (self.table, self.version) = (table, self.version + 1);
        }
        // Its answer may be lost: then the writer does not know, and looks again.
        if self.rng.one_in(5) {
            return;
        }
        if let Writer::Node { boot, reported, claimed } = writer
            && let Some(runner) = self.nodes.iter_mut().find(|it| it.me.boot.0 == boot)
        {
            for (attempt, _) in runner.reports.drain(..reported.min(runner.reports.len())) {
                runner.running.remove(&attempt);
                runner.over.insert(attempt);
            }
            for entry in claimed {
                let attempt = (entry.id, entry.attempt);
                if runner.running.insert(attempt) {
                    let before = self.begun.insert(attempt, boot);
                    assert_eq!(before, None, "attempt {attempt:?} began twice");
                }
            }
        }
    }

    fn end_something(&mut self) {
        let (at, way) = (self.rng.below(3), self.rng.below(3));
        let runner = &mut self.nodes[usize::try_from(at).expect("small")];
        let reported = |attempt: &&AttemptId| !runner.reports.iter().any(|it| it.0 == **attempt);
        if let Some(attempt) = runner.running.iter().find(reported).copied() {
            let end = match way {
                0 => AttemptEnd::Done("well".to_owned()),
                1 => AttemptEnd::Failed("badly".to_owned()),
                _ => AttemptEnd::TimedOut,
            };
            runner.reports.push((attempt, end));
        }
    }

    fn client_asks(&mut self) {
        let mut table = self.table.clone();
        self.requests += 1;
        let changed = match self.rng.one_in(3) {
            true => {
                let last = table.active().map(|entry| entry.id).max().unwrap_or_default();
                table.cancel(last, 0).is_ok()
            }
            false => table.enqueue(&Poll::new("x"), ticket(self.requests), 0).is_ok(),
        };
        if changed {
            self.add_pending_write(Writer::Client, table);
        }
    }

    fn misfortune(&mut self) {
        if self.rng.one_in(2) {
            self.epoch += 1;
            return;
        }
        self.boots += 1;
        let at = self.rng.below(3);
        let new = Runner::new(at, self.boots);
        self.nodes[usize::try_from(at).expect("small")] = new;
    }

    /// What must hold of the table at any time.
    fn check(&mut self) {
        for entry in self.table.finished() {
            assert!(entry.state.is_final(), "{entry:?}");
            let before = self.ended.insert(entry.id, entry.state);
            assert!(before.is_none_or(|state| state == entry.state), "{before:?}, now {entry:?}");
        }
        for entry in self.table.active() {
            assert!(!self.ended.contains_key(&entry.id), "{entry:?} was done");
            assert!(!entry.state.is_final() && entry.attempt <= 1 + entry.retries, "{entry:?}");
        }
        for entry in self.table.active().chain(self.table.finished()) {
            if let Some(slot) = entry.slot {
                let id = *self.slots.entry((entry.name.clone(), slot)).or_insert(entry.id);
                assert_eq!(id, entry.id, "slot {slot} was enqueued twice");
            }
        }
    }

    /// Nothing more goes wrong and nothing more is enqueued: everything comes to its end.
    fn calm(&mut self) {
        self.plan.clear();
        self.pending_writes.clear();
        for _ in 0..600 {
            self.second += 1;
            for _ in 0..3 {
                self.look();
                self.write();
                self.end_something();
            }
            self.pending_writes.clear();
            self.hold_round();
            self.write();
            self.pending_writes.clear();
            self.check();
        }
        let left: Vec<&PollEntry> = self.table.active().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn no_poll_is_lost_none_runs_twice_and_the_end_is_final() {
    let (mut begun, mut retried) = (0, 0);
    for seed in 0..SEEDS {
        let mut world = World::new(seed);
        for _ in 0..STEPS {
            world.step();
        }
        world.calm();
        begun += world.begun.len();
        retried += world.begun.keys().filter(|(_, attempt)| *attempt > 1).count();
    }
    // Shows that the storms get somewhere.
    let seeds = usize::try_from(SEEDS).expect("small");
    assert!(begun > 5 * seeds && retried > seeds, "{begun} begun, {retried} again");
}

#[test]
fn a_store_without_compare_and_set_is_caught() {
    let broken = |seed: &u64| {
        let mut world = World { is_careless: true, ..World::new(*seed) };
        let storm = std::panic::AssertUnwindSafe(|| (0..STEPS).for_each(|_| world.step()));
        std::panic::catch_unwind(storm).is_err()
    };
    let caught = (0..20).filter(broken).count();
    assert!(caught >= 15, "only {caught} of 20 storms were caught");
}
