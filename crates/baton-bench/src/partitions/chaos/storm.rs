//! One storm: faults one after the other, and what takes each back.

use std::collections::BTreeMap;
use std::time::Duration;

use baton::NodeId;
use baton::clock::Moment;
use baton_cli::cluster::ClusterError;
use baton_cli::cluster::owners::OwnerCluster;
use baton_core::rng::Rng;
use baton_store::clock::{Clock, SystemClock};

use crate::partitions::cluster::node_name;

/// How often processes are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Between two faults, in milliseconds.
const BETWEEN_MS: (u64, u64) = (100, 900);

/// How long a killed node is down, in milliseconds.
const DOWN_MS: (u64, u64) = (10, 2_000);

/// How long a process is paused, in milliseconds: within a lease of 3 s, or beyond it.
const SHORT_PAUSE_MS: (u64, u64) = (50, 2_400);
const LONG_PAUSE_MS: (u64, u64) = (3_300, 6_000);

/// How many nodes more than at the beginning there may be.
const MORE_NODES: usize = 3;

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// kill -9, started again after a while.
    Kill,
    /// The same to the leader.
    LeaderKill,
    /// SIGSTOP for less than a lease.
    ShortPause,
    /// SIGSTOP for more than a lease.
    LongPause,
    /// SIGTERM. It does not come back.
    Leave,
    /// Another node.
    Join,
    /// It gives everything away, until the storm is over or it is told otherwise.
    Drain,
}

impl FaultKind {
    /// Every kind.
    pub const ALL: [Self; 7] = [
        Self::Kill,
        Self::LeaderKill,
        Self::ShortPause,
        Self::LongPause,
        Self::Leave,
        Self::Join,
        Self::Drain,
    ];

    /// Its name in tables.
    pub fn title(self) -> &'static str {
        match self {
            Self::Kill => "node killed with -9",
            Self::LeaderKill => "leader killed with -9",
            Self::ShortPause => "node paused, under a lease",
            Self::LongPause => "node paused, over a lease",
            Self::Leave => "node left",
            Self::Join => "node joined",
            Self::Drain => "node drained, or no longer",
        }
    }
}

/// The faults to come: each kind once, in any order, before any comes again.
#[derive(Default)]
pub struct FaultDeck(Vec<FaultKind>);

impl FaultDeck {
    fn draw(&mut self, random: &mut Rng) -> FaultKind {
        if self.0.is_empty() {
            self.0 = FaultKind::ALL.to_vec();
        }
        self.0.swap_remove(random.below(self.0.len() as u64) as usize)
    }
}

/// Faults on one cluster.
pub struct Storm<'a> {
    cluster: &'a mut OwnerCluster,
    random: &'a mut Rng,
    faults: &'a mut FaultDeck,
    /// How many nodes there are without faults.
    nodes: usize,
    /// The number of the last node that joined.
    joined: u32,
    resumes: BTreeMap<NodeId, Moment>,
    restarts: BTreeMap<NodeId, Moment>,
    counts: BTreeMap<FaultKind, u32>,
}

impl<'a> Storm<'a> {
    /// A storm that has not begun.
    pub fn new(
        cluster: &'a mut OwnerCluster,
        (random, faults): (&'a mut Rng, &'a mut FaultDeck),
        nodes: u32,
        joined: u32,
    ) -> Self {
        let (resumes, restarts, counts) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let nodes = nodes as usize;
        Self { cluster, random, faults, nodes, joined, resumes, restarts, counts }
    }

    /// The number of the last node that joined.
    pub fn joined(&self) -> u32 {
        self.joined
    }

    /// What struck.
    pub fn counts(&self) -> &BTreeMap<FaultKind, u32> {
        &self.counts
    }

    /// Strikes for this long.
    pub async fn blow(&mut self, lasts: Duration) -> Result<(), ClusterError> {
        let ends_at = SystemClock.now() + lasts;
        let mut strike_at = SystemClock.now();
        while SystemClock.now() < ends_at {
            self.repair(SystemClock.now())?;
            self.cluster.reap()?;
            if SystemClock.now() >= strike_at {
                self.strike().await?;
                let pause = self.random.between(BETWEEN_MS.0, BETWEEN_MS.1);
                strike_at = SystemClock.now() + Duration::from_millis(pause);
            }
            SystemClock.sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    /// Takes every fault back. Those that left do not come back, unless too few are left.
    pub fn end(&mut self) -> Result<(), ClusterError> {
        self.repair(Moment::NEVER)?;
        for at in 0..self.cluster.processes.len() {
            if self.cluster.processes[at].is_draining {
                self.cluster.drain(at)?;
            }
        }
        self.cluster.reap()?;
        while self.cluster.takers() < self.nodes {
            self.join()?;
        }
        Ok(())
    }

    /// What is due goes on, or is started again.
    fn repair(&mut self, now: Moment) -> Result<(), ClusterError> {
        for (name, _) in self.resumes.extract_if(.., |_, at| *at <= now) {
            if let Some(at) = self.cluster.place(&name) {
                self.cluster.pause(at, false)?;
            }
        }
        for (name, _) in self.restarts.extract_if(.., |_, at| *at <= now) {
            self.cluster.start(&name)?;
        }
        Ok(())
    }

    async fn strike(&mut self) -> Result<(), ClusterError> {
        let kind = self.faults.draw(self.random);
        let can_strike = match kind {
            FaultKind::Join => self.cluster.processes.len() < self.nodes + MORE_NODES,
            _ => self.has_enough(),
        };
        if !can_strike {
            self.faults.0.push(kind);
            return Ok(());
        }
        let up: Vec<usize> = self.up().collect();
        let any = up[self.random.below(up.len() as u64) as usize];
        match kind {
            FaultKind::Kill => self.kill(any)?,
            FaultKind::LeaderKill => {
                let leader = self.cluster.leader().await?;
                let Some(at) = leader.and_then(|leader| self.cluster.place(&leader)) else {
                    self.faults.0.push(kind);
                    return Ok(());
                };
                self.kill(at)?;
            }
            FaultKind::ShortPause => self.pause(any, SHORT_PAUSE_MS)?,
            FaultKind::LongPause => self.pause(any, LONG_PAUSE_MS)?,
            FaultKind::Leave => self.cluster.leave(any)?,
            FaultKind::Join => self.join()?,
            FaultKind::Drain => self.cluster.drain(any)?,
        }
        *self.counts.entry(kind).or_default() += 1;
        Ok(())
    }

    /// The processes that are there, and to which nothing else happens now.
    fn up(&self) -> impl Iterator<Item = usize> {
        let processes = self.cluster.processes.iter().enumerate();
        processes.filter(|(_, it)| !it.is_paused && !it.is_leaving).map(|(at, _)| at)
    }

    /// Is more than half of the nodes there?
    fn has_enough(&self) -> bool {
        let draining = self.cluster.processes.iter().filter(|it| it.is_draining).count();
        self.up().count().saturating_sub(draining) * 2 > self.nodes
    }

    fn kill(&mut self, at: usize) -> Result<(), ClusterError> {
        let name = self.cluster.processes[at].name().clone();
        self.cluster.kill(at)?;
        self.resumes.remove(&name);
        let down = Duration::from_millis(self.random.between(DOWN_MS.0, DOWN_MS.1));
        self.restarts.insert(name, SystemClock.now() + down);
        Ok(())
    }

    fn pause(&mut self, at: usize, ms: (u64, u64)) -> Result<(), ClusterError> {
        let name = self.cluster.processes[at].name().clone();
        self.cluster.pause(at, true)?;
        let lasts = Duration::from_millis(self.random.between(ms.0, ms.1));
        self.resumes.insert(name, SystemClock.now() + lasts);
        Ok(())
    }

    fn join(&mut self) -> Result<(), ClusterError> {
        self.joined += 1;
        self.cluster.start(&node_name(self.joined))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_comes_once_before_any_comes_again() {
        let (mut deck, mut random) = (FaultDeck::default(), Rng::new(7));
        for _ in 0..3 {
            let mut drawn = FaultKind::ALL.map(|_| deck.draw(&mut random));
            drawn.sort_unstable();
            assert_eq!(drawn, FaultKind::ALL);
        }
    }
}
