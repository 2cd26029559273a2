//! The stream of events: everything worth telling, stamped with when and by whom.

use std::sync::Arc;

use baton_core::Event;
use baton_core::ids::{Namespace, NodeId};
use baton_store::clock::{Clock, SystemClock};
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast;

use crate::observe::{Logs, Tallies};

/// Events kept for a listener that is behind.
const KEPT: usize = 1_024;

/// An event, by whom and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stamped {
    /// Unix milliseconds, for people.
    pub at_ms: u64,
    /// In which namespace.
    pub namespace: Namespace,
    /// At which node.
    pub node: NodeId,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// Sends events to everybody who listens.
#[derive(Clone)]
pub(crate) struct Teller {
    namespace: Namespace,
    node: NodeId,
    sender: broadcast::Sender<Arc<Stamped>>,
    tallies: Arc<Tallies>,
    pub(crate) logs: Logs,
    #[cfg(feature = "otel")]
    spans: Option<Arc<crate::observe::otel::Spans>>,
}

impl Teller {
    pub(crate) fn new(
        namespace: Namespace,
        node: NodeId,
        tallies: Arc<Tallies>,
        logs: Logs,
    ) -> Self {
        Self {
            namespace,
            node,
            sender: broadcast::channel(KEPT).0,
            tallies,
            logs,
            #[cfg(feature = "otel")]
            spans: None,
        }
    }

    /// Makes spans of it too.
    #[cfg(feature = "otel")]
    pub(crate) fn traced(mut self, spans: Arc<crate::observe::otel::Spans>) -> Self {
        self.spans = Some(spans);
        self
    }

    pub(crate) fn tell(&self, event: Event) {
        self.tallies.told(&event, SystemClock.now());
        let (namespace, node) = (self.namespace.clone(), self.node.clone());
        let stamped = Stamped { at_ms: SystemClock.wall_ms(), namespace, node, event };
        #[cfg(feature = "otel")]
        if let Some(spans) = &self.spans {
            spans.told(&stamped);
        }
        let stamped = Arc::new(stamped);
        self.logs.told(&stamped);
        // Nobody may be listening, which is fine.
        let _ = self.sender.send(stamped);
    }

    pub(crate) fn listen(&self) -> Events {
        Events { receiver: self.sender.subscribe(), missed: 0 }
    }
}

/// Events as they come, from when it was asked for.
pub struct Events {
    receiver: broadcast::Receiver<Arc<Stamped>>,
    missed: u64,
}

impl Events {
    /// The next event; `None` once the node is gone. Cancel safe.
    pub async fn recv(&mut self) -> Option<Arc<Stamped>> {
        loop {
            match self.receiver.recv().await {
                Ok(event) => return Some(event),
                Err(broadcast::error::RecvError::Lagged(count)) => self.missed += count,
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }

    /// The next event that is already there.
    pub fn try_next(&mut self) -> Option<Arc<Stamped>> {
        loop {
            match self.receiver.try_recv() {
                Ok(event) => return Some(event),
                Err(broadcast::error::TryRecvError::Lagged(count)) => self.missed += count,
                Err(_) => return None,
            }
        }
    }

    /// How many events were lost because this listener was too far behind.
    pub fn missed(&self) -> u64 {
        self.missed
    }
}
