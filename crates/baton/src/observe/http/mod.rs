//! The endpoint: figures and health over HTTP, on a thread of its own.
//!
//! ```text
//!   scraper, load balancer ──► accept ──► one request ─────────► hosts ──► routes ──► Nodes
//!                            at most 32   its head within 1 s             GET, HEAD     ▼
//!                                         all of it within 10 s              a look at the node
//! ```
//!
//! A connection that has not sent a whole head yet makes way for a new one when all are taken:
//! silent connections, however many, keep no probe out.
//!
//! Nothing here runs on the node's thread, and nothing waits for it longer than a look takes: a
//! scraper that is slow, or a hundred of them, cannot delay a beat.

mod routes;
mod serve;

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, Weak};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use routes::Hosts;

use super::{NodeMetrics, gather};
use crate::error::BuildError;
use crate::shared::Shared;

/// The nodes that an endpoint answers for, the first one first.
#[derive(Clone, Default)]
pub(crate) struct Nodes(Arc<Mutex<Vec<Weak<Shared>>>>);

impl Nodes {
    /// Those that are still there.
    fn all(&self) -> Vec<Arc<Shared>> {
        let mut nodes = self.0.lock().expect("no holder panics");
        nodes.retain(|node| node.strong_count() > 0);
        nodes.iter().filter_map(Weak::upgrade).collect()
    }

    fn figures(&self) -> NodeMetrics {
        let mut all = NodeMetrics::default();
        self.all().iter().for_each(|node| all.join(gather(node)));
        all
    }
}

/// What answers. Dropped, it has ended: no connection of it is left.
pub(crate) struct Endpoint {
    pub(crate) address: SocketAddr,
    nodes: Nodes,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Endpoint {
    /// Answers there from now on, to addresses, to `localhost` and to these names; port 0 takes a
    /// free one.
    pub(crate) fn serve(address: SocketAddr, names: Vec<String>) -> Result<Self, BuildError> {
        let refused = |source| BuildError::Endpoint { address, source };
        let listener = TcpListener::bind(address).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let nodes = Nodes::default();
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let answers = routes::router(nodes.clone(), Hosts::new(names));
        let thread = std::thread::Builder::new().name("baton-http".to_owned());
        let thread = thread.spawn(move || {
            runtime.block_on(serve::serve(listener, answers, serve::LIMITS, stopped));
        })?;
        Ok(Self { address, nodes, stop: Some(stop), thread: Some(thread) })
    }

    pub(crate) fn add(&self, node: &Arc<Shared>) {
        self.nodes.0.lock().expect("no holder panics").push(Arc::downgrade(node));
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        // Its thread may have ended already.
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
