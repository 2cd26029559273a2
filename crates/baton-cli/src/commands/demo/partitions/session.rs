//! The session: the processes, what was done to them so far, and the view of both.

use std::time::Duration;

use baton::NodeId;
use baton::clock::Moment;
use baton::partitions::Partition;
use baton_store::clock::{Clock, SystemClock};

use super::acts::Act;
use super::view::{Row, Scene, State, render};
use crate::attempts::Attempts;
use crate::cluster::ClusterError;
use crate::cluster::owners::{Findings, OwnerCluster, OwnerProcess};
use crate::commands::demo::journal::Journal;
use crate::error::CommandError;
use crate::output::{log, stdout};

/// Time between two looks at the logs.
const READ_EVERY: Duration = Duration::from_millis(5);

/// Time limit for moves, besides two leases.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// How long nothing may move before all moves are over.
const HOLDS_FOR: Duration = Duration::from_millis(500);

/// What began less than this ago is marked in the view.
const FRESH_FOR: Duration = Duration::from_secs(1);

pub struct Session {
    pub cluster: OwnerCluster,
    pub journal: Journal<Act>,
    /// Every node that was started.
    pub nodes: Vec<NodeId>,
    /// When the nodes were asked to end.
    pub closed_at: Moment,
    lease: Duration,
}

impl Session {
    pub fn new(cluster: OwnerCluster, lease: Duration, live: bool) -> Self {
        let (journal, nodes, closed_at) = (Journal::new(live), Vec::new(), Moment::NEVER);
        Self { cluster, journal, nodes, closed_at, lease }
    }

    /// Starts a node.
    pub fn start(&mut self, node: &NodeId) -> Result<(), CommandError> {
        self.cluster.start(node)?;
        self.nodes.push(node.clone());
        Ok(())
    }

    /// The place of the process that leads, or of one that does not, among those that take
    /// partitions.
    pub async fn place(&self, leads: bool) -> Result<usize, CommandError> {
        let leader = self.cluster.leader().await?;
        let mut processes = self.cluster.processes.iter();
        let is_meant =
            |it: &OwnerProcess| !it.gives_away() && leads == (Some(it.name()) == leader.as_ref());
        Ok(processes.position(is_meant).unwrap_or(0))
    }

    /// How many partitions each process owns, in words.
    pub fn loads(&self) -> String {
        let load = |it: &OwnerProcess| {
            let load = self.cluster.history.load(it.id);
            (load > 0).then(|| format!("{} {load}", it.name()))
        };
        self.cluster.processes.iter().filter_map(load).collect::<Vec<_>>().join(", ")
    }

    /// Prints who owns what, where there is no live view that shows it.
    pub fn print_map(&self) {
        if self.journal.is_live() {
            return;
        }
        let of_process = |it: &OwnerProcess| {
            let history = &self.cluster.history;
            let owned = self.partitions().filter(|owned| history.under_way(it.id, owned).is_some());
            let numbers: Vec<String> = owned.map(|owned| owned.number.to_string()).collect();
            (!numbers.is_empty()).then(|| format!("{} owns {}", it.name(), numbers.join(" ")))
        };
        let owners: Vec<String> = self.cluster.processes.iter().filter_map(of_process).collect();
        log::info(&format!("         {}", owners.join("; ")));
    }

    /// Waits until every partition has an owner and the loads are even, and nothing moves any more.
    pub async fn until_settled(&mut self) -> Result<(), CommandError> {
        let within = self.lease * 2 + WAIT_MAX;
        let mut attempts = Attempts::new(READ_EVERY, within);
        let (mut wrong, mut settled_since) = (String::new(), None);
        while attempts.next().await {
            match self.look().await? {
                None => {
                    let since = *settled_since.get_or_insert_with(|| SystemClock.now());
                    if SystemClock.now().since(since) >= HOLDS_FOR {
                        return Ok(());
                    }
                }
                Some(found) => (wrong, settled_since) = (found, None),
            }
        }
        Err(ClusterError::Unbalanced { wrong, within }.into())
    }

    /// Waits, and keeps the view up to date.
    pub async fn rest(&mut self, span: Duration) -> Result<(), CommandError> {
        let mut attempts = Attempts::new(READ_EVERY, span);
        while attempts.next().await {
            self.look().await?;
        }
        Ok(())
    }

    /// Draws the last frame, and ends all nodes.
    pub async fn close(&mut self) -> Result<(), CommandError> {
        self.draw().await?;
        self.closed_at = SystemClock.now();
        Ok(self.cluster.stop().await?)
    }

    /// The partitions of the list.
    pub fn partitions(&self) -> impl Iterator<Item = Partition> {
        let lists = self.cluster.plan.lists.iter();
        lists.flat_map(|list| {
            (0..list.partitions).map(|number| Partition { list: list.id.clone(), number })
        })
    }

    async fn look(&mut self) -> Result<Option<String>, CommandError> {
        let wrong = self.cluster.look()?;
        if self.journal.is_due() {
            self.draw().await?;
        }
        Ok(wrong)
    }

    async fn draw(&mut self) -> Result<(), CommandError> {
        if !self.journal.is_live() {
            return Ok(());
        }
        let leader = self.cluster.leader().await?;
        let now = SystemClock.now();
        let scene = Scene {
            elapsed: now.since(self.journal.began),
            began: self.journal.began,
            rows: self.nodes.iter().map(|node| self.row(node, leader.as_ref())).collect(),
            double_owners: Findings::of(&self.cluster.history).doubled.len(),
            entries: &self.journal.entries,
            width: stdout::width().unwrap_or(80).min(100),
        };
        let frame = render(&scene);
        self.journal.draw(&frame);
        Ok(())
    }

    fn row(&self, node: &NodeId, leader: Option<&NodeId>) -> Row {
        let name = node.clone();
        let cells = || self.partitions();
        let Some(place) = self.cluster.place(node) else {
            let cells = cells().map(|_| None).collect();
            return Row { node: name, state: State::Killed, process: None, cells };
        };
        let process = &self.cluster.processes[place];
        let state = match (process.is_draining, self.cluster.history.load(process.id)) {
            (true, 0) => State::Drained,
            (true, _) => State::Draining,
            (false, _) if leader == Some(node) => State::Leads,
            (false, _) => State::Active,
        };
        let now = SystemClock.now();
        let history = &self.cluster.history;
        let cell = |partition: Partition| {
            let work = history.under_way(process.id, &partition)?;
            Some(now.since(work.start) < FRESH_FOR)
        };
        let cells = cells().map(cell).collect();
        Row { node: name, state, process: Some(process.pid()), cells }
    }
}
