//! The dialling side: hints to another node, and a look whether it is there.

use std::io;
use std::time::Duration;

use baton_core::LifelineReport;
use baton_core::ids::Namespace;
use baton_core::protocol::Hint;
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Inspection, StoreError};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::address::Address;
use super::key::Key;
use super::wire::{self, LifelineHint};

/// How long a dial and the greeting may take each.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);

const GREETING_BYTES_MAX: u64 = 1_024;

/// Passes a hint to the process that listens there, whose address the store has. It may be lost.
pub async fn send_hint(address: &str, namespace: &Namespace, hint: &Hint) -> io::Result<()> {
    in_time(send(address, namespace, &LifelineHint::Core(hint.clone()))).await?.map(drop)
}

/// The same for the service of this name.
pub(crate) async fn send_topic(
    address: &str,
    namespace: &Namespace,
    topic: &str,
) -> io::Result<()> {
    let hint = LifelineHint::Service { topic: topic.to_owned() };
    in_time(send(address, namespace, &hint)).await?.map(drop)
}

/// The same for the service of this name on the leader, as a look at the lease shows it. It may be
/// lost.
pub(crate) async fn hint_leader(
    look: Result<Inspection, StoreError>,
    namespace: &Namespace,
    topic: &str,
) {
    let holder = look.ok().and_then(|it| it.lease).and_then(|lease| lease.holder);
    if let Some(address) = holder.and_then(|holder| holder.lifeline) {
        let _ = send_topic(&address, namespace, topic).await;
    }
}

/// The same as [`send_hint`], and waits until the other has taken it in.
pub(crate) async fn send_and_wait(
    address: &str,
    namespace: &Namespace,
    hint: &Hint,
) -> io::Result<()> {
    let sent = async {
        let stream = send(address, namespace, &LifelineHint::Core(hint.clone())).await?;
        // It says who it is, and hangs up when it has read everything.
        tokio::io::copy(&mut stream.take(GREETING_BYTES_MAX), &mut tokio::io::sink()).await
    };
    in_time(sent).await?.map(drop)
}

async fn send(address: &str, namespace: &Namespace, hint: &LifelineHint) -> io::Result<TcpStream> {
    let keyless = || io::Error::new(io::ErrorKind::InvalidInput, "the address has no key");
    let key = Key::in_address(address).ok_or_else(keyless)?;
    let mut stream = dial(address).await?;
    stream.set_nodelay(true)?;
    stream.write_all(wire::hint_line(key, namespace, hint).as_bytes()).await?;
    stream.shutdown().await?;
    Ok(stream)
}

/// Finds out which process answers at an address: [`LifelineReport::OtherBoot`] names it.
pub async fn probe(address: &str) -> LifelineReport {
    let looked = async {
        let mut reader = BufReader::new(dial(address).await?);
        wire::line(&mut reader).await
    };
    match in_time(looked).await.and_then(|looked| looked) {
        Ok(line) => line
            .and_then(|line| wire::parse_greeting(&line))
            .map_or(LifelineReport::Closed, LifelineReport::OtherBoot),
        Err(error) => seen_by(&error),
    }
}

/// What a dial that failed says. Only a refusal by that very address says something; a reset, an
/// unreachable network or a dial that met itself does not.
pub(super) fn seen_by(error: &io::Error) -> LifelineReport {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => LifelineReport::Refused,
        io::ErrorKind::TimedOut => LifelineReport::TimedOut,
        _ => LifelineReport::Closed,
    }
}

/// Connects. A refusal is from that very address; an address of another network is not dialled.
pub(super) async fn dial(address: &str) -> io::Result<TcpStream> {
    let elsewhere = |why: String| io::Error::new(io::ErrorKind::AddrNotAvailable, why);
    let address: Address = address.parse().map_err(|_| elsewhere("it is no address".to_owned()))?;
    let target = address.dialable();
    let target = target.ok_or_else(|| elsewhere(format!("{address} is in another network")))?;
    let stream = TcpStream::connect(target).await?;
    // A dial to a free port of the ephemeral range can meet itself: no process listens there.
    if stream.local_addr()? == stream.peer_addr()? {
        return Err(io::Error::from(io::ErrorKind::ConnectionAborted));
    }
    Ok(stream)
}

pub(super) async fn in_time<T>(future: impl Future<Output = T>) -> io::Result<T> {
    tokio::select! {
        biased;
        done = future => Ok(done),
        () = SystemClock.sleep(PATIENCE) => Err(io::Error::from(io::ErrorKind::TimedOut)),
    }
}
