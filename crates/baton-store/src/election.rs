//! The contract of the stores that baton leads through: its operations, each declared once.

use std::sync::Arc;

use baton_core::ids::{BootId, Epoch, Lineage, Namespace, NodeId};
use baton_core::protocol::{
    Ask, BeatReply, BeatRequest, Hint, LeaseIntent, LeaseSnapshot, Member, Outcome, Release, Reply,
    Request, TermRecord, View,
};
use serde::{Deserialize, Serialize};

use crate::capability::{Capability, Declaration};
use crate::contract::Contract;
use crate::counters::{CounterAnswer, CounterCall};
use crate::document::{
    BatchOutcome, Document, DocumentWrite, Precondition, WriteOutcome, check_read, check_write,
};
use crate::error::StoreError;
use crate::operation::Operation;
use crate::prune::{Prune, PruneOutcome};
use crate::{methods, operations};

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

operations! {
    /// What a store can be asked.
    #[expect(clippy::large_enum_variant, reason = "beats are nearly all of the traffic")]
    pub enum Call;

    /// The answer, of the same kind as the call.
    pub enum Answer {}

    families {
        /// What the core asks for.
        Core(Request) -> Core(Reply),
        /// What can be asked about counters.
        Counters(CounterCall) -> Counters(CounterAnswer),
    }

    reads {
        /// Shows the lease and the view.
        Inspect "inspect" -> Inspected(Inspection) or Answer::Inspected(Inspection {
            lease: None,
            lineage: Lineage(0),
            view: None,
        }),
        /// Reads documents, all at one moment.
        ReadDocuments "read-documents" {
            /// Their names, each once, at most [`DOCUMENTS_MAX`](crate::DOCUMENTS_MAX).
            names: Vec<String>,
        } checked by check_read(names)
            -> /** In the order of the names. */ Documents(Vec<Option<Document>>)
            given names or Answer::Documents(vec![None; names.len()]),
        /// Reads the last terms.
        History "history" {
            /// The most terms to read.
            limit: usize,
        } -> History(Vec<TermRecord>) or Answer::History(Vec::new()),
        /// Lists the namespaces of the store. The one it is sent in plays no part.
        Namespaces "namespaces" {
            /// Those after this one.
            after: Option<Namespace>,
            /// The most namespaces to list.
            limit: u32,
        } -> Namespaces(Vec<Namespace>) or Answer::Namespaces(Vec::new()),
    }

    writes {
        /// Writes documents, all or none.
        WriteDocuments "write-documents" {
            /// What is written, at most [`DOCUMENTS_MAX`](crate::DOCUMENTS_MAX) documents and
            /// [`DOCUMENT_BYTES_MAX`](crate::DOCUMENT_BYTES_MAX) bytes.
            writes: Vec<DocumentWrite>,
            /// Refused once a later epoch exists.
            fence: Option<Epoch>,
        } fenced by fence checked by check_write(writes) -> Written(BatchOutcome),
        /// Removes old records.
        Prune "prune" {
            /// Refused once a later epoch exists.
            fence: Epoch,
            /// Which ones.
            prune: Prune,
        } fenced by fence -> Pruned(PruneOutcome),
    }
}

impl std::fmt::Debug for dyn Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.declaration().name)
    }
}

methods! {
    /// A store that baton can lead through, with the calls of its contract by name. A driver
    /// implements [`Backend`], and has these for it.
    ///
    /// [`Backend`]: crate::Backend
    pub trait Store: Backend<Election>;

    /// Refreshes the node record, acts on the lease, and brings a newer view if there is one.
    fn beat(beat: BeatRequest) -> BeatReply
        = Call::Core(Request::Beat(beat)) => Answer::Core(Reply::Beat(reply)) => reply;

    /// The lease and the view, without taking part.
    fn inspect() -> Inspection = Call::Inspect => Answer::Inspected(inspection) => inspection;

    /// Every node record.
    fn members() -> Vec<Member>
        = Call::Core(Request::ReadMembers) => Answer::Core(Reply::Members(members)) => members;

    /// Publishes a view, fenced by `fence`; within an epoch only a higher number replaces one.
    fn publish_view(fence: Epoch, view: Arc<View>) -> Outcome
        = Call::Core(Request::PublishView { fence, view })
        => Answer::Core(Reply::Done(outcome)) => outcome;

    /// Gives the lease up.
    fn release(release: Release) -> Outcome
        = Call::Core(Request::Release(release)) => Answer::Core(Reply::Done(outcome)) => outcome;

    /// Takes a node's record out, if it is still this boot's.
    fn leave(node: &NodeId, boot: BootId) -> Outcome
        = Call::Core(Request::Leave { node: node.clone(), boot })
        => Answer::Core(Reply::Done(outcome)) => outcome;

    /// Leaves a request to the holder of this epoch beside the lease.
    fn ask(epoch: Epoch, ask: Ask) -> Outcome
        = Call::Core(Request::Ask { epoch, ask }) => Answer::Core(Reply::Done(outcome)) => outcome;

    /// Reads a document.
    fn read_document(name: &str) -> Option<Document>
        = Call::ReadDocuments { names: vec![name.to_owned()] }
        => Answer::Documents(found) => found.into_iter().next().flatten();

    /// Reads documents, all at one moment; what was found, in the order of the names.
    fn read_documents(names: Vec<String>) -> Vec<Option<Document>>
        = Call::ReadDocuments { names } => Answer::Documents(found) => found;

    /// Writes a document, fenced if an epoch is given.
    fn write_document(
        name: &str,
        body: Vec<u8>,
        precondition: Precondition,
        fence: Option<Epoch>,
    ) -> WriteOutcome
        = Call::WriteDocuments {
            writes: vec![DocumentWrite { name: name.to_owned(), body, precondition }],
            fence,
        }
        => Answer::Written(outcome) => outcome.of_one();

    /// Writes documents, all or none, fenced if an epoch is given.
    fn write_documents(writes: Vec<DocumentWrite>, fence: Option<Epoch>) -> BatchOutcome
        = Call::WriteDocuments { writes, fence } => Answer::Written(outcome) => outcome;

    /// Makes a call about counters. Refused by a store that does not declare [`Counters`].
    ///
    /// [`Counters`]: crate::Capability::Counters
    fn counters(call: CounterCall) -> CounterAnswer
        = Call::Counters(call) => Answer::Counters(answer) => answer;

    /// The last terms, the newest first, at most `limit`.
    fn history(limit: usize) -> Vec<TermRecord>
        = Call::History { limit } => Answer::History(terms) => terms;

    /// The namespaces of the store after this one, in the order of their names, at most `limit`.
    fn namespaces(after: Option<Namespace>, limit: u32) -> Vec<Namespace>
        = Call::Namespaces { after, limit } => Answer::Namespaces(namespaces) => namespaces;

    /// Removes old records, fenced by `fence`.
    fn prune(fence: Epoch, prune: Prune) -> PruneOutcome
        = Call::Prune { fence, prune } => Answer::Pruned(outcome) => outcome;
}

/// The requests of the core, as a family of operations.
impl Operation for Request {
    type Answer = Reply;

    fn kind(&self) -> &'static str {
        Self::kind(self)
    }

    fn writes(&self) -> bool {
        !matches!(self, Self::ReadMembers)
    }

    fn needs(&self) -> Option<Capability> {
        None
    }

    fn epoch(&self) -> Epoch {
        match self {
            Self::Beat(beat) => match &beat.lease {
                LeaseIntent::Acquire(acquire) => acquire.floor.max(beat.node.seen),
                LeaseIntent::Observe | LeaseIntent::Renew(_) => beat.node.seen,
            },
            Self::PublishView { fence, view } => (*fence).max(view.version.epoch),
            Self::ReadMembers | Self::Release(_) | Self::Leave { .. } | Self::Ask { .. } => {
                Epoch::NONE
            }
        }
    }

    fn answer_when_empty(&self) -> Option<Reply> {
        matches!(self, Self::ReadMembers).then(|| Reply::Members(Vec::new()))
    }

    fn check(&self) -> Result<Option<Reply>, StoreError> {
        Ok(None)
    }
}

/// The contract of a store that baton can lead through.
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
///    lineage, and the lease not expired by the declared clock, even if no other process took
///    it. The epoch stays.
/// 5. **The loser learns why:** a `Conflict` comes with the record as it is, and changes
///    nothing, neither the expiry nor anything else.
/// 6. **A node record** is written if there is none, or it is the same boot's, or the boot's that
///    `replaces` names. Otherwise the beat is refused whole, lease included. A beat that only looks
///    may say that its record can wait: then one that is there already may stay as it is.
/// 7. **Fences:** a view or document that carries an epoch is refused once a later one was granted,
///    or was carried by a write that took place. An epoch above [`Epoch::MAX`] is refused
///    ([`Contract::check_call`]) and raises nothing; a lease above it is an error
///    ([`Contract::check_answer`]), so that no epoch is ever granted twice.
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
/// 12. **An inspection** shows and changes nothing: a process that only looks is not registered.
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
/// 15. **A list of namespaces** has each one that ever had a lease, in the order of the bytes of
///     their names. It may have one in which something else was written. It is no one step: what
///     begins meanwhile may be missing.
/// 16. **Documents** are read and written in batches, each name once. A batch is read at one
///     moment, and written whole or not at all: every precondition is checked first, and the first
///     that does not hold is named in the `Conflict`. More than [`DOCUMENTS_MAX`] documents, or
///     bodies of more than [`DOCUMENT_BYTES_MAX`] bytes in a write, are refused
///     ([`Contract::check_call`]); bodies that are read may be larger together. An empty batch is
///     answered, whatever epoch it carries, and no store is asked.
///
/// [`DOCUMENTS_MAX`]: crate::DOCUMENTS_MAX
/// [`DOCUMENT_BYTES_MAX`]: crate::DOCUMENT_BYTES_MAX
/// [`DeathProof`]: crate::Capability::DeathProof
pub enum Election {}

impl Contract for Election {
    type Declaration = Declaration;
    type Call = Call;
    type Answer = Answer;
    type Hint = Hint;

    fn declares(declaration: &Declaration, capability: Capability) -> bool {
        declaration.has(capability)
    }

    /// Refuses a lease whose epoch cannot be granted: the namespace has no epoch left, and a term
    /// that began now could have the epoch of another.
    fn check_answer(namespace: &Namespace, answer: Answer) -> Result<Answer, StoreError> {
        let lease = match &answer {
            Answer::Core(Reply::Beat(reply)) => reply.lease.as_ref(),
            Answer::Inspected(inspection) => inspection.lease.as_ref(),
            _ => None,
        };
        let epoch = lease.map_or(Epoch::NONE, |lease| lease.version.epoch);
        match epoch.grantable() {
            Ok(_) => Ok(answer),
            Err(problem) => Err(StoreError::Corrupt {
                record: format!("the lease of namespace {namespace}"),
                detail: format!("{problem}; go on in another namespace"),
            }),
        }
    }
}
