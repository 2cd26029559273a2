//! A store with a layer around it: every method becomes one call of the layer.

use std::sync::Arc;

use async_trait::async_trait;
use baton_core::ids::{BootId, Epoch, Namespace, NodeId};
use baton_core::protocol::{
    Ask, BeatReply, BeatRequest, Member, Outcome, Reply, Request, TermRecord, View,
};

use super::call::{Answer, Call};
use crate::capability::Declaration;
use crate::contract::{HintStream, Inspection, Release, Store};
use crate::document::{Document, Precondition, WriteOutcome};
use crate::error::StoreError;

/// Decides how a call of the store inside goes.
#[async_trait]
pub trait Layer: Send + Sync {
    /// Makes the call, or does not. The answer is of the same kind as the call.
    async fn call(
        &self,
        inner: &dyn Store,
        namespace: &Namespace,
        call: Call,
    ) -> Result<Answer, StoreError>;
}

/// A store with a layer around it. It declares what the store inside declares.
pub struct Wrapped<L> {
    inner: Arc<dyn Store>,
    layer: L,
}

impl<L: Layer> Wrapped<L> {
    /// Puts the layer around the store.
    pub fn new(inner: Arc<dyn Store>, layer: L) -> Self {
        Self { inner, layer }
    }

    /// The layer, to be told or asked something.
    pub fn layer(&self) -> &L {
        &self.layer
    }

    async fn call(&self, namespace: &Namespace, call: Call) -> Result<Answer, StoreError> {
        self.layer.call(&*self.inner, namespace, call).await
    }

    async fn conditional(
        &self,
        namespace: &Namespace,
        request: Request,
    ) -> Result<Outcome, StoreError> {
        match self.call(namespace, Call::Core(request)).await? {
            Answer::Core(Reply::Done(outcome)) => Ok(outcome),
            other => not_in_kind(&other),
        }
    }
}

fn not_in_kind(answer: &Answer) -> ! {
    unreachable!("a layer answers a call in kind, and this is not: {answer:?}")
}

#[async_trait]
impl<L: Layer> Store for Wrapped<L> {
    fn declaration(&self) -> Declaration {
        self.inner.declaration()
    }

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

    async fn inspect(&self, namespace: &Namespace) -> Result<Inspection, StoreError> {
        match self.call(namespace, Call::Inspect).await? {
            Answer::Inspected(inspection) => Ok(inspection),
            other => not_in_kind(&other),
        }
    }

    async fn members(&self, namespace: &Namespace) -> Result<Vec<Member>, StoreError> {
        match self.call(namespace, Call::Core(Request::ReadMembers)).await? {
            Answer::Core(Reply::Members(members)) => Ok(members),
            other => not_in_kind(&other),
        }
    }

    async fn publish_view(
        &self,
        namespace: &Namespace,
        fence: Epoch,
        view: Arc<View>,
    ) -> Result<Outcome, StoreError> {
        self.conditional(namespace, Request::PublishView { fence, view }).await
    }

    async fn release(
        &self,
        namespace: &Namespace,
        release: Release,
    ) -> Result<Outcome, StoreError> {
        let request = Request::Release {
            expect: release.expect,
            nonce: release.nonce,
            successor: release.successor,
            reason: release.reason,
        };
        self.conditional(namespace, request).await
    }

    async fn leave(
        &self,
        namespace: &Namespace,
        node: &NodeId,
        boot: BootId,
    ) -> Result<Outcome, StoreError> {
        let node = node.clone();
        self.conditional(namespace, Request::Leave { node, boot }).await
    }

    async fn ask(
        &self,
        namespace: &Namespace,
        epoch: Epoch,
        ask: Ask,
    ) -> Result<Outcome, StoreError> {
        self.conditional(namespace, Request::Ask { epoch, ask }).await
    }

    async fn read_document(
        &self,
        namespace: &Namespace,
        name: &str,
    ) -> Result<Option<Document>, StoreError> {
        let name = name.to_owned();
        match self.call(namespace, Call::ReadDocument { name }).await? {
            Answer::Document(document) => Ok(document),
            other => not_in_kind(&other),
        }
    }

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

    async fn hints(&self, namespace: &Namespace) -> Result<HintStream, StoreError> {
        self.inner.hints(namespace).await
    }
}
