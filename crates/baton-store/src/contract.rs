//! The contract between baton and a store.

use std::sync::Arc;

use async_trait::async_trait;
use baton_core::ids::{BootId, Epoch, Lineage, Namespace, NodeId};
use baton_core::protocol::{
    Ask, BeatReply, BeatRequest, Hint, LeaseSnapshot, Member, Outcome, Release, Reply, Request,
    TermRecord, View,
};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use crate::call::{Answer, Call};
use crate::capability::Declaration;
use crate::counters::{CounterAnswer, CounterCall};
use crate::document::{Document, Precondition, WriteOutcome};
use crate::error::StoreError;
use crate::finding::Finding;
use crate::prune::{Prune, PruneOutcome};

/// Hints as they come. Bounded: when nobody listens, the oldest are lost, which hints may be.
pub type HintStream = mpsc::Receiver<Hint>;

/// A namespace as it stands, for people and programs that take no part in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inspection {
    /// The lease; `None` if the namespace never had one.
    pub lease: Option<LeaseSnapshot>,
    /// Which line of history the store's data belongs to now.
    pub lineage: Lineage,
    /// The published view, if there is one.
    pub view: Option<Arc<View>>,
}

/// A store that baton can lead through. A driver writes `declaration`, `call`, `hints`
/// and `examine`; the other methods are the calls by name, and the same for every store.
///
/// # Contract
///
/// 1. **One step.** Every call is one atomic step: all of it happens or nothing does, and the
///    answer is of the call's kind. A beat is one round trip.
/// 2. **The lease record is never deleted.** Release clears the holder and keeps the epoch.
/// 3. **Acquire** is applied only if the record is at the expected version, the store is in the
///    expected lineage, and the claim holds: vacant; or expired by the declared clock; or held by
///    the boot that is named dead. The new epoch is max(stored + leap, floor, fence) + 1:
///    the fence is the highest epoch that a write carried (7.), the leap [`Epoch::LEAP`] for every
///    lineage that the data began since the last grant, or, if there was none, since the namespace
///    was first written to. So the same old copy, back for the second time, does not grant what it
///    granted the first time. The term history closes the last term and opens the new one in the
///    same step.
/// 4. **Renew** is applied only if the record is at the expected version, the store in the expected
///    lineage, and the lease not expired by the declared clock, even if nobody else took it. The
///    epoch stays.
/// 5. **Whoever loses learns why:** a `Conflict` comes with the record as it is, and changes
///    nothing, neither the expiry nor anything else.
/// 6. **A node record** is written if there is none, or it is the same boot's, or the boot's that
///    `replaces` names. Otherwise the beat is refused whole, lease included. A beat that only looks
///    may say that its record can wait: then one that is there already may stay as it is.
/// 7. **Fences:** a view or document that carries an epoch is refused once a later one was granted,
///    or was carried by a write that took place.
///    An epoch above [`Epoch::MAX`] is refused ([`Call::check`]) and raises nothing; a lease above
///    it is an error ([`Answer::check`]), so that no epoch is ever granted twice.
/// 8. **Unknown is said.** An error that is not certain to have written nothing is
///    [`StoreError::Unknown`]. A driver never repeats a write by itself.
/// 9. **Hints** may be lost, doubled, late or out of order. A store that pushes sends `Released`
///    with the version left behind after a release, `Asked` after an ask, `ViewMoved` after a view.
/// 10. **What is not declared is refused**, not imitated.
/// 11. **Death.** A store that declares [`DeathProof`] holds the lease of a process that it knows
///     to be gone for expired and its node record for free, and does not show it as a successor
///     that was named. It refuses a claim that a process is dead while it sees that process alive.
///     It knows by something that the kernel or a server ends together with the process; a
///     connection that closed or a silence proves nothing.
/// 12. **An inspection** shows and changes nothing: whoever only looks is not registered.
/// 13. **Counters,** where they are declared. An append is in whole or not at all, and changes
///     nothing if the writer has appended that number or a higher one. An append that was answered
///     before another was sent comes before it. A consolidation applies each change exactly once,
///     in that order, however many run at once and however they end; a change whose append is still
///     under way is found by a later one. A value that 64 bits do not hold is kept at the nearest
///     that they do, and marked until the counter is set; a store may judge that change by change
///     or once a step. Appends lock nothing that a beat, a grant or another writer needs.
/// 14. **A prune** carries an epoch like every write (7.), removes at most as many records as it is
///     told to, never the record of a node that beat within the time given, and never the newest
///     term.
///
/// [`DeathProof`]: crate::Capability::DeathProof
#[async_trait]
pub trait Store: Send + Sync {
    /// What the store says of itself.
    fn declaration(&self) -> Declaration;

    /// Takes one step in a namespace.
    async fn call(&self, namespace: &Namespace, call: Call) -> Result<Answer, StoreError>;

    /// Subscribes to hints. Refused by a store that does not declare [`Push`].
    ///
    /// [`Push`]: crate::Capability::Push
    async fn hints(&self, namespace: &Namespace) -> Result<HintStream, StoreError>;

    /// Looks at the server behind the store: its version, this user's rights, and every setting
    /// that would weaken a promise, each with its remedy. Changes nothing.
    async fn examine(&self) -> Result<Vec<Finding>, StoreError>;

    /// Refreshes the node record, acts on the lease, and brings a newer view if there is one.
    async fn beat(
        &self,
        namespace: &Namespace,
        beat: BeatRequest,
    ) -> Result<BeatReply, StoreError> {
        match self.call(namespace, Call::Core(Request::Beat(beat))).await? {
            Answer::Core(Reply::Beat(reply)) => Ok(reply),
            other => not_in_kind(&other),
        }
    }

    /// The lease and the view, without taking part.
    async fn inspect(&self, namespace: &Namespace) -> Result<Inspection, StoreError> {
        match self.call(namespace, Call::Inspect).await? {
            Answer::Inspected(inspection) => Ok(inspection),
            other => not_in_kind(&other),
        }
    }

    /// Every node record.
    async fn members(&self, namespace: &Namespace) -> Result<Vec<Member>, StoreError> {
        match self.call(namespace, Call::Core(Request::ReadMembers)).await? {
            Answer::Core(Reply::Members(members)) => Ok(members),
            other => not_in_kind(&other),
        }
    }

    /// Publishes a view, fenced by `fence`; within an epoch only a higher number replaces one.
    async fn publish_view(
        &self,
        namespace: &Namespace,
        fence: Epoch,
        view: Arc<View>,
    ) -> Result<Outcome, StoreError> {
        let request = Request::PublishView { fence, view };
        self.call(namespace, Call::Core(request)).await.map(outcome)
    }

    /// Gives the lease up.
    async fn release(
        &self,
        namespace: &Namespace,
        release: Release,
    ) -> Result<Outcome, StoreError> {
        self.call(namespace, Call::Core(Request::Release(release))).await.map(outcome)
    }

    /// Takes a node's record out, if it is still this boot's.
    async fn leave(
        &self,
        namespace: &Namespace,
        node: &NodeId,
        boot: BootId,
    ) -> Result<Outcome, StoreError> {
        let request = Request::Leave { node: node.clone(), boot };
        self.call(namespace, Call::Core(request)).await.map(outcome)
    }

    /// Leaves a request to the holder of this epoch beside the lease.
    async fn ask(
        &self,
        namespace: &Namespace,
        epoch: Epoch,
        ask: Ask,
    ) -> Result<Outcome, StoreError> {
        let request = Request::Ask { epoch, ask };
        self.call(namespace, Call::Core(request)).await.map(outcome)
    }

    /// Reads a document.
    async fn read_document(
        &self,
        namespace: &Namespace,
        name: &str,
    ) -> Result<Option<Document>, StoreError> {
        match self.call(namespace, Call::ReadDocument { name: name.to_owned() }).await? {
            Answer::Document(document) => Ok(document),
            other => not_in_kind(&other),
        }
    }

    /// Writes a document, fenced if an epoch is given.
    async fn write_document(
        &self,
        namespace: &Namespace,
        name: &str,
        body: Vec<u8>,
        precondition: Precondition,
        fence: Option<Epoch>,
    ) -> Result<WriteOutcome, StoreError> {
        let call = Call::WriteDocument { name: name.to_owned(), body, precondition, fence };
        match self.call(namespace, call).await? {
            Answer::Written(outcome) => Ok(outcome),
            other => not_in_kind(&other),
        }
    }

    /// Counts. Refused by a store that does not declare [`Counters`].
    ///
    /// [`Counters`]: crate::Capability::Counters
    async fn counters(
        &self,
        namespace: &Namespace,
        call: CounterCall,
    ) -> Result<CounterAnswer, StoreError> {
        match self.call(namespace, Call::Counters(call)).await? {
            Answer::Counters(answer) => Ok(answer),
            other => not_in_kind(&other),
        }
    }

    /// The last terms, the newest first, at most `limit`.
    async fn history(
        &self,
        namespace: &Namespace,
        limit: usize,
    ) -> Result<Vec<TermRecord>, StoreError> {
        match self.call(namespace, Call::History { limit }).await? {
            Answer::History(terms) => Ok(terms),
            other => not_in_kind(&other),
        }
    }

    /// Lets old records go, fenced by `fence`.
    async fn prune(
        &self,
        namespace: &Namespace,
        fence: Epoch,
        prune: Prune,
    ) -> Result<PruneOutcome, StoreError> {
        match self.call(namespace, Call::Prune { fence, prune }).await? {
            Answer::Pruned(outcome) => Ok(outcome),
            other => not_in_kind(&other),
        }
    }
}

fn outcome(answer: Answer) -> Outcome {
    match answer {
        Answer::Core(Reply::Done(outcome)) => outcome,
        other => not_in_kind(&other),
    }
}

fn not_in_kind(answer: &Answer) -> ! {
    unreachable!("a store answers a call in kind, and this is not: {answer:?}")
}
