//! Moving leadership and waiting for what comes of it.
//!
//! ```text
//!   look at the store ──► would it be refused? ──► Refused, with the reason
//!          │ no
//!          ▼
//!   command to the core ──► events: another term ──► Handover, or WentElsewhere
//!                               └─ none in time ──► NotInTime
//! ```
//!
//! The leader tells at its own node alone what it refuses, so a process that asks from elsewhere
//! looks first. The leader has the last word.

use std::time::Duration;

use baton_core::ids::{Epoch, NodeId};
use baton_core::protocol::{Expiry, LeaseSnapshot};
use baton_core::settings::show_span;
use baton_core::time::Moment;
use baton_core::{Command, Event, TransferRefusal, foresee_refusal};
use baton_store::StoreError;
use baton_store::clock::{Clock, SystemClock};

use crate::error::LeftError;
use crate::event::Events;
use crate::node::Node;

/// Time between two looks at what nobody tells.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Leadership, after somebody asked for it to move or to be there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Handover {
    /// Who led when it was asked.
    pub previous: Option<NodeId>,
    /// Who leads.
    pub leader: NodeId,
    /// In which term.
    pub epoch: Epoch,
}

/// Why leadership did not move as it was to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HandoverError {
    /// Choose another node, or see to this one.
    #[error("{to} {reason}")]
    Refused {
        /// To whom it was to be.
        to: NodeId,
        /// Why not.
        reason: TransferRefusal,
    },
    /// Try again: somebody else was faster.
    #[error("{leader} leads now (epoch {epoch}), not {to}; try again")]
    WentElsewhere {
        /// Who leads.
        leader: NodeId,
        /// In which term.
        epoch: Epoch,
        /// Who was to.
        to: NodeId,
    },
    /// Look who leads: what was asked may still happen.
    #[error("no other term began within {}; what was asked may still happen", show_span(*waited))]
    NotInTime {
        /// How long was waited.
        waited: Duration,
    },
    /// The store did not answer the look. Nothing was asked.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// This node takes no part any more.
    #[error(transparent)]
    Left(#[from] LeftError),
}

impl Node {
    /// Hands leadership to a named node and waits until it leads; works on any node. The named node
    /// may have joined a moment ago: the leader reads the records before it refuses. The plugins of
    /// the named node are told to prepare before the lease is released, if its lifeline can be
    /// reached.
    pub async fn transfer_and_wait(
        &self,
        to: &NodeId,
        patience: Duration,
    ) -> Result<Handover, HandoverError> {
        let mut wait = Wait::new(self, patience);
        let before = wait.acceptable(to).await?;
        wait.ask_for(Command::Transfer { to: to.clone() }, &before).await?;
        wait.next_term(&before, Some(to)).await
    }

    /// Sees to it that there is a leader, and waits for it. With `force` it is of a new term
    /// in any case; with `desired` it is that node.
    pub async fn ensure_coordinator_and_wait(
        &self,
        force: bool,
        desired: Option<&NodeId>,
        patience: Duration,
    ) -> Result<Handover, HandoverError> {
        let mut wait = Wait::new(self, patience);
        let found = wait.look().await?;
        let now = match (found.leads(), force && desired.is_none()) {
            (Some(leader), false) => found.handover(leader),
            _ => {
                let ensure = Command::EnsureCoordinator { force, desired: None };
                wait.ask_for(ensure, &found).await?;
                wait.next_term(&found, None).await?
            }
        };
        match desired.filter(|desired| **desired != now.leader) {
            None => Ok(now),
            Some(desired) => {
                let moved = self.transfer_and_wait(desired, wait.left()).await?;
                Ok(Handover { previous: now.previous, ..moved })
            }
        }
    }
}

/// The lease as it was before something was asked.
struct Before(Option<LeaseSnapshot>);

impl Before {
    fn epoch(&self) -> Epoch {
        self.0.as_ref().map_or(Epoch::NONE, |lease| lease.version.epoch)
    }

    /// Whoever holds a lease that lasts.
    fn leads(&self) -> Option<&NodeId> {
        let lasts = |lease: &&LeaseSnapshot| lease.expiry != Expiry::Left(Duration::ZERO);
        let holder = self.0.as_ref().filter(lasts)?.holder.as_ref()?;
        Some(&holder.node)
    }

    fn handover(&self, leader: &NodeId) -> Handover {
        let previous = Some(leader.clone());
        Handover { previous, leader: leader.clone(), epoch: self.epoch() }
    }
}

/// A wait that ends at a moment.
struct Wait<'a> {
    node: &'a Node,
    events: Events,
    patience: Duration,
    until: Moment,
}

impl<'a> Wait<'a> {
    fn new(node: &'a Node, patience: Duration) -> Self {
        // Whatever happens from now on is heard, also before it is waited for.
        let (events, until) = (node.events(), SystemClock.now() + patience);
        Self { node, events, patience, until }
    }

    fn left(&self) -> Duration {
        self.until.since(SystemClock.now())
    }

    async fn look(&self) -> Result<Before, HandoverError> {
        let shared = &self.node.shared;
        Ok(Before(shared.store.inspect(&shared.namespace).await?.lease))
    }

    /// Looks whether the leader would accept this node.
    async fn acceptable(&self, to: &NodeId) -> Result<Before, HandoverError> {
        let shared = &self.node.shared;
        let lease = self.look().await?.0;
        let members = shared.store.members(&shared.namespace).await?;
        match foresee_refusal(to, lease.as_ref(), &members, &self.node.settings()) {
            None => Ok(Before(lease)),
            Some(reason) => Err(HandoverError::Refused { to: to.clone(), reason }),
        }
    }

    /// Hands the command to the node once it has seen what was looked at: a node that has only just
    /// started knows of no leader yet.
    async fn ask_for(&mut self, command: Command, found: &Before) -> Result<(), HandoverError> {
        while found.leads().is_some() && self.node.leader().as_ref() != found.leads() {
            if self.left().is_zero() {
                return Err(HandoverError::NotInTime { waited: self.patience });
            }
            self.pause().await?;
        }
        self.node.shared.command(command);
        Ok(())
    }

    /// A little while, or until the node has left.
    async fn pause(&self) -> Result<(), HandoverError> {
        tokio::select! {
            biased;
            _ = self.node.left() => Err(LeftError.into()),
            () = SystemClock.sleep(LOOK_EVERY.min(self.left())) => Ok(()),
        }
    }

    /// Waits for a term after the one that was looked at.
    async fn next_term(
        &mut self,
        before: &Before,
        to: Option<&NodeId>,
    ) -> Result<Handover, HandoverError> {
        loop {
            let told = tokio::select! {
                biased;
                told = self.events.next() => told.ok_or(LeftError)?,
                _ = self.node.shared.left() => return Err(LeftError.into()),
                () = SystemClock.sleep(self.until.since(SystemClock.now())) => {
                    return Err(HandoverError::NotInTime { waited: self.patience });
                }
            };
            match (&told.event, to) {
                (Event::TransferRefused { to: refused, reason }, Some(to)) if refused == to => {
                    return Err(HandoverError::Refused { to: to.clone(), reason: *reason });
                }
                (Event::LeaderChanged { new: Some(leader), epoch, .. }, _)
                    if *epoch > before.epoch() =>
                {
                    let (leader, epoch, to) = (leader.clone(), *epoch, to.cloned());
                    return match to.filter(|to| *to != leader) {
                        Some(to) => Err(HandoverError::WentElsewhere { leader, epoch, to }),
                        None => {
                            let previous = before.leads().cloned();
                            Ok(Handover { previous, leader, epoch })
                        }
                    };
                }
                _ => {}
            }
        }
    }
}
