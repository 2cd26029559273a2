//! A cluster of real processes: started, killed, paused; and what their jobs wrote down.
//!
//! ```text
//!   Cluster ── starts ──► baton run ── guard ── baton tick ──► one log, appended to by every tick
//!      │    or a program with the library in it, which ticks ──► │
//!      │ kill -9, SIGTERM, SIGSTOP, SIGCONT                       │
//!      └── inspects the store: which node leads                   ▼
//!                                         Ticks: doubles, overlaps, gaps, by the ticks' own clock
//! ```
//!
//! For the demo, the tests and the benches. The log is the judge: what a job wrote, it did.
//! Processes that share partitions are in `owners`.

mod error;
mod log_tail;
mod member;
pub mod owners;
mod tick;
mod ticks;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use baton::{Namespace, NodeId, Store};
use baton_core::ids::Nonce;
use baton_core::protocol::{Ask, HandoverKind, Hint, LeaseSnapshot, Outcome};

pub use error::ClusterError;
pub use log_tail::LogTail;
pub use member::Member;
pub use rustix::process::Signal;
pub use tick::{Tick, TickKind, tick_along};
pub use ticks::{Overlap, Ticks};

/// Where and how the processes run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The baton executable.
    pub program: PathBuf,
    /// A folder for the log, and for what the processes write to stderr.
    pub folder: PathBuf,
    /// The store's URL.
    pub store: String,
    /// The namespace.
    pub namespace: Namespace,
    /// How often the job ticks.
    pub every: Duration,
    /// What runs as a member.
    pub body: Body,
}

/// What runs as a member.
#[derive(Clone, Debug)]
pub enum Body {
    /// `baton run` with these flags, and a ticking job as its command.
    Run(Vec<String>),
    /// A program with the library in it. Called with `member --id --namespace --every --log`, it
    /// ticks by itself while it leads, and resigns at SIGUSR1.
    Library(PathBuf),
}

impl Body {
    /// `baton run` with these flags.
    pub fn run(flags: &[&str]) -> Self {
        Self::Run(flags.iter().map(|flag| (*flag).to_owned()).collect())
    }
}

/// Several processes that tick while they lead. Dropping it kills whatever still runs.
pub struct Cluster {
    /// How it runs.
    pub plan: Plan,
    /// The store, to look at and to ask.
    pub store: Arc<dyn Store>,
    members: BTreeMap<NodeId, Member>,
    routes: BTreeMap<NodeId, String>,
}

/// The leader and its lease, as the store shows them.
#[derive(Clone, Debug)]
pub struct LeaderLease {
    /// The node.
    pub node: NodeId,
    /// The whole record.
    pub lease: LeaseSnapshot,
}

impl Cluster {
    /// A cluster without members.
    pub async fn new(plan: Plan) -> Result<Self, ClusterError> {
        let store = baton_drivers::open(&plan.store).await?;
        Ok(Self { plan, store, members: BTreeMap::new(), routes: BTreeMap::new() })
    }

    /// From its next start on, this node opens the store by a URL of its own: a proxy in between
    /// may do to this node's connections what is not done to the others'.
    pub fn route(&mut self, name: &NodeId, url: String) {
        self.routes.insert(name.clone(), url);
    }

    /// Starts a node. One of the same name must have ended.
    pub fn start(&mut self, name: &NodeId) -> Result<(), ClusterError> {
        let url = self.routes.get(name).unwrap_or(&self.plan.store);
        let member = Member::start(&self.plan, name, url)?;
        self.members.insert(name.clone(), member);
        Ok(())
    }

    /// A member that runs, or did.
    pub fn member(&mut self, name: &NodeId) -> Result<&mut Member, ClusterError> {
        self.members.get_mut(name).ok_or_else(|| ClusterError::NoMember(name.clone()))
    }

    /// Every member.
    pub fn members(&self) -> impl Iterator<Item = (&NodeId, &Member)> {
        self.members.iter()
    }

    /// The present leader.
    pub async fn leader(&self) -> Result<Option<LeaderLease>, ClusterError> {
        let shown = self.store.inspect(&self.plan.namespace).await?;
        Ok(shown.lease.and_then(|lease| {
            let node = lease.leader()?.node.clone();
            Some(LeaderLease { node, lease })
        }))
    }

    /// What the jobs wrote so far.
    pub fn ticks(&self) -> Result<Ticks, ClusterError> {
        Ticks::read(&self.log())
    }

    /// The jobs' log.
    pub fn log(&self) -> PathBuf {
        log_in(&self.plan.folder)
    }

    /// How many nodes the present leader's view has.
    pub async fn in_view(&self) -> Result<usize, ClusterError> {
        let shown = self.store.inspect(&self.plan.namespace).await?;
        let epoch = shown.lease.as_ref().map(|lease| lease.version.epoch);
        let current = shown.view.filter(|view| Some(view.version.epoch) == epoch);
        Ok(current.map_or(0, |view| view.members.len()))
    }

    /// Asks the leader to resign: the request beside the lease, the nudge over its lifeline.
    pub async fn ask_to_resign(&self, lead: &LeaderLease) -> Result<(), ClusterError> {
        let nonce = Nonce { boot: baton::fresh_boot()?, attempt: 1 };
        let ask = Ask { nonce, wish: HandoverKind::Resign };
        let (namespace, epoch) = (&self.plan.namespace, lead.lease.version.epoch);
        if self.store.ask(namespace, epoch, ask).await? != Outcome::Applied {
            return Err(ClusterError::Overtaken { node: lead.node.clone(), epoch: epoch.0 });
        }
        let holder = lead.lease.holder.as_ref();
        if let Some(address) = holder.and_then(|holder| holder.lifeline.as_ref()) {
            // A lost nudge only makes it slower.
            let _ = baton::lifeline::send_hint(address, namespace, &Hint::Asked).await;
        }
        Ok(())
    }

    /// Asks every member to end, and waits for it.
    pub async fn stop(&mut self) -> Result<(), ClusterError> {
        for member in self.members.values_mut() {
            member.signal(Signal::CONT)?;
            member.signal(Signal::TERM)?;
        }
        for member in self.members.values_mut() {
            member.ended().await?;
        }
        Ok(())
    }
}

fn log_in(folder: &Path) -> PathBuf {
    folder.join("ticks.log")
}
