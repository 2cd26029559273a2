//! A proxy as tests see it.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};

use super::counts::{Counting, Counts};
use super::fault::ConnectionFault;
use super::listen::listen;

/// A proxy in front of one server. Gone, with all connections, when it is dropped.
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What the test and the connections both see.
pub struct Shared {
    pub server: Mutex<SocketAddr>,
    pub fault: watch::Sender<ConnectionFault>,
    /// How often the connections were cut.
    pub cuts: watch::Sender<u64>,
    pub counting: Counting,
    /// Connections that are open, by number; and whether one of those may lose its next reply.
    pub open: Mutex<OpenConnections>,
}

/// Which connections there are.
#[derive(Default)]
pub struct OpenConnections {
    pub numbers: std::collections::BTreeSet<u64>,
    /// Up to which number a connection may claim [`ConnectionFault::LoseReplies`].
    pub may_lose: u64,
}

impl Proxy {
    /// A proxy in front of this server, at a port of its own.
    ///
    /// # Panics
    ///
    /// If the machine has no port or no thread left.
    pub async fn to(server: SocketAddr) -> Self {
        let shared = Arc::new(Shared {
            server: Mutex::new(server),
            fault: watch::Sender::new(ConnectionFault::None),
            cuts: watch::Sender::new(0),
            counting: Counting::default(),
            open: Mutex::default(),
        });
        let (stop, stopped) = oneshot::channel();
        let (told, address) = oneshot::channel();
        let inside = Arc::clone(&shared);
        let run = move || serve(&inside, told, stopped);
        let thread = std::thread::Builder::new().name("proxy".to_owned()).spawn(run);
        let thread = thread.expect("the machine has a thread left");
        let address = address.await.expect("the thread says where it listens");
        let address = address.expect("the machine has a port left");
        Self { address, shared, stop: Some(stop), thread: Some(thread) }
    }

    /// Where clients find it.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sends new connections to another server: what a failover does.
    pub fn lead_to(&self, server: SocketAddr) {
        *self.shared.server.lock().expect("no holder panics") = server;
    }

    /// From now on this happens.
    pub fn set(&self, fault: ConnectionFault) {
        let mut open = self.shared.open.lock().expect("no holder panics");
        open.may_lose = open.numbers.last().copied().unwrap_or(u64::MAX);
        self.shared.fault.send_replace(fault);
    }

    /// What happens now. A [`ConnectionFault::LoseReplies`] that has struck is over.
    pub fn fault(&self) -> ConnectionFault {
        *self.shared.fault.borrow()
    }

    /// Resets every connection that is open now.
    pub fn cut(&self) {
        self.shared.cuts.send_modify(|cuts| *cuts += 1);
    }

    /// What has passed through so far.
    pub fn counts(&self) -> Counts {
        self.shared.counting.read()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // If it panicked, the test has seen its connections break.
            let _ = thread.join();
        }
    }
}

fn serve(
    shared: &Arc<Shared>,
    told: oneshot::Sender<io::Result<SocketAddr>>,
    stopped: oneshot::Receiver<()>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("nothing else is asked of it");
    runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = match listener.and_then(|it| it.local_addr().map(|address| (it, address))) {
            Ok((listener, address)) => {
                // The caller may have given up.
                let _ = told.send(Ok(address));
                listener
            }
            Err(error) => {
                let _ = told.send(Err(error));
                return;
            }
        };
        tokio::select! {
            () = listen(&listener, shared) => {}
            _ = stopped => {}
        }
    });
}
