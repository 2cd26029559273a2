//! A server that says what it was told, and a client that says what became of its words.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use baton_store::clock::{Clock, SystemClock};
use baton_testbed::Proxy;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// A server that echoes, and counts the bytes that reached it. Ends when it is dropped.
pub struct Echo {
    pub address: SocketAddr,
    heard: Arc<AtomicUsize>,
    _tasks: JoinSet<()>,
}

impl Echo {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a port");
        let address = listener.local_addr().expect("it listens");
        let heard = Arc::new(AtomicUsize::new(0));
        let mut tasks = JoinSet::new();
        let counted = Arc::clone(&heard);
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(echo(stream, Arc::clone(&counted)));
            }
        });
        Self { address, heard, _tasks: tasks }
    }

    /// Waits until this many bytes have reached it.
    pub async fn has_heard(&self, bytes: usize) -> bool {
        let until = SystemClock.now() + Duration::from_secs(5);
        while self.heard.load(Ordering::SeqCst) < bytes && SystemClock.now() < until {
            SystemClock.sleep(Duration::from_millis(1)).await;
        }
        self.heard.load(Ordering::SeqCst) == bytes
    }
}

async fn echo(mut stream: TcpStream, heard: Arc<AtomicUsize>) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        heard.fetch_add(count, Ordering::SeqCst);
        if stream.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}

/// What became of something said.
#[derive(Debug, PartialEq, Eq)]
pub enum Heard {
    Echo,
    End,
    Reset,
    Nothing,
}

pub async fn connect(proxy: &Proxy) -> TcpStream {
    TcpStream::connect(proxy.address()).await.expect("the proxy listens")
}

/// What a new connection comes to that says nothing. A reset may come before it is open.
pub async fn knock(proxy: &Proxy) -> Heard {
    match TcpStream::connect(proxy.address()).await {
        Ok(mut stream) => hear(&mut stream).await,
        Err(_) => Heard::Reset,
    }
}

/// Says a word and waits for the echo.
pub async fn say(stream: &mut TcpStream) -> Heard {
    if stream.write_all(b"word").await.is_err() {
        return Heard::Reset;
    }
    hear(stream).await
}

/// Waits for the echo of a word.
pub async fn hear(stream: &mut TcpStream) -> Heard {
    hear_within(stream, Duration::from_secs(10)).await
}

/// Says a word, if there is one, and hears nothing for a while.
pub async fn is_silent(stream: &mut TcpStream, word: &str) -> bool {
    let said = stream.write_all(word.as_bytes()).await.is_ok();
    said && hear_within(stream, Duration::from_millis(100)).await == Heard::Nothing
}

async fn hear_within(stream: &mut TcpStream, patience: Duration) -> Heard {
    let mut buffer = [0; 4];
    tokio::select! {
        read = stream.read_exact(&mut buffer) => match read {
            Ok(_) => Heard::Echo,
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Heard::End,
            Err(_) => Heard::Reset,
        },
        () = SystemClock.sleep(patience) => Heard::Nothing,
    }
}
