//! A small HTTP server in front of the real one: it writes down what is asked, and a test decides
//! what becomes of each request.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// One request, as far as tests look at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentRequest {
    pub method: String,
    /// Path and query, as sent.
    pub target: String,
    pub if_match: Option<String>,
    pub if_none_match: Option<String>,
}

impl SentRequest {
    /// Is it a write of this object?
    pub fn puts(&self, file: &str) -> bool {
        self.method == "PUT" && self.target.ends_with(file)
    }

    /// Is it a listing?
    pub fn lists(&self) -> bool {
        self.method == "GET" && self.target.contains("list-type=2")
    }
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug)]
pub enum Reaction {
    /// The server answers it.
    Forward,
    /// The server answers it, and never learns of its conditions.
    Unconditional,
    /// The server carries it out, and its answer is lost.
    LoseReply,
    /// The server answers it, and its answer arrives without an ETag.
    DropEtag,
    /// It is answered here: a status and the code of an S3 error.
    Answer(u16, &'static str),
}

type React = Arc<dyn Fn(&SentRequest) -> Reaction + Send + Sync>;

/// The server in front. It ends with the test's process.
pub struct HttpProxy {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    server: SocketAddr,
    react: Mutex<React>,
    log: Mutex<Vec<SentRequest>>,
    ended: AtomicBool,
    tls: Option<Arc<rustls::ServerConfig>>,
}

impl HttpProxy {
    /// In front of this server; every request is forwarded at first.
    pub fn of(server: SocketAddr, tls: Option<Arc<rustls::ServerConfig>>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let address = listener.local_addr().expect("it was just bound");
        let shared = Arc::new(Shared {
            server,
            react: Mutex::new(Arc::new(|_| Reaction::Forward)),
            log: Mutex::default(),
            ended: AtomicBool::new(false),
            tls,
        });
        let inside = Arc::clone(&shared);
        let run = move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if inside.ended.load(Ordering::Relaxed) {
                    return;
                }
                let shared = Arc::clone(&inside);
                thread("http-proxy-connection", move || shared.serve(stream));
            }
        };
        thread("http-proxy", run);
        Self { address, shared }
    }

    /// From now on the test decides so.
    pub fn react(&self, react: impl Fn(&SentRequest) -> Reaction + Send + Sync + 'static) {
        *self.shared.react.lock().expect("no holder panics") = Arc::new(react);
    }

    /// What was asked since this was last called.
    pub fn requests(&self) -> Vec<SentRequest> {
        std::mem::take(&mut *self.shared.log.lock().expect("no holder panics"))
    }
}

impl Drop for HttpProxy {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts; if that fails, it ends with the process.
        let _ = TcpStream::connect(self.address);
    }
}

fn thread(name: &str, run: impl FnOnce() + Send + 'static) {
    let started = std::thread::Builder::new().name(name.to_owned()).spawn(run);
    started.expect("the machine has a thread left");
}

impl Shared {
    fn serve(&self, stream: TcpStream) {
        // A client that goes away, or speaks no TLS, ends its connection and nothing else.
        let _ = match &self.tls {
            None => self.answer(stream),
            Some(config) => rustls::ServerConnection::new(Arc::clone(config))
                .map_err(io::Error::other)
                .and_then(|tls| self.answer(rustls::StreamOwned::new(tls, stream))),
        };
    }

    /// One request a connection: every answer says that it is the last.
    fn answer(&self, mut client: impl Read + Write) -> io::Result<()> {
        let (head, body) = read_request(&mut client)?;
        let asked = parse(&head);
        self.log.lock().expect("no holder panics").push(asked.clone());
        let react = Arc::clone(&self.react.lock().expect("no holder panics"));
        let reaction = react(&asked);
        let reply = match reaction {
            Reaction::Answer(status, code) => {
                let xml = format!("<Error><Code>{code}</Code></Error>");
                let length = xml.len();
                let close = "Connection: close\r\n\r\n";
                format!("HTTP/1.1 {status} No\r\nContent-Length: {length}\r\n{close}{xml}")
                    .into_bytes()
            }
            Reaction::DropEtag => without_etag(&self.forward(&head, &body, false)?),
            _ => self.forward(&head, &body, matches!(reaction, Reaction::Unconditional))?,
        };
        if !matches!(reaction, Reaction::LoseReply) {
            client.write_all(&reply)?;
            client.flush()?;
        }
        Ok(())
    }

    fn forward(&self, head: &str, body: &[u8], unconditional: bool) -> io::Result<Vec<u8>> {
        let dropped = |line: &str| {
            let name = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
            name == "connection"
                || unconditional && matches!(name.as_str(), "if-match" | "if-none-match")
        };
        let mut lines = head.lines().filter(|line| !line.is_empty());
        let first = lines.next().unwrap_or_default();
        let mut request = format!("{first}\r\nConnection: close\r\n");
        for line in lines.filter(|line| !dropped(line)) {
            request.push_str(line);
            request.push_str("\r\n");
        }
        request.push_str("\r\n");
        let mut server = TcpStream::connect(self.server)?;
        server.write_all(&[request.as_bytes(), body].concat())?;
        let mut reply = Vec::new();
        server.read_to_end(&mut reply)?;
        Ok(reply)
    }
}

/// The answer with another name for the header.
fn without_etag(reply: &[u8]) -> Vec<u8> {
    let name = reply.windows(7).position(|part| part.eq_ignore_ascii_case(b"\r\nETag:"));
    let mut reply = reply.to_vec();
    if let Some(at) = name {
        reply[at + 2] = b'x';
    }
    reply
}

fn read_request(client: &mut impl Read) -> io::Result<(String, Vec<u8>)> {
    let (mut bytes, mut part) = (Vec::new(), [0; 16_384]);
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        match client.read(&mut part)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => bytes.extend_from_slice(&part[..read]),
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let length = header(&head, "content-length").and_then(|it| it.parse().ok()).unwrap_or(0);
    let mut body = bytes.split_off(end);
    while body.len() < length {
        match client.read(&mut part)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => body.extend_from_slice(&part[..read]),
        }
    }
    Ok((head, body))
}

fn header(head: &str, wanted: &str) -> Option<String> {
    let lines = head.lines().filter_map(|line| line.split_once(':'));
    let mut found = lines.filter(|(name, _)| name.eq_ignore_ascii_case(wanted));
    found.next().map(|(_, value)| value.trim().to_owned())
}

fn parse(head: &str) -> SentRequest {
    let mut words = head.split(' ').map(str::to_owned);
    SentRequest {
        method: words.next().unwrap_or_default(),
        target: words.next().unwrap_or_default(),
        if_match: header(head, "if-match"),
        if_none_match: header(head, "if-none-match"),
    }
}
