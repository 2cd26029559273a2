//! Leaving when the process is told to end.

use tokio::signal::unix::{SignalKind, signal};

use crate::node::{Departure, Node};

/// The signal that asked the process to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Signalled {
    /// SIGTERM: an orchestrator, or `kill`.
    Terminate,
    /// SIGINT: Ctrl-C.
    Interrupt,
}

/// Waits for SIGTERM or SIGINT. From the first call on, they do not end the process by themselves.
pub async fn signalled() -> std::io::Result<Signalled> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(tokio::select! {
        _ = terminate.recv() => Signalled::Terminate,
        _ = interrupt.recv() => Signalled::Interrupt,
    })
}

impl Node {
    /// Waits for SIGTERM or SIGINT and then leaves, or returns once the node has left for another
    /// reason.
    pub async fn until_signalled(&self) -> std::io::Result<Departure> {
        tokio::select! {
            asked = signalled() => asked.map(|_| ())?,
            departure = self.left() => return Ok(departure),
        }
        Ok(self.leave().await)
    }
}
