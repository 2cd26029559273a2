//! The connection: one endpoint while it answers, the next when it does not.
//!
//! A request that was sent is never sent again, to this endpoint or to the next. The exceptions are
//! certain not to have been done: no connection came about, or the login had run out.

use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use baton_core::time::Moment;
use baton_store::clock::{Clock, SystemClock};
use reqwest::{Client, RequestBuilder, Response, redirect, retry};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::config::EtcdConfig;
use super::error::{Trouble, code};

/// What is said of an answer that did not come.
const LATE: &str = "no answer in time";

/// One place where etcd listens.
struct Endpoint {
    url: String,
    /// Its connections. Thrown away, all of them, when one of them fails.
    client: Mutex<Client>,
}

/// A way to the cluster.
pub(super) struct Link {
    pub(super) config: EtcdConfig,
    pub(super) clock: Arc<dyn Clock>,
    tls: Option<rustls::ClientConfig>,
    endpoints: Vec<Endpoint>,
    current: AtomicUsize,
    token: Mutex<Option<String>>,
}

#[derive(Serialize)]
struct Login<'a> {
    name: &'a str,
    password: &'a str,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Token {
    token: String,
}

/// What the gateway says instead of an answer.
#[derive(Deserialize)]
struct Said {
    code: i64,
    #[serde(default)]
    message: String,
}

impl Link {
    /// Nothing is sent yet.
    pub(super) fn new(config: EtcdConfig) -> Result<Self, String> {
        // The client library looks for it even where it is not needed; somebody else's will do.
        drop(rustls::crypto::ring::default_provider().install_default());
        let tls = config.tls.as_ref().map(crate::tls::TlsFiles::client_config).transpose()?;
        let mut endpoints = Vec::new();
        for url in &config.endpoints {
            let client = Mutex::new(client(&config, tls.as_ref())?);
            endpoints.push(Endpoint { url: url.clone(), client });
        }
        let (current, token) = (AtomicUsize::new(0), Mutex::new(None));
        Ok(Self { config, clock: Arc::new(SystemClock), tls, endpoints, current, token })
    }

    /// When a call that begins now must be over.
    pub(super) fn deadline(&self) -> Moment {
        self.clock.now() + self.config.timeout
    }

    /// Asks, and reads the answer.
    pub(super) async fn ask<Q, A>(&self, path: &str, query: &Q, by: Moment) -> Result<A, Trouble>
    where
        Q: Serialize + Sync,
        A: DeserializeOwned,
    {
        let (at, response) = self.send(path, query, by, false).await?;
        self.read(at, response).await
    }

    /// Asks for answers that go on, for as long as the connection does.
    pub(super) async fn stream<Q>(&self, path: &str, query: &Q) -> Result<Response, Trouble>
    where
        Q: Serialize + Sync,
    {
        self.send(path, query, self.deadline(), true).await.map(|(_, response)| response)
    }

    /// Sends it once, as somebody whom the server knows.
    async fn send<Q>(
        &self,
        path: &str,
        query: &Q,
        by: Moment,
        endless: bool,
    ) -> Result<(usize, Response), Trouble>
    where
        Q: Serialize + Sync,
    {
        let mut new_here = self.log_in(by).await?;
        loop {
            let answer = self.send_as(path, query, by, endless).await;
            let turned_away = matches!(
                &answer,
                Err(Trouble::Said { code: code::UNAUTHENTICATED | code::INVALID_ARGUMENT, .. })
            );
            if !turned_away || new_here || self.config.login.is_none() {
                return answer;
            }
            // Checked before anything is done: a token ran out, or somebody changed the users.
            *self.lock_token() = None;
            new_here = self.log_in(by).await?;
        }
    }

    /// Sees to a token. Says whether it is a new one.
    async fn log_in(&self, by: Moment) -> Result<bool, Trouble> {
        let Some((name, password)) = &self.config.login else { return Ok(false) };
        if self.lock_token().is_some() {
            return Ok(false);
        }
        let login = Login { name, password: password.reveal() };
        let token = match self.send_as("auth/authenticate", &login, by, false).await {
            Ok((at, response)) => self.read::<Token>(at, response).await?.token,
            // The server asks nobody who they are; `examine` warns of it.
            Err(Trouble::Said { code: code::FAILED_PRECONDITION, .. }) => String::new(),
            Err(trouble) => return Err(trouble),
        };
        *self.lock_token() = Some(token);
        Ok(true)
    }

    /// Sends it to the first endpoint that a connection can be had to.
    async fn send_as<Q>(
        &self,
        path: &str,
        query: &Q,
        by: Moment,
        endless: bool,
    ) -> Result<(usize, Response), Trouble>
    where
        Q: Serialize + Sync,
    {
        let mut trouble = Trouble::NotSent("no time is left".to_owned());
        for _ in 0..self.endpoints.len() {
            let at = self.current.load(Ordering::Relaxed) % self.endpoints.len();
            let left = by.since(self.clock.now());
            if left.is_zero() {
                return Err(trouble);
            }
            let request = self.request(at, path, query);
            let sent = match endless {
                false => request.timeout(left).send().await.map_err(|problem| told(&problem)),
                true => self.send_endless(request, left).await,
            };
            match sent {
                Ok(response) => return self.judged(at, response).await,
                Err(problem) => trouble = problem,
            }
            self.give_up(at);
            if matches!(trouble, Trouble::NoAnswer(_)) {
                return Err(trouble);
            }
        }
        Err(trouble)
    }

    /// The answer must begin in time; it need not end. A member that has lost its cluster ends it.
    async fn send_endless(
        &self,
        request: RequestBuilder,
        left: Duration,
    ) -> Result<Response, Trouble> {
        let request = request.header("Grpc-Metadata-hasleader", "true");
        tokio::select! {
            sent = request.send() => sent.map_err(|problem| told(&problem)),
            () = self.clock.sleep(left) => Err(Trouble::NoAnswer(LATE.to_owned())),
        }
    }

    /// Asks one endpoint and no other.
    pub(super) async fn ask_one<Q, A>(&self, at: usize, path: &str, query: &Q) -> Result<A, Trouble>
    where
        Q: Serialize + Sync,
        A: DeserializeOwned,
    {
        let request = self.request(at, path, query).timeout(self.config.timeout);
        let response = request.send().await.map_err(|problem| told(&problem))?;
        let (at, response) = self.judged(at, response).await?;
        self.read(at, response).await
    }

    /// Is there a user, and does the server not care?
    pub(super) fn login_is_ignored(&self) -> bool {
        self.lock_token().as_deref() == Some("")
    }

    fn request<Q: Serialize>(&self, at: usize, path: &str, query: &Q) -> RequestBuilder {
        let endpoint = &self.endpoints[at];
        let client = endpoint.client.lock().expect("no holder of this lock panics").clone();
        let request = client.post(format!("{}/v3/{path}", endpoint.url)).json(query);
        match self.lock_token().as_deref() {
            None | Some("") => request,
            Some(token) => request.header("Authorization", token),
        }
    }

    /// A refusal is not an answer.
    async fn judged(&self, at: usize, response: Response) -> Result<(usize, Response), Trouble> {
        let status = response.status();
        if status.is_success() {
            return Ok((at, response));
        }
        let body = response.bytes().await.map_err(|problem| self.broken(at, &problem))?;
        let Ok(said) = serde_json::from_slice::<Said>(&body) else {
            self.give_up(at);
            return Err(Trouble::Strange(format!("HTTP status {}", status.as_u16())));
        };
        if status.is_server_error() {
            // This member may have lost its cluster; the next may not.
            self.give_up(at);
        }
        Err(Trouble::Said { code: said.code, message: said.message })
    }

    async fn read<A: DeserializeOwned>(&self, at: usize, response: Response) -> Result<A, Trouble> {
        let body = response.bytes().await.map_err(|problem| self.broken(at, &problem))?;
        serde_json::from_slice(&body).map_err(|problem| Trouble::Strange(problem.to_string()))
    }

    fn broken(&self, at: usize, problem: &reqwest::Error) -> Trouble {
        self.give_up(at);
        Trouble::NoAnswer(words(problem))
    }

    /// Throws this endpoint's connections away and turns to the next.
    fn give_up(&self, at: usize) {
        let next = (at + 1) % self.endpoints.len();
        let _ = self.current.compare_exchange(at, next, Ordering::Relaxed, Ordering::Relaxed);
        // It could be made with the same arguments before.
        if let Ok(fresh) = client(&self.config, self.tls.as_ref()) {
            let endpoint = &self.endpoints[at];
            *endpoint.client.lock().expect("no holder of this lock panics") = fresh;
        }
    }

    fn lock_token(&self) -> MutexGuard<'_, Option<String>> {
        self.token.lock().expect("no holder of this lock panics")
    }
}

fn client(config: &EtcdConfig, tls: Option<&rustls::ClientConfig>) -> Result<Client, String> {
    // Leaves time to try each host, and to tell that none was reached from an answer that is late.
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

/// What an error of the client library means.
fn told(problem: &reqwest::Error) -> Trouble {
    let words = words(problem);
    match problem.is_connect() {
        true if is_about_tls(problem) => Trouble::Tls(words),
        true => Trouble::NotSent(words),
        false => Trouble::NoAnswer(words),
    }
}

fn is_about_tls(problem: &reqwest::Error) -> bool {
    let mut cause = problem.source();
    while let Some(error) = cause {
        if error.is::<rustls::Error>() {
            return true;
        }
        // What an I/O error is made from is not its source, but what that was made from.
        let made_from = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        cause = match made_from {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    false
}

/// The innermost cause is the one that says something.
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
