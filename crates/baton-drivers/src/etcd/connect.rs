//! The connection: one endpoint while it answers, the next when it does not.
//!
//! A request that was sent is never sent again, to this endpoint or to the next. The exceptions are
//! certain not to have been done: no connection came about, or the login had run out.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use baton_core::time::Moment;
use baton_store::StoreError;
use baton_store::clock::{Clock, SystemClock};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use reqwest::{Client, RequestBuilder, Response, redirect, retry};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::NAME;
use super::config::EtcdConfig;
use super::error::{GatewayError, code};
use super::wire::{KeyValue, Range, RangeAnswer, Txn, TxnAnswer};
use crate::OpenError;
use crate::driver::{DriverError, within};
use crate::tls::{TlsFiles, tls_error};

const LATE: &str = "no answer in time";

pub(super) struct Connection {
    pub(super) config: EtcdConfig,
    tls: Option<rustls::ClientConfig>,
    /// Its connections. All of them are discarded when the endpoint is given up.
    client: Mutex<Client>,
    current: AtomicUsize,
    token: Mutex<Option<String>>,
}

/// A request: where it goes, its body, and until when the answer must be there.
#[derive(Clone, Copy)]
struct Request<'a> {
    path: &'a str,
    body: &'a [u8],
    deadline: Moment,
    /// The answer goes on for as long as the connection does; only its beginning must come in time.
    is_stream: bool,
}

impl Connection {
    /// Nothing is sent yet.
    pub(super) fn new(config: EtcdConfig) -> Result<Self, OpenError> {
        // The client library looks for it even where it is not needed; another one will do.
        drop(rustls::crypto::ring::default_provider().install_default());
        let failed = |detail| OpenError::Tls { store: NAME, place: config.place.clone(), detail };
        let tls = config.tls.as_ref().map(TlsFiles::client_config).transpose().map_err(failed)?;
        let client = Mutex::new(client(&config, tls.as_ref()).map_err(failed)?);
        let (current, token) = (AtomicUsize::new(0), Mutex::new(None));
        Ok(Self { config, tls, client, current, token })
    }

    /// When a call that begins now must be over.
    pub(super) fn deadline(&self) -> Moment {
        SystemClock.now() + self.config.timeout
    }

    pub(super) async fn range(&self, range: &Range) -> Result<Vec<KeyValue>, StoreError> {
        let answer: RangeAnswer =
            self.ask("kv/range", range).await.map_err(GatewayError::of_read)?;
        Ok(answer.kvs)
    }

    /// Carries out a transaction that may write.
    pub(super) async fn commit(&self, txn: &Txn) -> Result<TxnAnswer, StoreError> {
        Ok(self.ask("kv/txn", txn).await.map_err(DriverError::from)?)
    }

    /// Sends a request, and reads the answer.
    pub(super) async fn ask<A: DeserializeOwned>(
        &self,
        path: &str,
        query: &impl Serialize,
    ) -> Result<A, GatewayError> {
        self.ask_by(path, query, self.deadline()).await
    }

    /// The same within the time that a call has left.
    pub(super) async fn ask_by<A: DeserializeOwned>(
        &self,
        path: &str,
        query: &impl Serialize,
        deadline: Moment,
    ) -> Result<A, GatewayError> {
        let body = bytes(query);
        let request = Request { path, body: &body, deadline, is_stream: false };
        let (at, response) = self.send(request).await?;
        self.read(at, response).await
    }

    /// Sends a request whose answers go on for as long as the connection does.
    pub(super) async fn stream(
        &self,
        path: &str,
        query: &impl Serialize,
    ) -> Result<Response, GatewayError> {
        let (body, deadline) = (bytes(query), self.deadline());
        let request = Request { path, body: &body, deadline, is_stream: true };
        self.send(request).await.map(|(_, response)| response)
    }

    /// Is there a user, and does the server not ask for one?
    pub(super) fn login_is_ignored(&self) -> bool {
        self.lock_token().as_deref() == Some("")
    }

    /// Sends it once, as a user that the server knows.
    async fn send(&self, request: Request<'_>) -> Result<(usize, Response), GatewayError> {
        let mut is_new = self.log_in(request.deadline).await?;
        loop {
            let answer = self.send_to_any(request).await;
            let turned_away = matches!(
                &answer,
                Err(GatewayError::Refused {
                    code: code::UNAUTHENTICATED | code::INVALID_ARGUMENT,
                    ..
                })
            );
            if !turned_away || is_new || self.config.login.is_none() {
                return answer;
            }
            // Checked before anything is done: a token ran out, or the users were changed.
            *self.lock_token() = None;
            is_new = self.log_in(request.deadline).await?;
        }
    }

    /// Gets a token if one is needed. Is it a new one?
    async fn log_in(&self, deadline: Moment) -> Result<bool, GatewayError> {
        let Some((name, password)) = &self.config.login else { return Ok(false) };
        if self.lock_token().is_some() {
            return Ok(false);
        }
        let body =
            bytes(&BTreeMap::from([("name", name.as_str()), ("password", password.reveal())]));
        let request =
            Request { path: "auth/authenticate", body: &body, deadline, is_stream: false };
        let token = match self.send_to_any(request).await {
            Ok((at, response)) => {
                let answer: Value = self.read(at, response).await?;
                answer["token"].as_str().unwrap_or_default().to_owned()
            }
            // The server does not ask for users; `examine` warns of it.
            Err(GatewayError::Refused { code: code::FAILED_PRECONDITION, .. }) => String::new(),
            Err(error) => return Err(error),
        };
        *self.lock_token() = Some(token);
        Ok(true)
    }

    /// Sends it to the first endpoint that a connection can be made to.
    async fn send_to_any(&self, request: Request<'_>) -> Result<(usize, Response), GatewayError> {
        let mut error = GatewayError::NotSent("no time is left".to_owned());
        for _ in 0..self.config.endpoints.len() {
            let at = self.current.load(Ordering::Relaxed) % self.config.endpoints.len();
            let left = request.deadline.since(SystemClock.now());
            if left.is_zero() {
                return Err(error);
            }
            let builder = self.request(at, request.path, request.body);
            let builder = match request.is_stream {
                // A member that has lost its cluster ends the answer.
                true => builder.header("Grpc-Metadata-hasleader", "true"),
                false => builder.timeout(left),
            };
            error = match within(left, builder.send()).await {
                Some(Ok(response)) => return self.accepted(at, response).await,
                Some(Err(problem)) => failed(&problem),
                None => GatewayError::NoAnswer(LATE.to_owned()),
            };
            self.give_up(at);
            if matches!(error, GatewayError::NoAnswer(_)) {
                return Err(error);
            }
        }
        Err(error)
    }

    fn request(&self, at: usize, path: &str, body: &[u8]) -> RequestBuilder {
        let client = self.client.lock().expect("no holder of this lock panics").clone();
        let request = client.post(format!("{}/v3/{path}", self.config.endpoints[at]));
        let request = request.header(CONTENT_TYPE, "application/json").body(body.to_vec());
        match self.lock_token().as_deref() {
            None | Some("") => request,
            Some(token) => request.header(AUTHORIZATION, token),
        }
    }

    /// A refusal is not an answer.
    async fn accepted(
        &self,
        at: usize,
        response: Response,
    ) -> Result<(usize, Response), GatewayError> {
        let status = response.status();
        if status.is_success() {
            return Ok((at, response));
        }
        let body = response.bytes().await.map_err(|problem| self.broken(at, &problem))?;
        let refusal: Value = serde_json::from_slice(&body).unwrap_or_default();
        let Some(code) = refusal["code"].as_i64() else {
            self.give_up(at);
            return Err(GatewayError::Strange(format!("HTTP status {}", status.as_u16())));
        };
        if status.is_server_error() {
            // This member may have lost its cluster; the next may not.
            self.give_up(at);
        }
        let message = refusal["message"].as_str().unwrap_or_default().to_owned();
        Err(GatewayError::Refused { code, message })
    }

    async fn read<A: DeserializeOwned>(
        &self,
        at: usize,
        response: Response,
    ) -> Result<A, GatewayError> {
        let body = response.bytes().await.map_err(|problem| self.broken(at, &problem))?;
        serde_json::from_slice(&body).map_err(|problem| GatewayError::Strange(problem.to_string()))
    }

    fn broken(&self, at: usize, problem: &reqwest::Error) -> GatewayError {
        self.give_up(at);
        GatewayError::NoAnswer(words(problem))
    }

    /// Turns to the next endpoint, and discards all connections to this one. If another request has
    /// turned away from it already, the connections are those to the next one, and are left alone.
    fn give_up(&self, at: usize) {
        let next = (at + 1) % self.config.endpoints.len();
        let turned =
            self.current.compare_exchange(at, next, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        // It could be made with the same arguments before.
        if turned && let Ok(fresh) = client(&self.config, self.tls.as_ref()) {
            *self.client.lock().expect("no holder of this lock panics") = fresh;
        }
    }

    fn lock_token(&self) -> MutexGuard<'_, Option<String>> {
        self.token.lock().expect("no holder of this lock panics")
    }
}

fn bytes(query: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(query).expect("it is plain data")
}

fn client(config: &EtcdConfig, tls: Option<&rustls::ClientConfig>) -> Result<Client, String> {
    // Leaves time to try each host, and to distinguish that none was reached from a late answer.
    let hosts = u32::try_from(config.endpoints.len()).unwrap_or(u32::MAX);
    let builder = Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .http1_only()
        .tcp_nodelay(true)
        .tcp_keepalive(Duration::from_secs(5))
        .tcp_keepalive_interval(Duration::from_secs(5))
        .tcp_keepalive_retries(3)
        .connect_timeout(config.timeout * 4 / 5 / hosts);
    let builder = match tls {
        Some(tls) => builder.tls_backend_preconfigured(tls.clone()),
        None => builder,
    };
    builder.build().map_err(|problem| words(&problem))
}

fn failed(problem: &reqwest::Error) -> GatewayError {
    let words = words(problem);
    match problem.is_connect() {
        true if tls_error(problem).is_some() => GatewayError::Tls(words),
        true => GatewayError::NotSent(words),
        false => GatewayError::NoAnswer(words),
    }
}

/// The innermost cause is the one that explains the error.
fn words(problem: &reqwest::Error) -> String {
    if problem.is_timeout() {
        return LATE.to_owned();
    }
    let mut cause: &dyn Error = problem;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::{Ipv4Addr, TcpListener};
    use std::sync::Arc;

    use super::*;

    /// A server that answers every request with `{}`, and counts its connections.
    fn server() -> (u16, Arc<AtomicUsize>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let port = listener.local_addr().expect("it was just bound").port();
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        let serve = move || {
            for stream in listener.incoming().map_while(Result::ok) {
                counted.fetch_add(1, Ordering::SeqCst);
                let mut reader = BufReader::new(&stream);
                let mut length = 0;
                let mut line = String::new();
                while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
                    let header = line.trim().to_ascii_lowercase();
                    if let Some(text) = header.strip_prefix("content-length:") {
                        length = text.trim().parse().expect("it is a number");
                    }
                    if header.is_empty() {
                        reader.read_exact(&mut vec![0; length]).expect("the body follows");
                        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
                        (&stream).write_all(answer).expect("the client waits");
                    }
                    line.clear();
                }
            }
        };
        let thread = std::thread::Builder::new().name("server".to_owned()).spawn(serve);
        thread.expect("the machine has a thread left");
        (port, connections)
    }

    #[tokio::test]
    async fn a_late_failure_of_one_endpoint_costs_no_connection_to_the_next() {
        let (port, connections) = server();
        let rest = format!("127.0.0.1:1,127.0.0.1:{port}");
        let config = EtcdConfig::parse("etcd", &rest).expect("it is sound");
        let connection = Connection::new(config).expect("it needs no TLS");
        let ask = async || connection.ask::<Value>("kv/range", &Value::Null).await;
        ask().await.expect("the second endpoint answers");
        // As of a request to the first that was sent earlier.
        connection.give_up(0);
        ask().await.expect("the second endpoint answers");
        assert_eq!(connections.load(Ordering::SeqCst), 1);
        connection.give_up(1);
        ask().await.expect("the second endpoint answers");
        assert_eq!(connections.load(Ordering::SeqCst), 2);
    }
}
