//! Floods of forged hints, to the lifelines of all nodes: unsigned ones, as from a process that can
//! reach the ports and not the store, and signed ones, as from one that can read the store.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use baton::clock::Moment;
use baton::lifeline::{send_hint, without_key};
use baton::{Namespace, NodeId, Store};
use baton_core::ids::{BootId, Epoch, Nonce};
use baton_core::protocol::{Hint, Version};
use baton_core::rng::Rng;
use baton_store::clock::{Clock, SystemClock};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::fault::ChaosFault;

/// Between two rounds of a flood, in each of which every node is sent a hint of either sort.
const ROUND_EVERY: Duration = Duration::from_millis(20);

/// How long the store may take to say where the lifelines are.
const PATIENCE: Duration = Duration::from_millis(200);

/// A sender of forged hints. One flood at a time.
pub struct HintFlood {
    store: Arc<dyn Store>,
    namespace: Namespace,
    senders: JoinSet<()>,
}

impl HintFlood {
    /// A sender that is idle.
    pub fn new(store: Arc<dyn Store>, namespace: Namespace) -> Self {
        Self { store, namespace, senders: JoinSet::new() }
    }

    /// Begins a flood. Says whether there was a node to send to.
    pub async fn strike(&mut self, fault: &ChaosFault, now: Moment) -> bool {
        while self.senders.try_join_next().is_some() {}
        let members = tokio::select! {
            biased;
            members = self.store.members(&self.namespace) => members.unwrap_or_default(),
            () = SystemClock.sleep(PATIENCE) => Vec::new(),
        };
        let target = |record: &baton_core::protocol::NodeRecord| {
            Some(Target {
                node: record.id.clone(),
                lifeline: record.profile.lifeline.clone()?,
                seen: record.seen,
            })
        };
        let targets: Vec<Target> =
            members.iter().filter_map(|member| target(&member.record)).collect();
        let begins = !targets.is_empty() && self.senders.is_empty();
        if begins {
            let (namespace, rng) = (self.namespace.clone(), Rng::new(fault.pick));
            self.senders.spawn(flood(namespace, targets, rng, now + fault.lasts));
        }
        begins
    }

    /// Ends the flood, if there is one.
    pub fn end(&mut self) {
        self.senders.abort_all();
    }
}

/// A node that is sent forged hints.
struct Target {
    node: NodeId,
    lifeline: Arc<str>,
    seen: Epoch,
}

async fn flood(namespace: Namespace, targets: Vec<Target>, mut rng: Rng, until: Moment) {
    while SystemClock.now() < until {
        for target in &targets {
            let hint = forged(target, &mut rng);
            // A node may be down, or started again with another key: then the hint is lost.
            drop(send_hint(&target.lifeline, &namespace, &hint).await);
            drop(send_unsigned(target, &namespace, &hint).await);
        }
        SystemClock.sleep(ROUND_EVERY).await;
    }
}

/// Mostly that the lease was left to this very node, in a version that the store does not have.
fn forged(target: &Target, rng: &mut Rng) -> Hint {
    let epoch = match rng.below(3) {
        0 => target.seen,
        1 => target.seen.next(),
        _ => Epoch(u64::MAX - rng.below(1_000)),
    };
    let nonce = Nonce { boot: BootId(u128::from(rng.bits())), attempt: rng.below(1_000) };
    match rng.below(6) {
        0 => Hint::Look,
        1 => Hint::Asked,
        2 => Hint::Prepare { epoch },
        _ => Hint::Released {
            version: Version { epoch, nonce },
            successor: Some(target.node.clone()),
        },
    }
}

async fn send_unsigned(target: &Target, namespace: &Namespace, hint: &Hint) -> std::io::Result<()> {
    let socket = without_key(&target.lifeline).split('@').next().unwrap_or_default();
    let Ok(address) = socket.parse::<SocketAddr>() else { return Ok(()) };
    let line = format!("{namespace} {}\n", serde_json::to_string(hint)?);
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(line.as_bytes()).await?;
    stream.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_has_hints_of_every_sort_that_cost_something() {
        let node = NodeId::new("a").expect("a plain name");
        let target = Target { node, lifeline: "127.0.0.1:7000#ab".into(), seen: Epoch(3) };
        let mut rng = Rng::new(1);
        let hints: Vec<Hint> = (0..200).map(|_| forged(&target, &mut rng)).collect();
        assert!(hints.contains(&Hint::Look) && hints.contains(&Hint::Asked));
        let epochs = hints.iter().filter_map(|hint| match hint {
            Hint::Released { version, .. } => Some(version.epoch),
            _ => None,
        });
        let epochs: Vec<Epoch> = epochs.collect();
        assert!(epochs.contains(&Epoch(3)) && epochs.contains(&Epoch(4)));
        assert!(epochs.iter().any(|epoch| epoch.0 > u64::MAX / 2));
    }
}
