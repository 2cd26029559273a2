//! The work of a process that owns partitions, from its start until it is told to leave.

use baton::NodeBuilder;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::Works;
use crate::cluster::ClusterError;

/// What such a process is told by signals: USR1 drains its node, and the next one ends that; TERM
/// lets it leave. A Ctrl-C reaches every process of a terminal and is left to the one that started
/// this process.
pub struct OwnerSignals {
    terminated: Signal,
    drained: Signal,
    _interrupted: Signal,
}

impl OwnerSignals {
    /// Listens from now on. Before, each of these signals ends the process.
    pub fn listen() -> Result<Self, ClusterError> {
        let listen = |kind| {
            let what = || "cannot listen to signals".to_owned();
            signal(kind).map_err(|problem| ClusterError::Process { what: what(), problem })
        };
        Ok(Self {
            terminated: listen(SignalKind::terminate())?,
            drained: listen(SignalKind::user_defined1())?,
            _interrupted: listen(SignalKind::interrupt())?,
        })
    }
}

/// Starts the node and owns partitions until the process is told to leave. What the node works on
/// is noted by these works.
pub async fn own(
    node: NodeBuilder,
    works: &Works,
    mut signals: OwnerSignals,
) -> Result<(), ClusterError> {
    let node = node.runtime(tokio::runtime::Handle::current()).build()?;
    let mut is_draining = false;
    let leaves = async {
        loop {
            tokio::select! {
                biased;
                _ = signals.terminated.recv() => break,
                _ = node.left() => break,
                _ = signals.drained.recv() => {
                    is_draining = !is_draining;
                    node.set_draining(is_draining);
                }
            }
        }
        node.leave().await;
    };
    tokio::select! {
        () = leaves => {}
        () = works.watch() => {}
    }
    Ok(())
}
