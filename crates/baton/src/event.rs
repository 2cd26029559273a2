//! The stream of events: what happens at a node, with the time and the node's name.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use baton_core::Event;
use baton_core::ids::{Namespace, NodeId};
use baton_store::clock::{Clock, SystemClock};
use futures_core::Stream;
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::task::coop::unconstrained;
use tokio_util::sync::ReusableBoxFuture;

use crate::observe::{Logs, NodeCounts};

/// Events kept for a reader that is behind.
const KEPT: usize = 1_024;

/// An event, with the node that it happened at and the time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Stamped {
    /// Unix milliseconds, for people.
    pub at_ms: u64,
    /// The namespace of the node.
    pub namespace: Namespace,
    /// The node.
    pub node: NodeId,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

impl Stamped {
    /// An event of this node's, at this time.
    pub fn new(at_ms: u64, namespace: Namespace, node: NodeId, event: Event) -> Self {
        Self { at_ms, namespace, node, event }
    }
}

/// Sends a node's events to its readers, its figures, its logs and its traces.
#[derive(Clone)]
pub(crate) struct EventSender {
    namespace: Namespace,
    node: NodeId,
    sender: broadcast::Sender<Arc<Stamped>>,
    counts: Arc<NodeCounts>,
    pub(crate) logs: Logs,
    #[cfg(feature = "otel")]
    pub(crate) spans: Option<Arc<crate::observe::otel::Spans>>,
}

impl EventSender {
    pub(crate) fn new(
        namespace: Namespace,
        node: NodeId,
        counts: Arc<NodeCounts>,
        logs: Logs,
    ) -> Self {
        Self {
            namespace,
            node,
            sender: broadcast::channel(KEPT).0,
            counts,
            logs,
            #[cfg(feature = "otel")]
            spans: None,
        }
    }

    pub(crate) fn send(&self, event: Event) {
        let wall_ms = SystemClock.wall_ms();
        self.counts.count(&event, SystemClock.now(), wall_ms);
        let (namespace, node) = (self.namespace.clone(), self.node.clone());
        let stamped = Stamped::new(wall_ms, namespace, node, event);
        #[cfg(feature = "otel")]
        if let Some(spans) = &self.spans {
            spans.record(&stamped);
        }
        let stamped = Arc::new(stamped);
        self.logs.event(&stamped);
        // It fails when there is no reader.
        let _ = self.sender.send(stamped);
    }

    pub(crate) fn subscribe(&self) -> Events {
        let next = ReusableBoxFuture::new(receive(self.sender.subscribe()));
        Events { next, missed: 0 }
    }
}

type Receiver = broadcast::Receiver<Arc<Stamped>>;

async fn receive(mut receiver: Receiver) -> (Result<Arc<Stamped>, RecvError>, Receiver) {
    let received = receiver.recv().await;
    (received, receiver)
}

/// A node's events from [`Node::events`](crate::Node::events) on: a [`Stream`] that ends with the
/// node. A reader that falls more than 1,024 events behind loses the oldest: see
/// [`missed`](Self::missed).
#[derive(Debug)]
#[must_use = "events are read with `next`, or as a stream"]
pub struct Events {
    next: ReusableBoxFuture<'static, (Result<Arc<Stamped>, RecvError>, Receiver)>,
    missed: u64,
}

impl Events {
    /// The next event; `None` once the node is gone. Cancel safe.
    pub async fn next(&mut self) -> Option<Arc<Stamped>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// The next event that is already there.
    pub fn try_next(&mut self) -> Option<Arc<Stamped>> {
        // An event that is there is returned even to a task that has used up its share of time.
        let next = pin!(unconstrained(self.next()));
        match next.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(event) => event,
            Poll::Pending => None,
        }
    }

    /// Number of events lost because this reader was too far behind.
    pub fn missed(&self) -> u64 {
        self.missed
    }
}

impl Stream for Events {
    type Item = Arc<Stamped>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let (received, receiver) = ready!(self.next.poll(cx));
            self.next.set(receive(receiver));
            match received {
                Ok(event) => return Poll::Ready(Some(event)),
                Err(RecvError::Lagged(count)) => self.missed += count,
                Err(RecvError::Closed) => return Poll::Ready(None),
            }
        }
    }
}
