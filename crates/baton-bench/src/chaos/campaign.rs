//! Bursts and calms: strikes when a fault is due, takes faults back when that is due.

use std::collections::BTreeSet;
use std::time::Duration;

use baton::NodeId;
use baton::clock::Moment;
use baton_store::clock::{Clock, SystemClock};

use super::connections::NodeConnections;
use super::counts::FaultCounts;
use super::fault::{ChaosFault, FaultSequence};
use super::fault_kind::FaultKind;
use super::flood::HintFlood;
use super::nodes::Nodes;
use super::store::StoreServer;
use crate::error::BenchError;
use crate::log_reader::LogReader;

/// How often all processes are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Longer than a process takes to find that there is no store.
const STEADY_FOR: Duration = Duration::from_secs(4);

/// A job that wrote within this time still runs, as far as one knows.
const LED_WITHIN: Duration = Duration::from_millis(500);

/// How long a burst and a calm last, at least and at most, in milliseconds. In a calm nothing new
/// happens, so that a node comes to lead that can be struck.
const BURST: (u64, u64) = (2_500, 5_000);
const CALM: (u64, u64) = (1_500, 3_500);

/// Between two faults of a burst.
const BETWEEN: (u64, u64) = (50, 900);

/// Everything that can be struck.
pub struct Campaign<'a> {
    /// The name in front of every line on stderr.
    pub name: String,
    /// The processes.
    pub nodes: Nodes<'a>,
    /// Their connections.
    pub connections: NodeConnections,
    /// The server.
    pub store: StoreServer<'a>,
    /// Forged hints to all nodes.
    pub flood: HintFlood,
    /// What the jobs write: it says who leads, whatever the store's state.
    pub log: LogReader,
    /// The faults to come.
    pub faults: FaultSequence,
    /// The faults that struck.
    pub counts: FaultCounts,
    /// The node that wrote last, and when.
    pub last: Option<(NodeId, Moment)>,
    /// The epochs in which a job wrote.
    pub epochs: BTreeSet<u64>,
}

impl Campaign<'_> {
    /// Strikes in bursts for this long; for up to twice as long if there have been too few
    /// failovers to learn anything from.
    pub async fn run(&mut self, lasts: Duration, failovers: usize) -> Result<(), BenchError> {
        let began = SystemClock.now();
        loop {
            let too_few = self.epochs.len() <= failovers;
            let ends_at = began + if too_few { 2 * lasts } else { lasts };
            if SystemClock.now() >= ends_at {
                return Ok(());
            }
            let burst = self.faults.span(BURST.0, BURST.1);
            self.pass(ends_at.min(SystemClock.now() + burst), true).await?;
            let calm = self.faults.span(CALM.0, CALM.1);
            self.pass(ends_at.min(SystemClock.now() + calm), false).await?;
            let (so_far, faults) = (SystemClock.now().since(began).as_secs(), self.counts.total());
            eprintln!("{}: {so_far} s, {faults} faults", self.name);
        }
    }

    /// Takes every fault back, and waits until every node is up and stays up: a process that was
    /// started while there was no store may take its time to say so and end.
    pub async fn repair_all(&mut self) -> Result<(), BenchError> {
        self.flood.end();
        let mut steady_since = SystemClock.now();
        while SystemClock.now() < steady_since + STEADY_FOR {
            let now = SystemClock.now();
            self.repair_connections(Moment::NEVER);
            self.repair_store(Moment::NEVER).await?;
            self.nodes.all_due(now);
            self.nodes.repair(now)?;
            let ended = self.nodes.restart_ended(now)?;
            self.counts.ended_by_themselves += ended;
            if ended > 0 || !self.nodes.are_up() {
                steady_since = now;
            }
            SystemClock.sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    /// Runs until this moment, with new faults or without.
    async fn pass(&mut self, until: Moment, strikes: bool) -> Result<(), BenchError> {
        let mut strike_at = if strikes { SystemClock.now() } else { Moment::NEVER };
        let mut look_at = SystemClock.now();
        while SystemClock.now() < until {
            let now = SystemClock.now();
            if now >= strike_at {
                self.strike(now).await?;
                strike_at = now + self.faults.span(BETWEEN.0, BETWEEN.1);
            }
            if now >= look_at {
                self.counts.ended_by_themselves += self.nodes.restart_ended(now)?;
                look_at = now + LOOK_EVERY;
            }
            self.nodes.repair(now)?;
            self.repair_connections(now);
            self.repair_store(now).await?;
            let repair = self
                .nodes
                .next_repair()
                .min(self.connections.next_repair())
                .min(self.store.next_repair());
            let wake = strike_at.min(look_at).min(repair).min(until);
            SystemClock.sleep(wake.since(SystemClock.now())).await;
        }
        Ok(())
    }

    /// Brings the server back if its time has come.
    async fn repair_store(&mut self, now: Moment) -> Result<(), BenchError> {
        self.store.repair(now).await?;
        self.follow_store();
        Ok(())
    }

    /// Sends the nodes to the server that takes writes.
    fn follow_store(&mut self) {
        if let Some(server) = self.store.moved() {
            self.connections.lead_to(server);
        }
    }

    /// Mends connections. A reply that never came was not lost: it is not counted, and comes again.
    fn repair_connections(&mut self, now: Moment) {
        for _ in 0..self.connections.repair(now) {
            self.counts.uncount(FaultKind::LoseReply);
            self.faults.postpone(FaultKind::LoseReply);
        }
    }

    /// Strikes once, if the next fault can strike now.
    async fn strike(&mut self, now: Moment) -> Result<(), BenchError> {
        let fault = self.faults.next_fault();
        let leader = self.leader(now)?;
        let struck = if fault.kind.strikes_process() {
            let victim = victim(&fault, leader.as_ref(), &self.nodes.to_strike());
            victim.map(|name| self.nodes.strike(&fault, &name, now).map(|()| name)).transpose()?
        } else if fault.kind.strikes_connections() {
            // A process that is down has no connections.
            let mut those = self.connections.to_strike();
            those.retain(|name| self.nodes.is_up(name));
            let victim = victim(&fault, leader.as_ref(), &those);
            victim.inspect(|name| self.connections.strike(&fault, name, now))
        } else if self.strike_all(&fault, now).await? {
            self.follow_store();
            self.counts.struck(fault.kind, false);
            return Ok(());
        } else {
            None
        };
        match struck {
            Some(name) => self.counts.struck(fault.kind, leader == Some(name)),
            None => self.faults.postpone(fault.kind),
        }
        Ok(())
    }

    /// What strikes no node alone. Says whether there was anything to strike.
    async fn strike_all(&mut self, fault: &ChaosFault, now: Moment) -> Result<bool, BenchError> {
        match fault.kind {
            FaultKind::ForgedHints => Ok(self.flood.strike(fault, now).await),
            _ => self.store.strike(fault, now).await,
        }
    }

    /// The node whose job wrote a moment ago.
    fn leader(&mut self, now: Moment) -> Result<Option<NodeId>, BenchError> {
        for tick in self.log.new_ticks()? {
            self.epochs.insert(tick.epoch);
            self.last = NodeId::new(&tick.node).ok().map(|node| (node, tick.at));
        }
        let fresh = self.last.as_ref().filter(|(_, at)| *at + LED_WITHIN >= now);
        Ok(fresh.map(|(node, _)| node.clone()))
    }
}

/// The leader if the fault is meant for it and it can be struck, else any that can.
fn victim(fault: &ChaosFault, leader: Option<&NodeId>, those: &[NodeId]) -> Option<NodeId> {
    let led = leader.filter(|leader| fault.at_leader && those.contains(leader));
    let any = those.get((fault.pick % those.len().max(1) as u64) as usize);
    led.or(any).cloned()
}
