//! The dialling side: hints to another node, and a look whether it is there.

use std::io;
use std::time::Duration;

use baton_core::LifelineReport;
use baton_core::ids::{BootId, Namespace};
use baton_core::protocol::Hint;
use baton_store::clock::{Clock, SystemClock};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::address::Address;
use super::key::Key;
use super::wire::{self, Hinted};

/// How long a dial and the greeting may take each.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);

/// More than any greeting.
const GREETING_BYTES_MAX: u64 = 1_024;

/// Passes a hint to the process that listens there, whose address the store has. It may be lost.
pub async fn send_hint(address: &str, namespace: &Namespace, hint: &Hint) -> io::Result<()> {
    send(address, namespace, &Hinted::Core(hint.clone())).await
}

/// The same for the service of this name.
pub(crate) async fn send_topic(
    address: &str,
    namespace: &Namespace,
    topic: &str,
) -> io::Result<()> {
    send(address, namespace, &Hinted::Service { topic: topic.to_owned() }).await
}

async fn send(address: &str, namespace: &Namespace, hint: &Hinted) -> io::Result<()> {
    let line = line_for(address, namespace, hint)?;
    let sent = async {
        let mut stream = dial(address).await?;
        stream.set_nodelay(true)?;
        stream.write_all(line.as_bytes()).await?;
        stream.shutdown().await
    };
    in_time(sent).await?
}

/// The same, and waits until the other has taken it in.
pub(crate) async fn send_and_wait(
    address: &str,
    namespace: &Namespace,
    hint: &Hint,
) -> io::Result<()> {
    let line = line_for(address, namespace, &Hinted::Core(hint.clone()))?;
    let sent = async {
        let mut stream = dial(address).await?;
        stream.set_nodelay(true)?;
        stream.write_all(line.as_bytes()).await?;
        stream.shutdown().await?;
        // It says who it is, and hangs up when it has read everything.
        tokio::io::copy(&mut stream.take(GREETING_BYTES_MAX), &mut tokio::io::sink()).await
    };
    in_time(sent).await?.map(|_| ())
}

/// Finds out which process answers at an address: [`LifelineReport::OtherBoot`] names it.
pub async fn probe(address: &str) -> LifelineReport {
    let looked = async {
        let mut reader = BufReader::new(dial(address).await?);
        wire::line(&mut reader).await
    };
    match in_time(looked).await.and_then(|looked| looked) {
        Ok(Some(line)) => wire::greeted(&line).map_or(LifelineReport::Closed, other_boot),
        Ok(None) => LifelineReport::Closed,
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => LifelineReport::Refused,
        Err(error) if error.kind() == io::ErrorKind::TimedOut => LifelineReport::TimedOut,
        Err(_) => LifelineReport::Closed,
    }
}

/// A hint as a line for the process at this address.
fn line_for(address: &str, namespace: &Namespace, hint: &Hinted) -> io::Result<String> {
    let keyless = || io::Error::new(io::ErrorKind::InvalidInput, "the address has no key");
    Ok(wire::hint_line(Key::in_address(address).ok_or_else(keyless)?, namespace, hint))
}

fn other_boot(boot: BootId) -> LifelineReport {
    LifelineReport::OtherBoot(boot)
}

/// Connects. A refusal is from that very address; an address of another network is not dialled.
pub(super) async fn dial(address: &str) -> io::Result<TcpStream> {
    let elsewhere = |_| io::Error::from(io::ErrorKind::AddrNotAvailable);
    let address: Address = address.parse().map_err(elsewhere)?;
    let target = address.dialable().ok_or_else(|| elsewhere_error(&address))?;
    let stream = TcpStream::connect(target).await?;
    // A dial to a free port of the ephemeral range can meet itself: no process listens there.
    if stream.local_addr()? == stream.peer_addr()? {
        return Err(io::Error::from(io::ErrorKind::ConnectionAborted));
    }
    Ok(stream)
}

fn elsewhere_error(address: &Address) -> io::Error {
    io::Error::new(io::ErrorKind::AddrNotAvailable, format!("{address} is in another network"))
}

pub(super) async fn in_time<T>(future: impl Future<Output = T>) -> io::Result<T> {
    tokio::select! {
        biased;
        done = future => Ok(done),
        () = SystemClock.sleep(PATIENCE) => Err(io::Error::from(io::ErrorKind::TimedOut)),
    }
}
