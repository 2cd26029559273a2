//! Connections: a bounded number, one request each, none for long, and none that keeps others out
//! by silence.

use std::collections::VecDeque;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use baton_store::clock::{Clock, SystemClock};
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinSet, yield_now};

const REQUEST_MAX: usize = 16 * 1024;

/// Waited when the system has no more descriptors.
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// The limits that protect the node from a client that asks too much.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most connections at once. Beyond that the oldest whose request has not come yet makes
    /// way; if there is none, a new one waits in the system's queue.
    pub connections: usize,
    /// The longest that the head of a request may take.
    pub head: Duration,
    /// The longest that a connection lasts, request and answer together.
    pub lasts: Duration,
}

/// Those of an endpoint.
pub const LIMITS: Limits =
    Limits { connections: 32, head: Duration::from_secs(1), lasts: Duration::from_secs(10) };

struct OpenConnection {
    task: AbortHandle,
    head_received: Arc<AtomicBool>,
}

impl OpenConnection {
    /// Has the whole head of its request not come yet?
    fn is_silent(&self) -> bool {
        !self.head_received.load(Ordering::Relaxed) && !self.task.is_finished()
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
    // The oldest first.
    let mut taken = VecDeque::<OpenConnection>::new();
    loop {
        let has_room =
            open.len() < limits.connections || taken.iter().any(OpenConnection::is_silent);
        tokio::select! {
            biased;
            _ = &mut stop => return,
            Some(_) = open.join_next() => {}
            accepted = listener.accept(), if has_room => match accepted {
                Ok((stream, _)) => {
                    taken.retain(|connection| !connection.task.is_finished());
                    tokio::select! {
                        biased;
                        _ = &mut stop => return,
                        () = make_room(&mut open, &taken, limits.connections) => {}
                    }
                    let head_received = Arc::<AtomicBool>::default();
                    let talk = converse(stream, answers.clone(), limits, head_received.clone());
                    taken.push_back(OpenConnection { task: open.spawn(talk), head_received });
                    // Before another one is let in, this one may read what it was sent.
                    yield_now().await;
                }
                Err(_) => SystemClock.sleep(AGAIN_AFTER).await,
            },
        }
    }
}

/// Ends the oldest connection that has not asked yet, if all are taken.
async fn make_room(open: &mut JoinSet<()>, taken: &VecDeque<OpenConnection>, connections: usize) {
    while open.len() >= connections {
        if let Some(oldest) = taken.iter().find(|connection| connection.is_silent()) {
            oldest.task.abort();
        }
        open.join_next().await;
    }
}

async fn converse(
    stream: TcpStream,
    answers: Router,
    limits: Limits,
    head_received: Arc<AtomicBool>,
) {
    let answers = TowerToHyperService::new(answers);
    // Called when the whole head is there.
    let service = service_fn(|request: Request<Incoming>| {
        head_received.store(true, Ordering::Relaxed);
        answers.call(request)
    });
    let connection = http1::Builder::new()
        .keep_alive(false)
        .max_buf_size(REQUEST_MAX)
        .serve_connection(TokioIo::new(stream), service);
    let silent = async {
        SystemClock.sleep(limits.head).await;
        if head_received.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        // A client that asked nonsense has its answer, or has gone.
        _ = connection => {}
        () = silent => {}
        () = SystemClock.sleep(limits.lasts) => {}
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
        answering_with(Router::new().route("/", get(async || "here")), limits, ask);
    }

    fn answering_with(answers: Router, limits: Limits, ask: impl FnOnce(SocketAddr)) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("a socket of this test's");
        let address = listener.local_addr().expect("it is bound");
        let (stop, stopped) = oneshot::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let runtime = runtime.expect("there is room for one");
                runtime.block_on(serve(listener, answers, limits, stopped));
            });
            // Dropped at the end, also by a check that fails.
            let _stop = stop;
            ask(address);
        });
    }

    /// A connection that waits for an answer, though not for ever.
    fn connect(address: SocketAddr) -> Socket {
        let patience = Duration::from_secs(30);
        let socket = Socket::connect_timeout(&address, patience).expect("it listens");
        socket.set_read_timeout(Some(patience)).expect("a valid span");
        socket
    }

    fn asked(address: SocketAddr, request: &str) -> String {
        let mut socket = connect(address);
        // A server that refuses may close before it has read everything.
        let _ = socket.write_all(request.as_bytes());
        let mut answer = Vec::new();
        let _ = socket.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// No connection ends because its time is over while a test waits.
    const PATIENT: Limits =
        Limits { connections: 32, head: Duration::from_secs(600), lasts: Duration::from_secs(600) };

    const REQUEST: &str = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";

    fn is_closed(mut socket: &Socket) -> bool {
        socket.set_nonblocking(true).expect("a socket of this test's");
        let read = socket.read(&mut [0; 64]);
        !read.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
    }

    #[test]
    fn three_hundred_silent_connections_keep_no_client_out() {
        answering(PATIENT, |address| {
            let silent: Vec<Socket> = (0..300).map(|_| connect(address)).collect();
            let answer = asked(address, REQUEST);
            assert!(answer.ends_with("here"), "{answer:?}");
            // Those that came last stay: one made way for the question, and it is over.
            let (old, young) = silent.split_at(300 - PATIENT.connections + 1);
            assert!(old.iter().all(is_closed), "the oldest make way first");
            assert!(!young.iter().any(is_closed), "and no more than had to");
        });
    }

    #[test]
    fn who_has_asked_is_not_dropped_for_a_newcomer() {
        let limits = Limits { connections: 2, ..PATIENT };
        let (let_go, held) = std::sync::mpsc::channel();
        let held = Arc::new(std::sync::Mutex::new(Some(held)));
        let waiting = held.clone();
        let has_asked = move || waiting.lock().expect("no holder panics").is_none();
        let slow = Router::new().route("/", get(async || "here")).route(
            "/slow",
            get(move || {
                let held = held.lock().expect("no holder panics").take().expect("asked once");
                async move {
                    while held.try_recv().is_err() {
                        yield_now().await;
                    }
                    "at last"
                }
            }),
        );
        answering_with(slow, limits, |address| {
            let mut patient = connect(address);
            patient.write_all(b"GET /slow HTTP/1.1\r\n\r\n").expect("it listens");
            while !has_asked() {
                std::thread::yield_now();
            }
            for _ in 0..4 {
                let silent = connect(address);
                assert!(asked(address, REQUEST).ends_with("here"));
                assert!(is_closed(&silent), "the silent one made way");
            }
            let_go.send(()).expect("a task waits");
            let mut answer = String::new();
            patient.read_to_string(&mut answer).expect("it answers in text");
            assert!(answer.ends_with("at last"), "{answer:?}");
        });
    }

    #[test]
    fn a_head_that_does_not_come_in_time_ends_the_connection() {
        let limits = Limits { head: Duration::from_millis(50), ..PATIENT };
        answering(limits, |address| {
            let mut slow = connect(address);
            slow.write_all(b"GET / HTT").expect("it listens");
            let mut rest = Vec::new();
            slow.read_to_end(&mut rest).expect("it was closed");
            assert_eq!(rest, b"");
        });
    }

    #[test]
    fn a_request_without_end_is_refused() {
        answering(LIMITS, |address| {
            let request = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(4 * REQUEST_MAX));
            let answer = asked(address, &request);
            assert!(!answer.contains("here"), "{answer:?}");
        });
    }

    #[test]
    fn what_is_open_is_closed_with_the_endpoint() {
        let mut held = None;
        answering(LIMITS, |address| {
            let socket = connect(address);
            let answer = asked(address, "GET / HTTP/1.1\r\nhost: x\r\n\r\n");
            assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer:?}");
            held = Some(socket);
        });
        let mut rest = Vec::new();
        let mut socket = held.expect("it was opened");
        assert_eq!(socket.read_to_end(&mut rest).map_or(0, |read| read), 0);
    }
}
