//! Does a server answer? Asked in its own protocol, over a plain socket.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use baton_store::clock::{Clock, SystemClock};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::kind::Kind;

/// How long one question may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// Asks once.
pub async fn answers(kind: Kind, address: SocketAddr) -> bool {
    tokio::select! {
        found = ask(kind, address) => found.unwrap_or(false),
        () = SystemClock.sleep(PATIENCE) => false,
    }
}

async fn ask(kind: Kind, address: SocketAddr) -> io::Result<bool> {
    match kind {
        Kind::Postgres | Kind::Postgres18 | Kind::Pgbouncer => {
            says(address, &postgres_startup(), b"R").await
        }
        // A greeting comes by itself: its length, its number, and version 10 of the protocol.
        Kind::Mariadb | Kind::Mysql => {
            let mut greeting = [0; 5];
            TcpStream::connect(address).await?.read_exact(&mut greeting).await?;
            Ok(greeting[4] == 10)
        }
        Kind::Redis => says(address, b"PING\r\n", b"+PONG").await,
        Kind::Etcd => Ok(http(address, "GET", "/health").await?.contains("\"true\"")),
        Kind::Ministack => is_ok(address, "/_ministack/health").await,
        Kind::Seaweedfs => is_ok(address, "/healthz").await,
        // It answers before it serves; with its mode it tells that it does.
        Kind::Zookeeper => {
            let mut stream = TcpStream::connect(address).await?;
            stream.write_all(b"srvr").await?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await?;
            Ok(answer.contains("Mode"))
        }
    }
}

async fn is_ok(address: SocketAddr, path: &str) -> io::Result<bool> {
    Ok(http(address, "GET", path).await?.starts_with("HTTP/1.1 200"))
}

async fn says(address: SocketAddr, question: &[u8], wanted: &[u8]) -> io::Result<bool> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(question).await?;
    let mut answer = vec![0; wanted.len()];
    stream.read_exact(&mut answer).await?;
    Ok(answer == wanted)
}

/// Version 3.0 of the protocol, with user and database. `R` answers a client that is let in.
fn postgres_startup() -> Vec<u8> {
    let body = b"\0\x03\0\0user\0postgres\0database\0postgres\0\0";
    let length = u32::try_from(body.len() + 4).expect("it is a short message");
    [&length.to_be_bytes()[..], body].concat()
}

/// One request of HTTP, and the whole answer.
pub async fn http(address: SocketAddr, method: &str, path: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 0\r\n\
         Connection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
