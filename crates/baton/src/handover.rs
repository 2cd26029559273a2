//! Moving leadership, and waiting for the outcome.
//!
//! ```text
//!   look at the store ──► would it be refused? ──► Refused, with the reason
//!          │ no
//!          ▼
//!   command to the core ──► events: another term ──► Handover, or WentElsewhere
//!                               └─ none in time ──► NotInTime
//! ```
//!
//! A refusal is an event at the leader's own node, so a process that asks from elsewhere reads the
//! store first and foresees it. The leader decides.

use std::time::Duration;

use baton_core::ids::{Epoch, NodeId};
use baton_core::protocol::LeaseSnapshot;
use baton_core::settings::show_span;
use baton_core::time::Moment;
use baton_core::{Command, Event, TransferRefusal, foresee_refusal};
use baton_store::StoreError;
use baton_store::clock::{Clock, SystemClock};

use crate::error::LeftError;
use crate::event::Events;
use crate::node::Node;

/// Time between two looks at who leads.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The outcome of a request for another leader, or for one at all.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Handover {
    /// The leader at the time of the request.
    pub previous: Option<NodeId>,
    /// The leader now.
    pub leader: NodeId,
    /// The epoch of its term.
    pub epoch: Epoch,
}

/// Why leadership did not move as requested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HandoverError {
    /// Choose another node, or make this one able to lead.
    #[error("{to} {reason}")]
    Refused {
        /// The node that was to lead.
        to: NodeId,
        /// Why it is refused.
        reason: TransferRefusal,
    },
    /// Try again: another node was faster.
    #[error("{leader} leads now (epoch {epoch}), not {to}; try again")]
    WentElsewhere {
        /// The leader now.
        leader: NodeId,
        /// The epoch of its term.
        epoch: Epoch,
        /// The node that was to lead.
        to: NodeId,
    },
    /// Look who leads: the request may still be carried out.
    #[error(
        "no other term began within {}; the request may still be carried out",
        show_span(*waited)
    )]
    NotInTime {
        /// The time that was waited.
        waited: Duration,
    },
    /// The store could not be read. Nothing was requested.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// This node has left.
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
        timeout: Duration,
    ) -> Result<Handover, HandoverError> {
        let mut wait = HandoverWait::new(self, timeout);
        let before = wait.check_acceptable(to).await?;
        wait.request(Command::Transfer { to: to.clone() }, &before).await?;
        wait.next_term(&before, Some(to)).await
    }

    /// Asks for an election if there is no leader, and waits for one. With `force` there is a new
    /// term in any case; with `desired` that node leads.
    pub async fn ensure_coordinator_and_wait(
        &self,
        force: bool,
        desired: Option<&NodeId>,
        timeout: Duration,
    ) -> Result<Handover, HandoverError> {
        let mut wait = HandoverWait::new(self, timeout);
        let found = wait.read_lease().await?;
        let now = match (found.leader(), force && desired.is_none()) {
            (Some(leader), false) => {
                let (previous, leader) = (Some(leader.clone()), leader.clone());
                Handover { previous, leader, epoch: found.epoch() }
            }
            _ => {
                let ensure = Command::EnsureCoordinator { force, desired: None };
                wait.request(ensure, &found).await?;
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

/// The lease as it was before the request.
struct PriorLease(Option<LeaseSnapshot>);

impl PriorLease {
    fn epoch(&self) -> Epoch {
        self.0.as_ref().map_or(Epoch::NONE, |lease| lease.version.epoch)
    }

    /// The holder of a lease that has not run out.
    fn leader(&self) -> Option<&NodeId> {
        Some(&self.0.as_ref()?.leader()?.node)
    }
}

struct HandoverWait<'a> {
    node: &'a Node,
    events: Events,
    timeout: Duration,
    until: Moment,
}

impl<'a> HandoverWait<'a> {
    fn new(node: &'a Node, timeout: Duration) -> Self {
        // Events from now on are kept, also those before the wait.
        let (events, until) = (node.events(), SystemClock.now() + timeout);
        Self { node, events, timeout, until }
    }

    fn left(&self) -> Duration {
        self.until.since(SystemClock.now())
    }

    async fn read_lease(&self) -> Result<PriorLease, HandoverError> {
        let shared = &self.node.shared;
        Ok(PriorLease(shared.store.inspect(&shared.namespace).await?.lease))
    }

    /// Reads whether the leader would accept this node.
    async fn check_acceptable(&self, to: &NodeId) -> Result<PriorLease, HandoverError> {
        let shared = &self.node.shared;
        let lease = self.read_lease().await?.0;
        let members = shared.store.members(&shared.namespace).await?;
        match foresee_refusal(to, lease.as_ref(), &members, &self.node.settings()) {
            None => Ok(PriorLease(lease)),
            Some(reason) => Err(HandoverError::Refused { to: to.clone(), reason }),
        }
    }

    /// Hands the command to the node once the node knows the leader that was read: a node that has
    /// only just started knows of none.
    async fn request(&mut self, command: Command, found: &PriorLease) -> Result<(), HandoverError> {
        while found.leader().is_some() && self.node.leader().as_ref() != found.leader() {
            if self.left().is_zero() {
                return Err(HandoverError::NotInTime { waited: self.timeout });
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

    async fn next_term(
        &mut self,
        before: &PriorLease,
        to: Option<&NodeId>,
    ) -> Result<Handover, HandoverError> {
        loop {
            let stamped = tokio::select! {
                biased;
                event = self.events.next() => event.ok_or(LeftError)?,
                _ = self.node.shared.left() => return Err(LeftError.into()),
                () = SystemClock.sleep(self.until.since(SystemClock.now())) => {
                    return Err(HandoverError::NotInTime { waited: self.timeout });
                }
            };
            match (&stamped.event, to) {
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
                            let previous = before.leader().cloned();
                            Ok(Handover { previous, leader, epoch })
                        }
                    };
                }
                _ => {}
            }
        }
    }
}
