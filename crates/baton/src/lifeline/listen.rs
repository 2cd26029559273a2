//! The listening side: a greeting for everybody, hints from whoever has one.

use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use baton_core::ids::BootId;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::address::Address;
use super::{LifelineConfig, wire};
use crate::drive::Message;
use crate::error::BuildError;

/// Hints taken from one connection. A peer has one to tell and goes.
const HINTS_MAX: usize = 16;

/// A process's lifeline. The listening socket stays open for as long as anything of it lives.
pub(crate) struct Lifeline {
    listener: TcpListener,
    boot: BootId,
    told: Arc<str>,
    connections_max: usize,
}

impl Lifeline {
    /// Listens; `None` if it is switched off.
    pub(crate) fn listen(
        config: &LifelineConfig,
        boot: BootId,
    ) -> Result<Option<Self>, BuildError> {
        if !config.enabled {
            return Ok(None);
        }
        let refused = |source| BuildError::Lifeline { address: config.bind, source };
        let listener = TcpListener::bind(config.bind).map_err(refused)?;
        let bound = listener.local_addr().map_err(refused)?;
        let mut told = config.advertise.unwrap_or(bound);
        if told.ip().is_unspecified() {
            return Err(BuildError::Unadvertised(told));
        }
        if told.port() == 0 {
            told.set_port(bound.port());
        }
        let told = Arc::from(Address::of(told).to_string());
        let connections_max = config.connections_max;
        Ok(Some(Self { listener, boot, told, connections_max }))
    }

    /// The address as others are told it.
    pub(crate) fn told(&self) -> Arc<str> {
        self.told.clone()
    }

    /// Where it listens.
    pub(crate) fn local_address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// The listening socket again: while any copy of it is open, nobody is refused.
    pub(crate) fn descriptor(&self) -> std::io::Result<OwnedFd> {
        Ok(OwnedFd::from(self.listener.try_clone()?))
    }

    /// What answers on it.
    pub(crate) fn serve(&self) -> std::io::Result<Serve> {
        let listener = self.listener.try_clone()?;
        listener.set_nonblocking(true)?;
        Ok(Serve { listener, boot: self.boot, connections_max: self.connections_max })
    }
}

/// Answers whoever dials.
pub(crate) struct Serve {
    listener: TcpListener,
    boot: BootId,
    connections_max: usize,
}

impl Serve {
    /// Serves until it is dropped.
    pub(crate) async fn run(self, inbox: mpsc::WeakUnboundedSender<Message>) {
        let listener = tokio::net::TcpListener::from_std(self.listener)
            .expect("it is a listening socket that does not block");
        let mut connections = JoinSet::new();
        loop {
            // A failed accept is the peer's trouble, or a shortage of descriptors that passes; the
            // listening socket stays as it is.
            let Ok((stream, _)) = listener.accept().await else {
                tokio::task::yield_now().await;
                continue;
            };
            while connections.try_join_next().is_some() {}
            let kept = connections.len() < self.connections_max;
            connections.spawn(converse(stream, self.boot, kept, inbox.clone()));
        }
    }
}

async fn converse(
    mut stream: TcpStream,
    boot: BootId,
    kept: bool,
    inbox: mpsc::WeakUnboundedSender<Message>,
) {
    let greeted = stream.write_all(wire::greeting(boot).as_bytes()).await;
    if greeted.is_err() || !kept {
        return;
    }
    let mut reader = BufReader::new(stream);
    let mut hints = 0;
    while let Ok(Some(line)) = wire::line(&mut reader).await {
        let Some((namespace, hint)) = wire::hinted(&line) else { return };
        let Some(inbox) = inbox.upgrade() else { return };
        hints += 1;
        if hints > HINTS_MAX || inbox.send(Message::Hinted { namespace, hint }).is_err() {
            return;
        }
    }
}
