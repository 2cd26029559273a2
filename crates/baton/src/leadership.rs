//! Leadership: what a leader holds while its term lasts.

use std::sync::Arc;
use std::time::Duration;

use baton_core::DemotionReason;
use baton_core::ids::Epoch;
use baton_store::{Document, Precondition, Prune, PruneOutcome, StoreError, WriteOutcome};
use tokio_util::sync::CancellationToken;

use crate::clock::{self, Moment, Window};
use crate::plugin::PluginState;
use crate::shared::Shared;
use crate::term::{Hold, Term};

/// The right to lead, for as long as the term lasts.
///
/// While any clone of it exists, the node does not count the term as stopped and does not release
/// the lease: drop it when the work has ended. Work that goes on after [`Leadership::lost`] keeps
/// the next leader waiting until the lease runs out.
#[derive(Clone)]
pub struct Leadership {
    hold: Hold,
    /// The node that holds it, for the plugins that come with baton.
    pub(crate) shared: Arc<Shared>,
}

impl Leadership {
    pub(crate) fn take(term: &Arc<Term>, shared: &Arc<Shared>) -> Option<Self> {
        Some(Self { hold: Hold::take(term)?, shared: shared.clone() })
    }

    /// The number of the term. Every write that must not follow a later leader's carries it.
    pub fn epoch(&self) -> Epoch {
        self.hold.0.epoch
    }

    /// How long the store keeps the lease for a silent holder: the setting `lease_timeout`. A write
    /// that takes longer may hold up the next leader; see `Fence::within` of the drivers.
    pub fn lease_timeout(&self) -> Duration {
        self.shared.settings.lease_timeout
    }

    /// Whether the term may act now, computed from the clock at each call.
    pub fn is_leader(&self) -> bool {
        self.hold.0.is_open(clock::now())
    }

    /// Whether the term may start something new now. False from the soft deadline on.
    pub fn may_start_work(&self) -> bool {
        self.hold.0.may_start(clock::now())
    }

    /// Until when the term may act, on the clock of [`clock::now`]. Each renewal moves it.
    pub fn deadline(&self) -> Moment {
        self.hold.0.window().hard
    }

    /// How long the term may still act, if no renewal comes: zero once it is over, and from when it
    /// is told to stop.
    pub fn time_left(&self) -> Duration {
        if !self.is_leader() {
            return Duration::ZERO;
        }
        self.deadline().since(clock::now())
    }

    /// Until when the term may start something new: `stop_grace` before the
    /// [deadline](Self::deadline).
    pub fn soft_deadline(&self) -> Moment {
        self.hold.0.window().soft
    }

    /// Waits until a renewal has moved the [deadline](Self::deadline) beyond `known`. Cancel safe.
    pub async fn renewed(&self, known: Moment) -> Window {
        self.hold.0.extended_beyond(known).await
    }

    /// Both deadlines, soft and hard.
    pub fn window(&self) -> Window {
        self.hold.0.window()
    }

    /// Waits until the term is told to stop, and returns the reason. Cancel safe.
    pub async fn lost(&self) -> DemotionReason {
        self.hold.0.ended().await.reason
    }

    /// A token that is cancelled when the term is told to stop, for tasks and libraries that take
    /// one. It is a child of the term's: to cancel it stops what it was given to, and nothing else.
    ///
    /// A token does not hold the term. A task that must have ended before the lease is released
    /// needs a clone of the `Leadership` too.
    #[must_use]
    pub fn token(&self) -> CancellationToken {
        self.hold.0.life.token.child_token()
    }

    /// When all work of the term must have stopped: the deadline, or `stop_grace` after the term
    /// was told to stop if that is sooner.
    pub fn stop_by(&self) -> Moment {
        self.hold.0.stop_by()
    }

    /// Gives leadership up: work is told to stop, and the lease is released once it has. Does
    /// nothing when the term is over already; the next term of this node is not affected.
    pub fn resign(&self) {
        if !self.hold.0.has_ended() {
            self.shared.command(baton_core::Command::Resign);
        }
    }

    /// The state that the plugin of this name keeps from one term to the next.
    pub fn state(&self, plugin: &str) -> PluginState<'_> {
        PluginState { term: self, plugin: plugin.to_owned() }
    }

    /// Reads a document of the namespace.
    pub async fn read_document(&self, name: &str) -> Result<Option<Document>, StoreError> {
        self.shared.store.read_document(&self.shared.namespace, name).await
    }

    /// Writes a document, unless a later epoch exists: then the outcome is
    /// [`WriteOutcome::Fenced`].
    pub async fn write_document(
        &self,
        name: &str,
        body: Vec<u8>,
        precondition: Precondition,
    ) -> Result<WriteOutcome, StoreError> {
        let fence = Some(self.epoch());
        let namespace = &self.shared.namespace;
        self.shared.store.write_document(namespace, name, body, precondition, fence).await
    }

    /// Removes old records of the namespace, unless a later epoch exists.
    pub async fn prune(&self, prune: Prune) -> Result<PruneOutcome, StoreError> {
        self.shared.store.prune(&self.shared.namespace, self.epoch(), prune).await
    }
}

impl std::fmt::Debug for Leadership {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Leadership").field("epoch", &self.epoch()).finish_non_exhaustive()
    }
}
