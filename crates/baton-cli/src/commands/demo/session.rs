//! The session: the cluster, what happened on it so far, and the view of both.

use std::time::Duration;

use baton::NodeId;
use baton::clock::Moment;
use baton_store::clock::{Clock, SystemClock};

use super::acts::Act;
use super::view::{Scene, render};
use crate::attempts::Attempts;
use crate::cluster::{Cluster, ClusterError, LeaderLease, Signal, Tick};
use crate::error::CommandError;
use crate::output::live::LiveRegion;
use crate::output::{log, stdout};

/// Time between two reads of the store.
const READ_EVERY: Duration = Duration::from_millis(5);

/// Time limit for whatever should happen at once.
pub const WAIT_MAX: Duration = Duration::from_secs(10);

/// Time between two frames of the view.
const FRAME_EVERY: Duration = Duration::from_millis(100);

/// Something that was done or happened.
#[derive(Clone, Debug)]
pub struct Entry {
    pub at: Moment,
    pub until: Option<Moment>,
    pub act: Option<(Act, NodeId)>,
    pub text: String,
}

pub struct Session {
    pub cluster: Cluster,
    pub lease: Duration,
    live: Option<LiveRegion>,
    pub began: Moment,
    drawn_at: Moment,
    pub entries: Vec<Entry>,
    pub paused: Option<NodeId>,
}

impl Session {
    pub fn new(cluster: Cluster, lease: Duration, live: bool) -> Self {
        let now = SystemClock.now();
        let live = live.then(LiveRegion::default);
        let entries = Vec::new();
        Self { cluster, lease, live, began: now, drawn_at: now, entries, paused: None }
    }

    /// Records what happened; without a live view, prints it.
    pub fn note(&mut self, text: &str) {
        self.record(SystemClock.now(), None, text);
    }

    /// Lets a paused node go on.
    pub fn resume(&mut self, node: &NodeId) -> Result<(), CommandError> {
        self.cluster.member(node)?.signal(Signal::CONT)?;
        self.paused = None;
        let is_pause = |entry: &&mut Entry| matches!(entry.act, Some((Act::Pause, _)));
        if let Some(entry) = self.entries.iter_mut().rev().find(is_pause) {
            entry.until = Some(SystemClock.now());
        }
        Ok(())
    }

    /// Records what happened at this moment, or was done to a node.
    pub fn record(&mut self, at: Moment, act: Option<(Act, NodeId)>, text: &str) {
        if self.live.is_none() {
            let seconds = at.since(self.began).as_secs_f64();
            log::info(&format!("{seconds:5.1} s  {text}"));
        }
        self.entries.push(Entry { at, until: None, act, text: text.to_owned() });
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
        if SystemClock.now().since(self.drawn_at) >= FRAME_EVERY {
            self.drawn_at = SystemClock.now();
            self.draw(lead.as_ref())?;
        }
        Ok(lead)
    }

    fn draw(&mut self, lead: Option<&LeaderLease>) -> Result<(), CommandError> {
        let Some(mut live) = self.live.take() else { return Ok(()) };
        let ticks = self.cluster.ticks()?;
        let nodes = self.cluster.members().map(|(node, member)| (node.clone(), member.pid()));
        let scene = Scene {
            elapsed: SystemClock.now().since(self.began),
            began: self.began,
            lease: self.lease,
            lead,
            nodes: nodes.collect(),
            paused: self.paused.as_ref(),
            ticks: &ticks,
            entries: &self.entries,
            width: stdout::width().unwrap_or(80).min(100),
        };
        live.draw(&render(&scene));
        self.live = Some(live);
        Ok(())
    }
}
