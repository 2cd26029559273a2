//! A node: the handle that an application holds.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use baton_core::ids::{BootId, Epoch, InvalidName, Namespace, NodeId};
use baton_core::protocol::View;
use baton_core::settings::Settings;
use baton_core::time::Moment;
use baton_core::{BreakerStatus, Command, MetricsReport};
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Store, StoreError};

use crate::builder::{HostChoice, NodeBuilder};
use crate::drive::Host;
use crate::error::{BuildError, LeftError};
use crate::event::Events;
use crate::fence_register::FenceRegister;
use crate::leadership::Leadership;
use crate::lifeline::{Lifeline, LifelineConfig};
#[cfg(feature = "http")]
use crate::observe::http::Endpoint;
use crate::plugin::{Plugin, PluginReport};
use crate::plugins::counters::Counters;
use crate::service::{Service, ServiceHandle};
use crate::shared::Shared;

/// How a node's membership ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Departure {
    /// The node left because it was asked to.
    Left,
    /// Another live process has the node's id: this one never took part.
    IdTaken {
        /// The other process.
        by: BootId,
    },
    /// A newer process took over the node's id while this one was silent.
    Superseded {
        /// The other process.
        by: BootId,
    },
    /// The node was asked to leave and had not left in time: its work goes on, or the store does
    /// not answer. Nothing in use was released; the lease runs out by itself.
    Unfinished,
    /// The node's own thread failed, which is a bug in baton. The node takes no part any more.
    Broken,
}

/// A node of a cluster. Clones are handles on the same node.
///
/// When the last handle is dropped the node leaves. The drop does not wait for that: the node's own
/// thread stops the work, releases the lease and ends. A process that ends sooner than that leaves
/// the lease to run out: before the end of `main`, await [`Node::leave`].
#[derive(Clone)]
pub struct Node {
    pub(crate) shared: Arc<Shared>,
    pub(crate) host: Arc<Host>,
    /// Dropped with the last handle.
    pub(crate) _leaves_on_drop: Arc<LeavesOnDrop>,
    /// Dropped after the node has left, and joined then.
    #[cfg(feature = "http")]
    pub(crate) endpoint: Option<Arc<Endpoint>>,
}

impl Node {
    /// A builder of a node that uses this store.
    pub fn builder(store: Arc<dyn Store>) -> NodeBuilder {
        NodeBuilder::on(HostChoice::New { store, lifeline: LifelineConfig::default() })
    }

    /// A builder of a node in another namespace of the same process. It has the same id, settings
    /// and labels unless the builder changes them, and shares the thread, the lifeline, the
    /// connection to the store and the time of the beats.
    pub fn beside<N>(&self, namespace: N) -> NodeBuilder
    where
        N: TryInto<Namespace, Error: Into<InvalidName>>,
    {
        NodeBuilder::beside(self).namespace(namespace)
    }

    /// The address of the HTTP endpoint that serves this node's metrics and health, if there is
    /// one.
    #[cfg(feature = "http")]
    pub fn metrics_endpoint(&self) -> Option<SocketAddr> {
        self.endpoint.as_ref().map(|endpoint| endpoint.address)
    }

    /// The node's name.
    pub fn id(&self) -> &NodeId {
        &self.shared.id
    }

    /// The node's process: another id at each start.
    pub fn boot(&self) -> BootId {
        self.shared.boot
    }

    /// The namespace: the nodes of one namespace elect one leader.
    pub fn namespace(&self) -> &Namespace {
        &self.shared.namespace
    }

    /// The settings that the node runs with.
    pub fn settings(&self) -> Settings {
        (*self.shared.settings).clone()
    }

    /// Whether the store has a record of this process. It has none before the first beat.
    pub fn is_registered(&self) -> bool {
        self.shared.snapshot().is_registered
    }

    /// Whether this node leads now, computed from the clock at each call.
    pub fn is_leader(&self) -> bool {
        self.shared.is_leader()
    }

    /// Whether the node of this id leads now, as far as this node knows.
    pub fn is_led_by(&self, id: &NodeId) -> bool {
        self.shared.snapshot().leader(SystemClock.now()) == Some(id)
    }

    /// The leader, as far as this node knows.
    pub fn leader(&self) -> Option<NodeId> {
        self.shared.snapshot().leader(SystemClock.now()).cloned()
    }

    /// The live nodes in the last view.
    pub fn active_workers(&self) -> Vec<NodeId> {
        self.shared.snapshot().active_workers().cloned().collect()
    }

    /// The last view of the cluster.
    pub fn view(&self) -> Option<Arc<View>> {
        self.shared.snapshot().view.clone()
    }

    /// Counts, and percentiles of the last beats.
    pub fn metrics(&self) -> MetricsReport {
        self.shared.snapshot().metrics()
    }

    /// The state of the breaker in front of the store.
    pub fn circuit_breaker_status(&self) -> BreakerStatus {
        self.shared.snapshot().breaker
    }

    /// The last error of the store, for people.
    pub fn last_store_error(&self) -> Option<StoreError> {
        self.shared.store_error.lock().expect("no holder panics").clone()
    }

    /// Whether a task of this epoch, which was created in this process at `created_at`, may still
    /// be accepted.
    pub fn is_epoch_valid(&self, epoch: Epoch, created_at: Moment) -> bool {
        self.shared.fence().is_valid(SystemClock.now(), epoch, created_at)
    }

    /// The node's events from now on, as a stream. [`NodeBuilder::build_with_events`] has them from
    /// the first on.
    pub fn events(&self) -> Events {
        self.shared.events.subscribe()
    }

    /// Waits until this node leads, and returns the right to lead. Cancel safe.
    pub async fn leadership(&self) -> Result<Leadership, LeftError> {
        let mut term = self.shared.term.subscribe();
        loop {
            let running = term.borrow_and_update().clone();
            let held = running.and_then(|term| Leadership::take(&term, &self.shared));
            if let Some(leadership) = held.filter(Leadership::may_start_work) {
                return Ok(leadership);
            }
            tokio::select! {
                biased;
                changed = term.changed() => changed.map_err(|_| LeftError)?,
                _ = self.shared.left() => return Err(LeftError),
            }
        }
    }

    /// Adds a plugin to the running node. If this node leads, the plugin starts at once.
    pub fn add_plugin(&self, plugin: impl Plugin) -> Result<(), BuildError> {
        self.shared.plugins.add(Arc::new(plugin))
    }

    /// Adds a service to the running node. It starts at once.
    pub fn add_service(&self, service: impl Service) -> Result<ServiceHandle, BuildError> {
        let service = self.shared.plugins.add_service(Arc::new(service))?;
        Ok(ServiceHandle { service, shared: self.shared.clone() })
    }

    /// What this node's plugins and services did since it started, in the order they were added,
    /// plugins first.
    pub fn plugins(&self) -> Vec<PluginReport> {
        self.shared.plugins.reports()
    }

    /// The register that fences writes to a resource which baton does not keep.
    pub fn fence_register(&self, resource: &str) -> FenceRegister {
        FenceRegister::new(self.shared.store.clone(), self.shared.namespace.clone(), resource)
    }

    /// A handle on the namespace's counters, with a writer of its own: keep it, and clone it. They
    /// are consolidated by a leader that has the [`CountersPlugin`].
    ///
    /// [`CountersPlugin`]: crate::plugins::counters::CountersPlugin
    pub fn counters(&self) -> Counters {
        Counters::new(self.shared.store.clone(), self.shared.namespace.clone())
    }

    /// Gives leadership up, if this node has it, and stays a candidate.
    pub fn resign(&self) {
        self.shared.command(Command::Resign);
    }

    /// Asks the leader to hand leadership to a named node; works on any node. A refusal is an
    /// event at the leader. [`Node::transfer_and_wait`] returns the outcome.
    pub fn transfer(&self, to: NodeId) {
        self.shared.command(Command::Transfer { to });
    }

    /// Asks for an election if there is no leader; with `force`, even if there is one.
    pub fn ensure_coordinator(&self, force: bool, desired: Option<NodeId>) {
        self.shared.command(Command::EnsureCoordinator { force, desired });
    }

    /// Sets whether this node may lead.
    pub fn set_eligible(&self, eligible: bool) {
        self.shared.command(Command::SetEligible(eligible));
    }

    /// Sets whether this node is fit to lead. A node that is not hands over and does not stand for
    /// election.
    pub fn set_healthy(&self, healthy: bool) {
        self.shared.command(Command::SetHealthy(healthy));
    }

    /// Sets whether this node is about to go. A node that is hands over and does not stand for
    /// election.
    pub fn set_draining(&self, draining: bool) {
        self.shared.command(Command::SetDraining(draining));
    }

    /// Sets the number of jobs that this node has, which each beat publishes.
    pub fn set_load(&self, load: u32) {
        self.shared.command(Command::SetLoad(load));
    }

    /// Leaves: the work stops, the lease is released, and the node's record is removed.
    ///
    /// Returns within `stop_grace` and a second of the first call, with [`Departure::Unfinished`]
    /// if there is still work that ignores its end, or a store that does not answer. Such a node
    /// goes on leaving: it releases the lease once the work has ended, unless the lease runs out
    /// before or the process ends. [`Node::left`] waits for that.
    pub async fn leave(&self) -> Departure {
        let give_up_at = self.shared.ask_to_leave();
        let departure = tokio::select! {
            biased;
            departure = self.shared.left() => departure,
            () = SystemClock.sleep(give_up_at.since(SystemClock.now())) => Departure::Unfinished,
        };
        // The process may end right after this, and log lines that are not written would be lost.
        self.shared.events.logs.flush().await;
        departure
    }

    /// Waits until the node has left, for any reason.
    pub async fn left(&self) -> Departure {
        self.shared.left().await
    }

    /// The address that the lifeline listens on, if there is one.
    pub fn lifeline(&self) -> Option<SocketAddr> {
        self.host.lifeline.as_ref().and_then(|lifeline| lifeline.listener.local_addr().ok())
    }

    /// A duplicate of the lifeline's listening socket. While another process holds it, this process
    /// is not proved dead: for a guard that still has to stop work of the term.
    pub fn lifeline_descriptor(&self) -> std::io::Result<Option<OwnedFd>> {
        self.host.lifeline.as_ref().map(Lifeline::descriptor).transpose()
    }
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Node")
            .field("id", &self.id())
            .field("namespace", &self.namespace())
            .field("is_leader", &self.is_leader())
            .finish_non_exhaustive()
    }
}

/// Asks the node to leave when it is dropped.
pub(crate) struct LeavesOnDrop(pub(crate) Arc<Shared>);

impl Drop for LeavesOnDrop {
    fn drop(&mut self) {
        self.0.ask_to_leave();
    }
}
