//! Processes that own the partitions of a namespace: started, killed, drained, asked to leave; and
//! the question whether every partition has an owner, and every owner as many as the others.

use std::sync::Arc;
use std::time::Duration;

use baton::clock::Moment;
use baton::{NodeId, Store};
use baton_store::Inspection;
use baton_store::clock::{Clock, SystemClock};

use super::moves::fewest_moves;
use super::{History, OwnerPlan, OwnerProcess};
use crate::attempts::Attempts;
use crate::cluster::{ClusterError, Signal};

/// How often logs are read. Each line says itself when it was written.
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// For how long nothing may move before all moves are over.
const HOLDS_FOR: Duration = Duration::from_millis(500);

/// How long a process may take to leave, and a busy store to answer.
const ANSWERS_WITHIN: Duration = Duration::from_secs(30);

/// The processes of a namespace.
pub struct OwnerCluster {
    /// How they are started.
    pub plan: OwnerPlan,
    /// Those that run.
    pub processes: Vec<OwnerProcess>,
    /// What all of them did, also those that have ended.
    pub history: History,
    store: Arc<dyn Store>,
    started: usize,
}

impl OwnerCluster {
    /// None so far.
    pub async fn new(plan: OwnerPlan) -> Result<Self, ClusterError> {
        let store = baton_drivers::open(&plan.store).await?;
        let (processes, history) = (Vec::new(), History::default());
        Ok(Self { plan, processes, history, store, started: 0 })
    }

    /// Starts a node of this name.
    pub fn start(&mut self, name: &NodeId) -> Result<(), ClusterError> {
        self.started += 1;
        let log = self.plan.folder.join(format!("{name}.{}.log", self.started));
        let id = self.history.follow(name.clone(), &log);
        self.processes.push(OwnerProcess::start(&self.plan, name, id, &log)?);
        Ok(())
    }

    /// The place of a process by the name of its node.
    pub fn place(&self, name: &NodeId) -> Option<usize> {
        self.processes.iter().position(|it| it.name() == name)
    }

    /// The namespace as the store shows it. A busy store may need to be asked again.
    async fn inspect(&self) -> Result<Inspection, ClusterError> {
        let mut attempts = Attempts::new(LOOK_EVERY, ANSWERS_WITHIN);
        loop {
            let is_last = !attempts.next().await;
            match self.store.inspect(&self.plan.namespace).await {
                Ok(shown) => return Ok(shown),
                Err(problem) if is_last => return Err(problem.into()),
                Err(_) => {}
            }
        }
    }

    /// The node that leads, as the store has it.
    pub async fn leader(&self) -> Result<Option<NodeId>, ClusterError> {
        let shown = self.inspect().await?;
        Ok(shown.lease.and_then(|lease| lease.holder).map(|holder| holder.node))
    }

    /// Ends a process with kill -9. Returns when.
    pub fn kill(&mut self, at: usize) -> Result<Moment, ClusterError> {
        let process = self.processes.remove(at);
        let id = process.id;
        let killed_at = process.kill()?;
        self.history.killed(id, killed_at)?;
        Ok(killed_at)
    }

    /// Lets a node give everything away, or ends that.
    pub fn drain(&mut self, at: usize) -> Result<(), ClusterError> {
        let process = &mut self.processes[at];
        process.is_draining = !process.is_draining;
        process.signal(Signal::USR1)
    }

    /// Lets a node leave.
    pub fn leave(&mut self, at: usize) -> Result<(), ClusterError> {
        let process = &mut self.processes[at];
        process.is_leaving = true;
        process.signal(Signal::TERM)
    }

    /// Stops a process where it stands, or lets it go on.
    pub fn pause(&mut self, at: usize, is_paused: bool) -> Result<(), ClusterError> {
        let process = &mut self.processes[at];
        process.is_paused = is_paused;
        process.signal(if is_paused { Signal::STOP } else { Signal::CONT })
    }

    /// Takes out the processes that have ended. Returns the names of those that nothing had asked
    /// to.
    pub fn reap(&mut self) -> Result<Vec<NodeId>, ClusterError> {
        let mut unasked = Vec::new();
        let mut at = 0;
        while at < self.processes.len() {
            if self.processes[at].runs()? {
                at += 1;
                continue;
            }
            let ended = self.processes.remove(at);
            if !ended.is_leaving {
                unasked.push(ended.name().clone());
            }
            self.history.killed(ended.id, SystemClock.now())?;
        }
        Ok(unasked)
    }

    /// How many partitions there are.
    pub fn partitions(&self) -> usize {
        self.plan.lists.iter().map(|list| list.partitions as usize).sum()
    }

    /// Reads on in all logs. Returns what keeps the partitions from having an owner each, and the
    /// nodes that take some from having as many as the others. A process must not have ended
    /// unless it was asked to.
    pub fn look(&mut self) -> Result<Option<String>, ClusterError> {
        if let Some(name) = self.reap()?.into_iter().next() {
            return Err(ClusterError::Ended(name));
        }
        self.history.read_on()?;
        Ok(self.imbalance())
    }

    /// Waits until every partition has an owner, and every node that takes some has as many as the
    /// others. What is wrong at the end of the time is the error.
    pub async fn balanced(&mut self, within: Duration) -> Result<(), ClusterError> {
        let mut attempts = Attempts::new(LOOK_EVERY, within);
        let mut wrong = String::new();
        while attempts.next().await {
            match self.look()? {
                None => return Ok(()),
                Some(found) => wrong = found,
            }
        }
        Err(ClusterError::Unbalanced { wrong, within })
    }

    /// The same after something happened, whose news the logs may not have yet: it has to hold for
    /// a while.
    pub async fn settled(&mut self, within: Duration) -> Result<(), ClusterError> {
        self.balanced(within).await?;
        let mut attempts = Attempts::new(LOOK_EVERY, HOLDS_FOR);
        while attempts.next().await {
            self.balanced(within).await?;
        }
        Ok(())
    }

    /// Waits until the leader's view shows every process.
    pub async fn all_in_view(&self, within: Duration) -> Result<(), ClusterError> {
        let mut attempts = Attempts::new(8 * LOOK_EVERY, within);
        let mut shown = 0;
        while attempts.next().await {
            let view = self.inspect().await?.view;
            shown = view.map_or(0, |view| view.members.len());
            if shown == self.processes.len() {
                return Ok(());
            }
        }
        let wrong = format!("{shown} of {} nodes are in view", self.processes.len());
        Err(ClusterError::Unbalanced { wrong, within })
    }

    /// How many nodes take partitions.
    pub fn takers(&self) -> usize {
        self.processes.iter().filter(|it| !it.gives_away()).count()
    }

    /// The fewest moves that make it owned and balanced without one of the processes, or with this
    /// many more.
    pub fn fewest_moves(&self, without: Option<usize>, more: usize) -> usize {
        let processes = self.processes.iter().enumerate();
        let stays = processes.filter(|(at, it)| !it.gives_away() && Some(*at) != without);
        let loads = stays.map(|(_, it)| self.history.load(it.id));
        let loads: Vec<usize> = loads.chain(std::iter::repeat_n(0, more)).collect();
        let unowned = self.partitions().saturating_sub(loads.iter().sum());
        fewest_moves(&loads, unowned)
    }

    /// What keeps the cluster from being owned and balanced.
    fn imbalance(&self) -> Option<String> {
        let owners = self.history.owners();
        let doubled = owners.values().filter(|owners| owners.len() > 1).count();
        let (owned, wanted) = (owners.len(), self.partitions());
        if owned != wanted || doubled > 0 {
            return Some(format!(
                "{owned} of {wanted} partitions have an owner, {doubled} have two"
            ));
        }
        let (giving, taking): (Vec<_>, Vec<_>) =
            self.processes.iter().partition(|it| it.gives_away());
        let load = |process: &&OwnerProcess| self.history.load(process.id);
        let left: usize = giving.iter().map(load).sum();
        if left > 0 {
            return Some(format!("{left} partitions are on nodes that give them away"));
        }
        let loads: Vec<usize> = taking.iter().map(load).collect();
        let (least, most) = (loads.iter().min()?, loads.iter().max()?);
        (most - least > 1).then(|| format!("nodes have {least} to {most} partitions"))
    }

    /// All nodes leave, whatever they were told before.
    pub async fn stop(&mut self) -> Result<(), ClusterError> {
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
        let wrong = format!("{} processes have not left", self.processes.len());
        Err(ClusterError::Unbalanced { wrong, within: ANSWERS_WITHIN })
    }
}
