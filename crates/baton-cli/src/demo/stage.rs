//! The stage: the cluster, what happened on it so far, and the view of both.

use std::time::Duration;

use baton::clock::Moment;
use baton::{NodeId, Settings};
use baton_store::clock::{Clock, SystemClock};

use super::acts::Act;
use super::view::{Scene, render};
use crate::cluster::{Cluster, ClusterError, Lead, Member, Tick, Ticks};
use crate::error::CommandError;
use crate::look::Looks;
use crate::output::live::Live;
use crate::output::say;

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Between two frames of the view.
const FRAME_EVERY: Duration = Duration::from_millis(100);

/// Something that was done or happened.
#[derive(Clone, Debug)]
pub struct Note {
    /// When.
    pub at: Moment,
    /// An act, and at whom.
    pub deed: Option<(Act, NodeId)>,
    /// In words.
    pub text: String,
}

/// Everything the demo looks at.
pub struct Stage {
    cluster: Cluster,
    settings: Settings,
    live: Option<Live>,
    /// When the demo began.
    pub began: Moment,
    drawn_at: Moment,
    /// What happened so far.
    pub notes: Vec<Note>,
    /// Who is paused at present.
    pub paused: Option<NodeId>,
}

impl Stage {
    pub fn new(cluster: Cluster, settings: Settings, live: bool) -> Self {
        let now = SystemClock.now();
        let live = live.then(Live::default);
        let notes = Vec::new();
        Self { cluster, settings, live, began: now, drawn_at: now, notes, paused: None }
    }

    pub fn lease(&self) -> Duration {
        self.settings.lease_timeout
    }

    pub fn ticks(&self) -> Result<Ticks, CommandError> {
        Ok(self.cluster.ticks()?)
    }

    pub fn start(&mut self, node: &NodeId) -> Result<(), CommandError> {
        Ok(self.cluster.start(node)?)
    }

    pub fn member(&mut self, node: &NodeId) -> Result<&mut Member, CommandError> {
        Ok(self.cluster.member(node)?)
    }

    pub async fn ask_to_resign(&self, lead: &Lead) -> Result<(), CommandError> {
        Ok(self.cluster.ask_to_resign(lead).await?)
    }

    /// Writes down what happened; on anything but a terminal, says it.
    pub fn note(&mut self, deed: Option<(Act, &NodeId)>, text: &str) {
        let at = SystemClock.now();
        let deed = deed.map(|(act, node)| (act, node.clone()));
        if self.live.is_none() {
            let seconds = at.since(self.began).as_secs_f64();
            say::aside(&format!("{seconds:5.1} s  {text}"));
        }
        self.notes.push(Note { at, deed, text: text.to_owned() });
    }

    /// Waits until somebody leads.
    pub async fn leader(&mut self, patience: Duration) -> Result<Lead, CommandError> {
        self.awaited("a leader", patience, async |_, lead| Ok(lead)).await
    }

    /// Waits for a job of a later epoch than this one.
    pub async fn until_term(
        &mut self,
        after: Moment,
        beyond: u64,
        patience: Duration,
    ) -> Result<Tick, CommandError> {
        let look =
            async |cluster: &Cluster, _| Ok(cluster.ticks()?.first_beyond(after, beyond).cloned());
        self.awaited("another term's job", patience, look).await
    }

    /// Waits until the leader knows this many nodes.
    pub async fn until_gathered(
        &mut self,
        count: usize,
        patience: Duration,
    ) -> Result<(), CommandError> {
        let look =
            async |cluster: &Cluster, _| Ok((cluster.in_view().await? >= count).then_some(()));
        self.awaited("all nodes in the view", patience, look).await
    }

    /// Lets time pass, with the view going on.
    pub async fn rest(&mut self, span: Duration) -> Result<(), CommandError> {
        let until = SystemClock.now() + span;
        while SystemClock.now() < until {
            self.look().await?;
            SystemClock.sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    /// Ends all nodes, and draws the last frame.
    pub async fn close(&mut self) -> Result<(), CommandError> {
        let lead = self.cluster.lead().await?;
        self.draw(lead.as_ref())?;
        Ok(self.cluster.stop().await?)
    }

    /// Looks until something is found, with the view going on.
    async fn awaited<T>(
        &mut self,
        what: &'static str,
        patience: Duration,
        look: impl AsyncFn(&Cluster, Option<Lead>) -> Result<Option<T>, ClusterError>,
    ) -> Result<T, CommandError> {
        let mut looks = Looks::new(LOOK_EVERY, patience);
        while looks.again().await {
            let lead = self.look().await?;
            if let Some(found) = look(&self.cluster, lead).await? {
                return Ok(found);
            }
        }
        Err(ClusterError::Waited { what, patience }.into())
    }

    async fn look(&mut self) -> Result<Option<Lead>, CommandError> {
        let lead = self.cluster.lead().await?;
        if SystemClock.now().since(self.drawn_at) >= FRAME_EVERY {
            self.drawn_at = SystemClock.now();
            self.draw(lead.as_ref())?;
        }
        Ok(lead)
    }

    fn draw(&mut self, lead: Option<&Lead>) -> Result<(), CommandError> {
        let Some(mut live) = self.live.take() else { return Ok(()) };
        let ticks = self.ticks()?;
        let nodes = self.cluster.members().map(|(node, member)| (node.clone(), member.pid()));
        let scene = Scene {
            elapsed: SystemClock.now().since(self.began),
            began: self.began,
            lease: self.lease(),
            lead,
            nodes: nodes.collect(),
            paused: self.paused.as_ref(),
            ticks: &ticks,
            notes: &self.notes,
            width: say::width().unwrap_or(80).min(100),
        };
        live.draw(&render(&scene));
        self.live = Some(live);
        Ok(())
    }
}
