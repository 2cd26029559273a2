//! The session: the cluster, what happened on it so far, and the view of both.

use std::time::Duration;

use baton::NodeId;
use baton::clock::Moment;
use baton_store::clock::{Clock, SystemClock};

use super::acts::Act;
use super::journal::{Entry, Journal};
use super::view::{Scene, render};
use crate::attempts::Attempts;
use crate::cluster::{Cluster, ClusterError, LeaderLease, Signal, Tick};
use crate::error::CommandError;
use crate::output::stdout;

/// Time between two reads of the store.
const READ_EVERY: Duration = Duration::from_millis(5);

/// Time limit for whatever should happen at once.
pub const WAIT_MAX: Duration = Duration::from_secs(10);

/// The cluster, and what was done to it.
pub struct Session {
    pub cluster: Cluster,
    pub lease: Duration,
    pub journal: Journal<Act>,
    pub paused: Option<NodeId>,
}

impl Session {
    pub fn new(cluster: Cluster, lease: Duration, live: bool) -> Self {
        Self { cluster, lease, journal: Journal::new(live), paused: None }
    }

    /// Lets a paused node go on.
    pub fn resume(&mut self, node: &NodeId) -> Result<(), CommandError> {
        self.cluster.member(node)?.signal(Signal::CONT)?;
        self.paused = None;
        let is_pause = |entry: &&mut Entry<Act>| matches!(entry.act, Some((Act::Pause, _)));
        if let Some(entry) = self.journal.entries.iter_mut().rev().find(is_pause) {
            entry.until = Some(SystemClock.now());
        }
        Ok(())
    }

    /// Waits until a node leads.
    pub async fn leader(&mut self) -> Result<LeaderLease, CommandError> {
        self.awaited("a leader", WAIT_MAX, async |_, lead| Ok(lead)).await
    }

    /// Waits for the first tick after this moment in a later epoch than this one.
    pub async fn until_term(
        &mut self,
        after: Moment,
        beyond: u64,
        limit: Duration,
    ) -> Result<Tick, CommandError> {
        let look =
            async |cluster: &Cluster, _| Ok(cluster.ticks()?.first_beyond(after, beyond).cloned());
        self.awaited("a tick of the next term", limit, look).await
    }

    /// Waits until the leader knows this many nodes.
    pub async fn until_gathered(&mut self, count: usize) -> Result<(), CommandError> {
        let look =
            async |cluster: &Cluster, _| Ok((cluster.in_view().await? >= count).then_some(()));
        self.awaited("a view with all nodes", WAIT_MAX, look).await
    }

    /// Waits, and keeps the view up to date.
    pub async fn rest(&mut self, span: Duration) -> Result<(), CommandError> {
        let until = SystemClock.now() + span;
        while SystemClock.now() < until {
            self.look().await?;
            SystemClock.sleep(READ_EVERY).await;
        }
        Ok(())
    }

    /// Ends all nodes, and draws the last frame.
    pub async fn close(&mut self) -> Result<(), CommandError> {
        let lead = self.cluster.leader().await?;
        self.draw(lead.as_ref())?;
        Ok(self.cluster.stop().await?)
    }

    /// Looks until something is found, and keeps the view up to date.
    async fn awaited<T>(
        &mut self,
        what: &'static str,
        limit: Duration,
        look: impl AsyncFn(&Cluster, Option<LeaderLease>) -> Result<Option<T>, ClusterError>,
    ) -> Result<T, CommandError> {
        let mut attempts = Attempts::new(READ_EVERY, limit);
        while attempts.next().await {
            let lead = self.look().await?;
            if let Some(found) = look(&self.cluster, lead).await? {
                return Ok(found);
            }
        }
        Err(ClusterError::TimedOut { what, limit }.into())
    }

    async fn look(&mut self) -> Result<Option<LeaderLease>, CommandError> {
        let lead = self.cluster.leader().await?;
        if self.journal.is_due() {
            self.draw(lead.as_ref())?;
        }
        Ok(lead)
    }

    fn draw(&mut self, lead: Option<&LeaderLease>) -> Result<(), CommandError> {
        if !self.journal.is_live() {
            return Ok(());
        }
        let ticks = self.cluster.ticks()?;
        let nodes = self.cluster.members().map(|(node, member)| (node.clone(), member.pid()));
        let scene = Scene {
            elapsed: SystemClock.now().since(self.journal.began),
            began: self.journal.began,
            lease: self.lease,
            lead,
            nodes: nodes.collect(),
            paused: self.paused.as_ref(),
            ticks: &ticks,
            entries: &self.journal.entries,
            width: stdout::width().unwrap_or(80).min(100),
        };
        let frame = render(&scene);
        self.journal.draw(&frame);
        Ok(())
    }
}
