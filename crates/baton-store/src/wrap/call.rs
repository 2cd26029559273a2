//! One call of a store as data, so that it can be delayed, dropped, doubled or written down.

use baton_core::ids::{Epoch, Namespace};
use baton_core::protocol::{Reply, Request, TermRecord};

use serde::{Deserialize, Serialize};

use crate::contract::{Inspection, Release, Store};
use crate::document::{Document, Precondition, WriteOutcome};
use crate::error::StoreError;

/// A call of any method of [`Store`] that asks the store something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Call {
    /// What the core asks for.
    Core(Request),
    /// Looks without taking part.
    Inspect,
    /// Reads a document.
    ReadDocument {
        /// Its name.
        name: String,
    },
    /// Writes a document.
    WriteDocument {
        /// Its name.
        name: String,
        /// What it is to say.
        body: Vec<u8>,
        /// What must hold.
        precondition: Precondition,
        /// Refused once a later epoch exists.
        fence: Option<Epoch>,
    },
    /// Reads the last terms.
    History {
        /// How many at most.
        limit: usize,
    },
}

impl Call {
    /// A short name: the core's for its requests.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Core(request) => request.kind(),
            Self::Inspect => "inspect",
            Self::ReadDocument { .. } => "read-document",
            Self::WriteDocument { .. } => "write-document",
            Self::History { .. } => "history",
        }
    }
}

/// The answer, of the same kind as the call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// To [`Call::Core`].
    Core(Reply),
    /// To [`Call::Inspect`].
    Inspected(Inspection),
    /// To [`Call::ReadDocument`].
    Document(Option<Document>),
    /// To [`Call::WriteDocument`].
    Written(WriteOutcome),
    /// To [`Call::History`].
    History(Vec<TermRecord>),
}

/// Makes the call on a store.
pub async fn perform(
    store: &dyn Store,
    namespace: &Namespace,
    call: Call,
) -> Result<Answer, StoreError> {
    Ok(match call {
        Call::Core(request) => Answer::Core(perform_core(store, namespace, request).await?),
        Call::Inspect => Answer::Inspected(store.inspect(namespace).await?),
        Call::ReadDocument { name } => {
            Answer::Document(store.read_document(namespace, &name).await?)
        }
        Call::WriteDocument { name, body, precondition, fence } => Answer::Written(
            store.write_document(namespace, &name, body, precondition, fence).await?,
        ),
        Call::History { limit } => Answer::History(store.history(namespace, limit).await?),
    })
}

async fn perform_core(
    store: &dyn Store,
    namespace: &Namespace,
    request: Request,
) -> Result<Reply, StoreError> {
    let outcome = match request {
        Request::Beat(beat) => return store.beat(namespace, beat).await.map(Reply::Beat),
        Request::ReadMembers => return store.members(namespace).await.map(Reply::Members),
        Request::PublishView { fence, view } => store.publish_view(namespace, fence, view).await?,
        Request::Release { expect, nonce, successor, reason } => {
            let release = Release { expect, nonce, successor, reason };
            store.release(namespace, release).await?
        }
        Request::Leave { node, boot } => store.leave(namespace, &node, boot).await?,
        Request::Ask { epoch, ask } => store.ask(namespace, epoch, ask).await?,
    };
    Ok(Reply::Done(outcome))
}
