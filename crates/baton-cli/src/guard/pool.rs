//! Guards for commands that run beside each other: one guard each, used again and again.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard};

use baton::Node;
use tokio::sync::watch;

use super::Guard;

/// How many guards are kept for further commands. One that is dropped ends by itself.
const IDLE_MAX: usize = 16;

/// Idle guards, and what it takes to start another.
#[derive(Default)]
pub struct GuardPool {
    idle: Mutex<Vec<Guard>>,
    node: watch::Sender<Option<Node>>,
}

impl GuardPool {
    /// From now on guards can be started: they hold what would prove this node dead.
    pub fn serve(&self, node: &Node) {
        self.node.send_replace(Some(node.clone()));
    }

    /// The node, once it is known.
    pub fn node(&self) -> Option<Node> {
        self.node.borrow().clone()
    }

    /// A guard without a command: an idle one, or a new one. Waits until the node is known.
    pub async fn take(&self) -> io::Result<Guard> {
        while let Some(mut guard) = { self.idle().pop() } {
            // One that was killed meanwhile reports that, and one that is well reports nothing.
            let is_lost = tokio::select! {
                biased;
                _ = guard.next() => true,
                () = std::future::ready(()) => false,
            };
            if !is_lost {
                return Ok(guard);
            }
        }
        let mut node = self.node.subscribe();
        let known = node.wait_for(Option::is_some).await.map(|node| node.clone());
        let node = known.ok().flatten().ok_or_else(|| io::Error::other("the node has left"))?;
        let vital: Vec<OwnedFd> = vital_descriptors(&node)?;
        let borrowed: Vec<BorrowedFd<'_>> = vital.iter().map(AsFd::as_fd).collect();
        Guard::spawn_without_input(&borrowed)
    }

    /// Takes a guard back whose command has stopped.
    pub fn put(&self, guard: Guard) {
        let mut idle = self.idle();
        if !guard.is_lost() && idle.len() < IDLE_MAX {
            idle.push(guard);
        }
    }

    /// Ends all idle guards.
    pub async fn close(&self) {
        let idle = std::mem::take(&mut *self.idle());
        for guard in idle {
            // A guard that does not end in order goes on alone, and ends when its socket closes.
            let _ = guard.close().await;
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Guard>> {
        self.idle.lock().expect("no holder panics")
    }
}

/// What would prove this process dead. A guard holds duplicates of it, so that the proof waits for
/// the guard.
pub fn vital_descriptors(node: &Node) -> io::Result<Vec<OwnedFd>> {
    let mut vital: Vec<OwnedFd> = baton_drivers::sqlite::process_locks(node.boot());
    vital.extend(node.lifeline_descriptor()?);
    Ok(vital)
}
