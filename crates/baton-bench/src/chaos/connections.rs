//! Faults of connections: each node has a proxy to itself.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use baton::NodeId;
use baton::clock::Moment;
use baton_testbed::{ConnectionFault, Proxy, Server};

use super::fault::ChaosFault;
use super::fault_kind::FaultKind;
use crate::fixture::Fixture;

/// A proxy for each node, and which of them do harm.
#[derive(Default)]
pub struct NodeConnections {
    proxies: BTreeMap<NodeId, Proxy>,
    faulty: BTreeMap<NodeId, Moment>,
    /// The server that the proxies lead to.
    server: Option<SocketAddr>,
}

impl NodeConnections {
    /// A proxy for each of these; without a server there is none.
    pub async fn new(server: Option<&Server>, names: &[NodeId]) -> Self {
        let mut connections = Self::default();
        if let Some(server) = server {
            connections.server = Some(server.address());
            for name in names {
                connections.proxies.insert(name.clone(), Proxy::to(server.address()).await);
            }
        }
        connections
    }

    /// The URL that this node opens.
    pub fn url(&self, fixture: &Fixture, name: &NodeId) -> Option<String> {
        self.proxies.get(name).and_then(|proxy| fixture.url_through(proxy))
    }

    /// Nodes whose connections are sound.
    pub fn to_strike(&self) -> Vec<NodeId> {
        let sound = self.proxies.keys().filter(|name| !self.faulty.contains_key(*name));
        sound.cloned().collect()
    }

    /// Strikes the connections of this node.
    pub fn strike(&mut self, fault: &ChaosFault, name: &NodeId, now: Moment) {
        let Some(proxy) = self.proxies.get(name) else { return };
        match fault.kind {
            FaultKind::Drop => proxy.set(ConnectionFault::Drop),
            FaultKind::HalfOpen => proxy.set(ConnectionFault::HalfOpen),
            FaultKind::Delay => proxy.set(ConnectionFault::Delay(fault.late)),
            FaultKind::LoseReply => proxy.set(ConnectionFault::LoseReplies),
            _ => return proxy.cut(),
        }
        self.faulty.insert(name.clone(), now + fault.lasts);
    }

    /// Sends every node to this address from now on. Connections to it stay.
    pub fn lead_to(&mut self, server: SocketAddr) {
        if self.server.replace(server) != Some(server) {
            for proxy in self.proxies.values() {
                proxy.lead_to(server);
                proxy.cut();
            }
        }
    }

    /// When a connection is to be mended next.
    pub fn next_repair(&self) -> Moment {
        self.faulty.values().copied().min().unwrap_or(Moment::NEVER)
    }

    /// Mends those whose time has come. Says how many replies were to be lost, and none came.
    pub fn repair(&mut self, now: Moment) -> u32 {
        let mut never_lost = 0;
        let (proxies, faulty) = (&self.proxies, &mut self.faulty);
        faulty.retain(|name, until| {
            if *until <= now
                && let Some(proxy) = proxies.get(name)
            {
                never_lost += u32::from(proxy.fault() == ConnectionFault::LoseReplies);
                proxy.set(ConnectionFault::None);
            }
            *until > now
        });
        never_lost
    }
}
