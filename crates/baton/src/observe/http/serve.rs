//! Connections: a bounded number, one request each, none for long.

use std::net::TcpListener;
use std::time::Duration;

use axum::Router;
use baton_store::clock::{Clock, SystemClock};
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// The longest head of a request.
const REQUEST_MAX: usize = 16 * 1024;

/// Waited when the system has no more descriptors.
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// What is kept from whoever asks too much.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most connections at once. Whoever comes later waits in the system's queue.
    pub connections: usize,
    /// The longest that a connection lasts, request and answer together.
    pub lasts: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connections: 32, lasts: Duration::from_secs(10) }
    }
}

/// Answers until told to stop; then whatever is open is closed.
pub async fn serve(
    listener: TcpListener,
    answers: Router,
    limits: Limits,
    mut stop: oneshot::Receiver<()>,
) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            _ = &mut stop => return,
            Some(_) = open.join_next() => {}
            came = listener.accept(), if open.len() < limits.connections => match came {
                Ok((stream, _)) => {
                    open.spawn(converse(stream, answers.clone(), limits.lasts));
                }
                Err(_) => SystemClock.sleep(AGAIN_AFTER).await,
            },
        }
    }
}

async fn converse(stream: TcpStream, answers: Router, lasts: Duration) {
    let connection = http1::Builder::new()
        .keep_alive(false)
        .max_buf_size(REQUEST_MAX)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(answers));
    tokio::select! {
        // Whoever asked nonsense was told so, or has gone.
        _ = connection => {}
        () = SystemClock.sleep(lasts) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{SocketAddr, TcpStream as Socket};

    use axum::routing::get;

    use super::*;

    /// What is answered with these limits, on a thread of its own, while `ask` runs.
    fn answering(limits: Limits, ask: impl FnOnce(SocketAddr)) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("a socket of this test's");
        let address = listener.local_addr().expect("it is bound");
        let answers = Router::new().route("/", get(async || "here"));
        let (stop, stopped) = oneshot::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let runtime = runtime.expect("there is room for one");
                runtime.block_on(serve(listener, answers, limits, stopped));
            });
            ask(address);
            let _ = stop.send(());
        });
    }

    fn asked(address: SocketAddr, request: &str) -> String {
        let mut socket = Socket::connect(address).expect("it listens");
        // Whoever refuses may close before it has read everything.
        let _ = socket.write_all(request.as_bytes());
        let mut answer = Vec::new();
        let _ = socket.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    #[test]
    fn whoever_says_nothing_is_let_go_and_makes_room() {
        let limits = Limits { connections: 1, lasts: Duration::from_millis(50) };
        answering(limits, |address| {
            let mut silent = Socket::connect(address).expect("it listens");
            let answer = asked(address, "GET / HTTP/1.1\r\nhost: x\r\n\r\n");
            assert!(answer.ends_with("here"), "{answer:?}");
            let mut rest = Vec::new();
            silent.read_to_end(&mut rest).expect("it was closed");
            assert_eq!(rest, b"");
        });
    }

    #[test]
    fn a_request_without_end_is_refused() {
        answering(Limits::default(), |address| {
            let request = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(4 * REQUEST_MAX));
            let answer = asked(address, &request);
            assert!(!answer.contains("here"), "{answer:?}");
        });
    }

    #[test]
    fn what_is_open_is_closed_with_the_endpoint() {
        let mut held = None;
        answering(Limits::default(), |address| {
            let socket = Socket::connect(address).expect("it listens");
            let answer = asked(address, "GET / HTTP/1.1\r\nhost: x\r\n\r\n");
            assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer:?}");
            held = Some(socket);
        });
        let mut rest = Vec::new();
        let mut socket = held.expect("it was opened");
        assert_eq!(socket.read_to_end(&mut rest).map_or(0, |read| read), 0);
    }
}
