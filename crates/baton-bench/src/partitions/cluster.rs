//! Processes that own the partitions of a namespace: started, killed, drained, asked to leave; and
//! the question whether every partition has an owner, and every owner as many as the others.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use baton::clock::Moment;
use baton::partitions::Partition;
use baton::{Namespace, NodeId, Store};
use baton_cli::attempts::Attempts;
use baton_store::Inspection;
use baton_store::clock::{Clock, SystemClock};
use rustix::process::Signal;

use super::history::History;
use super::owner::CallTotals;
use super::process::{OwnerPlan, OwnerProcess};
use crate::error::BenchError;

/// How often logs are read. Each line says itself when it was written.
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// For how long nothing may move before all moves are over.
const HOLDS_FOR: Duration = Duration::from_millis(500);

/// How long a process may take to leave, or to count its calls.
const ANSWERS_WITHIN: Duration = Duration::from_secs(30);

/// The processes of a namespace.
pub struct OwnerCluster {
    pub plan: OwnerPlan,
    pub processes: Vec<OwnerProcess>,
    pub history: History,
    store: Arc<dyn Store>,
    started: usize,
}

impl OwnerCluster {
    /// None so far.
    pub async fn new(plan: OwnerPlan) -> Result<Self, BenchError> {
        let store = baton_drivers::open(&plan.store).await?;
        let (processes, history) = (Vec::new(), History::default());
        Ok(Self { plan, processes, history, store, started: 0 })
    }

    /// Starts a node of this name.
    pub fn start(&mut self, name: &NodeId) -> Result<(), BenchError> {
        self.started += 1;
        let log = self.plan.folder.join(format!("{name}.{}.log", self.started));
        let id = self.history.follow(name.clone(), &log);
        self.processes.push(OwnerProcess::start(&self.plan, name, id, &log)?);
        Ok(())
    }

    /// Starts this many nodes, numbered from `first`.
    pub fn start_all(&mut self, first: u32, count: u32) -> Result<(), BenchError> {
        (first..first + count).try_for_each(|number| self.start(&node_name(number)))
    }

    /// The place of a process by the name of its node.
    pub fn place(&self, name: &NodeId) -> Option<usize> {
        self.processes.iter().position(|it| it.name == *name)
    }

    /// The namespace as the store shows it. A busy store may need to be asked again.
    async fn inspect(&self) -> Result<Inspection, BenchError> {
        let namespace = Namespace::new(&self.plan.namespace).expect("a plain name");
        let mut attempts = Attempts::new(LOOK_EVERY, ANSWERS_WITHIN);
        loop {
            let is_last = !attempts.next().await;
            match self.store.inspect(&namespace).await {
                Ok(shown) => return Ok(shown),
                Err(problem) if is_last => return Err(problem.into()),
                Err(_) => {}
            }
        }
    }

    /// The node that leads, as the store has it.
    pub async fn leader(&self) -> Result<Option<NodeId>, BenchError> {
        let shown = self.inspect().await?;
        Ok(shown.lease.and_then(|lease| lease.holder).map(|holder| holder.node))
    }

    /// Ends a process with kill -9. Returns when.
    pub fn kill(&mut self, at: usize) -> Result<Moment, BenchError> {
        let process = self.processes.remove(at);
        let id = process.id;
        let killed_at = process.kill()?;
        self.history.killed(id, killed_at)?;
        Ok(killed_at)
    }

    /// Lets a node give everything away, or ends that.
    pub fn drain(&mut self, at: usize) -> Result<(), BenchError> {
        let process = &mut self.processes[at];
        process.is_draining = !process.is_draining;
        process.signal(Signal::USR1)
    }

    /// Lets a node leave.
    pub fn leave(&mut self, at: usize) -> Result<(), BenchError> {
        let process = &mut self.processes[at];
        process.is_leaving = true;
        process.signal(Signal::TERM)
    }

    /// Stops a process where it stands, or lets it go on.
    pub fn pause(&mut self, at: usize, is_paused: bool) -> Result<(), BenchError> {
        let process = &mut self.processes[at];
        process.is_paused = is_paused;
        process.signal(if is_paused { Signal::STOP } else { Signal::CONT })
    }

    /// Takes out the processes that have ended. Returns the names of those that nothing had asked
    /// to.
    pub fn reap(&mut self) -> Result<Vec<NodeId>, BenchError> {
        let mut unasked = Vec::new();
        let mut at = 0;
        while at < self.processes.len() {
            if self.processes[at].runs()? {
                at += 1;
                continue;
            }
            let ended = self.processes.remove(at);
            if !ended.is_leaving {
                unasked.push(ended.name.clone());
            }
            self.history.killed(ended.id, SystemClock.now())?;
        }
        Ok(unasked)
    }

    /// How many partitions there are.
    pub fn partitions(&self) -> usize {
        self.plan.lists.iter().map(|list| list.partitions as usize).sum()
    }

    /// Waits until every partition has an owner, and every node that takes some has as many as the
    /// others. What is wrong at the end of the time is the error.
    pub async fn balanced(&mut self, within: Duration) -> Result<(), BenchError> {
        let mut attempts = Attempts::new(LOOK_EVERY, within);
        let mut wrong = String::new();
        while attempts.next().await {
            if let Some(name) = self.reap()?.into_iter().next() {
                return Err(BenchError::Unbalanced { wrong: format!("{name} ended"), within });
            }
            self.history.read_on()?;
            match self.imbalance() {
                None => return Ok(()),
                Some(found) => wrong = found,
            }
        }
        Err(BenchError::Unbalanced { wrong, within })
    }

    /// The same after something happened, whose news the logs may not have yet: it has to hold for
    /// a while.
    pub async fn settled(&mut self, within: Duration) -> Result<(), BenchError> {
        self.balanced(within).await?;
        let mut attempts = Attempts::new(LOOK_EVERY, HOLDS_FOR);
        while attempts.next().await {
            self.balanced(within).await?;
        }
        Ok(())
    }

    /// Waits until the leader's view shows every process.
    pub async fn all_in_view(&self, within: Duration) -> Result<(), BenchError> {
        let mut attempts = Attempts::new(8 * LOOK_EVERY, within);
        let mut shown = 0;
        while attempts.next().await {
            let view = self.inspect().await?.view;
            shown = view.map_or(0, |view| view.members.len());
            if shown == self.processes.len() {
                return Ok(());
            }
        }
        let wrong = format!("{shown} of {} nodes in view", self.processes.len());
        Err(BenchError::Unbalanced { wrong, within })
    }

    /// How many nodes take partitions.
    pub fn takers(&self) -> usize {
        self.processes.iter().filter(|it| !it.is_draining && !it.is_leaving).count()
    }

    /// What keeps the cluster from being owned and balanced.
    fn imbalance(&self) -> Option<String> {
        let owners = self.history.owners();
        let doubled = owners.values().filter(|owners| owners.len() > 1).count();
        let (owned, wanted) = (owners.len(), self.partitions());
        if owned != wanted || doubled > 0 {
            return Some(format!("{owned} of {wanted} owned, {doubled} by two"));
        }
        let (giving, taking): (Vec<_>, Vec<_>) =
            self.processes.iter().partition(|it| it.is_draining || it.is_leaving);
        let load = |process: &&OwnerProcess| self.history.load(process.id);
        let left: usize = giving.iter().map(load).sum();
        if left > 0 {
            return Some(format!("{left} on nodes that give them away"));
        }
        let loads: Vec<usize> = taking.iter().map(load).collect();
        let (least, most) = (loads.iter().min()?, loads.iter().max()?);
        (most - least > 1).then(|| format!("nodes with {least} to {most} partitions"))
    }

    /// The calls of all processes so far, each by its place in the history.
    pub async fn calls(&mut self) -> Result<BTreeMap<usize, CallTotals>, BenchError> {
        let asked_at = SystemClock.now();
        for process in &mut self.processes {
            process.signal(Signal::USR2)?;
        }
        let mut attempts = Attempts::new(LOOK_EVERY, ANSWERS_WITHIN);
        while attempts.next().await {
            self.history.read_on()?;
            let of = |it: &OwnerProcess| Some((it.id, self.history.calls(it.id, asked_at)?));
            let counted: Option<BTreeMap<_, _>> = self.processes.iter().map(of).collect();
            if let Some(counted) = counted {
                return Ok(counted);
            }
        }
        let wrong = "not all processes counted their calls".to_owned();
        Err(BenchError::Unbalanced { wrong, within: ANSWERS_WITHIN })
    }

    /// All nodes leave, whatever they were told before.
    pub async fn stop(&mut self) -> Result<(), BenchError> {
        for process in &mut self.processes {
            process.is_leaving = true;
            process.signal(Signal::TERM)?;
            process.signal(Signal::CONT)?;
        }
        let mut attempts = Attempts::new(LOOK_EVERY, ANSWERS_WITHIN);
        while attempts.next().await {
            self.reap()?;
            if self.processes.is_empty() {
                return Ok(());
            }
        }
        let wrong = format!("{} processes did not leave", self.processes.len());
        Err(BenchError::Unbalanced { wrong, within: ANSWERS_WITHIN })
    }

    /// Partitions in the history that are not of this cluster's lists.
    pub fn foreign(&self) -> usize {
        let is_own = |partition: &Partition| {
            let mut lists = self.plan.lists.iter();
            lists.any(|list| list.id == partition.list && partition.number < list.partitions)
        };
        self.history.works.iter().filter(|work| !is_own(&work.partition)).count()
    }
}

/// The name of a node.
pub fn node_name(number: u32) -> NodeId {
    NodeId::new(&format!("node-{number:03}")).expect("a plain name")
}

/// A copy of this program, so that a build beside a long bench changes nothing of it.
pub fn program_in(folder: &Path) -> Result<std::path::PathBuf, BenchError> {
    let this = crate::processes::this_program()?;
    let copy = folder.join("baton-owner");
    if !copy.exists() {
        let copied = std::fs::copy(&this, &copy);
        copied.map_err(|problem| BenchError::File { path: copy.clone(), problem })?;
    }
    Ok(copy)
}
