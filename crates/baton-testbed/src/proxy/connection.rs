//! One connection: two pumps, and the fault that each of them asks.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use baton_store::clock::{Clock, SystemClock};
use rustix::net::sockopt::set_socket_linger;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::sync::watch;

use super::counts::add;
use super::fault::ConnectionFault;
use super::handle::Shared;

/// The connection is to be reset.
struct Reset;

impl From<io::Error> for Reset {
    fn from(_: io::Error) -> Self {
        Self
    }
}

/// What both pumps know.
struct ProxiedConnection<'a> {
    shared: &'a Shared,
    number: u64,
    /// Bytes were taken away.
    lost: AtomicBool,
    /// The reply to what the client just said is to be lost.
    loses_reply: AtomicBool,
    /// The client spoke last.
    client_spoke: AtomicBool,
}

/// Runs until both sides have ended, or it is reset.
pub async fn run(mut client: TcpStream, number: u64, shared: Arc<Shared>) {
    let mut cuts = shared.cuts.subscribe();
    let mut faults = shared.fault.subscribe();
    shared.open.lock().expect("no holder panics").numbers.insert(number);
    let flag = || AtomicBool::new(false);
    let (lost, loses_reply, client_spoke) = (flag(), flag(), flag());
    let connection = ProxiedConnection { shared: &shared, number, lost, loses_reply, client_spoke };
    let ended = tokio::select! {
        ended = connection.serve(&mut client) => ended,
        _ = cuts.changed() => Err(Reset),
        () = connection.doomed(&mut faults) => Err(Reset),
    };
    shared.open.lock().expect("no holder panics").numbers.remove(&number);
    if ended.is_ok() {
        // It is closed already, in the worst case.
        let _ = set_socket_linger(&client, None);
    }
}

impl ProxiedConnection<'_> {
    async fn serve(&self, client: &mut TcpStream) -> Result<(), Reset> {
        let mut faults = self.shared.fault.subscribe();
        if *faults.borrow() == ConnectionFault::Drop {
            // Nothing gets through to the server, so the server has not heard of this connection.
            self.lost.store(true, Ordering::SeqCst);
            let _ = faults.wait_for(|fault| *fault != ConnectionFault::Drop).await;
            return Err(Reset);
        }
        let address = *self.shared.server.lock().expect("no holder panics");
        let mut server = TcpStream::connect(address).await?;
        server.set_zero_linger()?;
        server.set_nodelay(true)?;
        client.set_nodelay(true)?;
        self.pump(client, &mut server).await?;
        set_socket_linger(&server, None).map_err(io::Error::from)?;
        Ok(())
    }

    /// Both ways, until both have ended.
    async fn pump(&self, client: &mut TcpStream, server: &mut TcpStream) -> Result<(), Reset> {
        let (from_client, to_client) = client.split();
        let (from_server, to_server) = server.split();
        let mut up = pin!(self.pump_up(from_client, to_server));
        let mut down = pin!(self.pump_down(from_server, to_client));
        tokio::select! {
            ended = &mut up => {
                ended?;
                down.await?;
            }
            ended = &mut down => {
                ended?;
                up.await?;
            }
        }
        Ok(())
    }

    async fn pump_up(&self, mut from: ReadHalf<'_>, mut to: WriteHalf<'_>) -> Result<(), Reset> {
        let mut buffer = vec![0; 65_536];
        loop {
            let count = from.read(&mut buffer).await?;
            if count > 0 && !self.client_spoke.swap(true, Ordering::SeqCst) {
                add(&self.shared.counting.round_trips, 1);
            }
            match self.fault()? {
                ConnectionFault::Drop if count == 0 => return self.silence().await,
                ConnectionFault::Drop => {
                    self.lost.store(true, Ordering::SeqCst);
                    continue;
                }
                ConnectionFault::Delay(span) => SystemClock.sleep(span).await,
                ConnectionFault::LoseReplies if count > 0 => self.claim_loss(),
                _ => {}
            }
            if count == 0 {
                return Ok(to.shutdown().await?);
            }
            add(&self.shared.counting.bytes_up, count);
            to.write_all(&buffer[..count]).await?;
        }
    }

    async fn pump_down(&self, mut from: ReadHalf<'_>, mut to: WriteHalf<'_>) -> Result<(), Reset> {
        let mut buffer = vec![0; 65_536];
        loop {
            let count = from.read(&mut buffer).await?;
            self.client_spoke.store(false, Ordering::SeqCst);
            if self.loses_reply.load(Ordering::SeqCst) {
                return Err(Reset);
            }
            match self.fault()? {
                ConnectionFault::Drop | ConnectionFault::HalfOpen if count == 0 => {
                    return self.silence().await;
                }
                ConnectionFault::Drop | ConnectionFault::HalfOpen => {
                    self.lost.store(true, Ordering::SeqCst);
                    continue;
                }
                ConnectionFault::Delay(span) => SystemClock.sleep(span).await,
                _ => {}
            }
            if count == 0 {
                return Ok(to.shutdown().await?);
            }
            add(&self.shared.counting.bytes_down, count);
            to.write_all(&buffer[..count]).await?;
        }
    }

    /// What happens now. A connection with a gap does not go on.
    fn fault(&self) -> Result<ConnectionFault, Reset> {
        let fault = *self.shared.fault.borrow();
        if self.lost.load(Ordering::SeqCst) && !fault.loses() {
            return Err(Reset);
        }
        Ok(fault)
    }

    /// An end that is not passed on: the other side waits until the fault is over.
    async fn silence(&self) -> Result<(), Reset> {
        self.lost.store(true, Ordering::SeqCst);
        let mut faults = self.shared.fault.subscribe();
        let _ = faults.wait_for(|fault| !fault.loses()).await;
        Err(Reset)
    }

    /// Returns when a fault that has been set resets this connection.
    async fn doomed(&self, faults: &mut watch::Receiver<ConnectionFault>) {
        let is_doomed = |fault: &ConnectionFault| {
            let lost = self.lost.load(Ordering::SeqCst);
            *fault == ConnectionFault::Refuse || (lost && !fault.loses())
        };
        let _ = faults.wait_for(is_doomed).await;
    }

    /// The reply to what was just said is lost, if no other one was.
    fn claim_loss(&self) {
        let open = self.shared.open.lock().expect("no holder panics");
        if self.number > open.may_lose {
            return;
        }
        let claimed = self.shared.fault.send_if_modified(|fault| {
            let is_armed = *fault == ConnectionFault::LoseReplies;
            if is_armed {
                *fault = ConnectionFault::None;
            }
            is_armed
        });
        self.loses_reply.store(claimed, Ordering::SeqCst);
    }
}
