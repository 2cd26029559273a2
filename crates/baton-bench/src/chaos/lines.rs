//! Faults of connections: each node has a proxy to itself.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use baton::NodeId;
use baton::clock::Moment;
use baton_testbed::{ConnectionFault, Proxy, Server};

use super::fault::ChaosFault;
use super::kind::Kind;
use crate::fixture::Fixture;

/// A proxy for each node, and which of them do harm.
#[derive(Default)]
pub struct Lines {
    proxies: BTreeMap<NodeId, Proxy>,
    faulty: BTreeMap<NodeId, Moment>,
    /// Where they lead to.
    server: Option<SocketAddr>,
}

impl Lines {
    /// A proxy for each of these; without a server there is none.
    pub async fn new(server: Option<&Server>, names: &[NodeId]) -> Self {
        let mut lines = Self::default();
        if let Some(server) = server {
            lines.server = Some(server.address());
            for name in names {
                lines.proxies.insert(name.clone(), Proxy::to(server.address()).await);
            }
        }
        lines
    }

    /// What this node opens.
    pub fn url(&self, fixture: &Fixture, name: &NodeId) -> Option<String> {
        self.proxies.get(name).and_then(|proxy| fixture.url_through(proxy))
    }

    /// Nodes whose connections are sound.
    pub fn to_strike(&self) -> Vec<NodeId> {
        let sound = self.proxies.keys().filter(|name| !self.faulty.contains_key(*name));
        sound.cloned().collect()
    }

    /// Strikes this one's.
    pub fn strike(&mut self, fault: &ChaosFault, name: &NodeId, now: Moment) {
        let Some(proxy) = self.proxies.get(name) else { return };
        match fault.kind {
            Kind::Drop => proxy.set(ConnectionFault::Drop),
            Kind::HalfOpen => proxy.set(ConnectionFault::HalfOpen),
            Kind::Delay => proxy.set(ConnectionFault::Delay(fault.late)),
            Kind::LoseReply => proxy.set(ConnectionFault::LoseReplies),
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
    pub fn next(&self) -> Moment {
        self.faulty.values().copied().min().unwrap_or(Moment::NEVER)
    }

    /// Mends those whose time has come. Says how many replies were to be lost, and none came.
    pub fn relieve(&mut self, now: Moment) -> u32 {
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
