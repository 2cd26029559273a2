//! A connection to the one server that takes writes, made by us: nothing connects or retries by
//! itself.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ::redis::aio::{AsyncPushSender, MultiplexedConnection};
use ::redis::{AsyncConnectionConfig, ProtocolVersion, RedisConnectionInfo};
use baton_store::clock::{Clock, SystemClock};
use rustls::pki_types::ServerName;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::{AbortHandle, JoinSet};
use tokio_rustls::TlsConnector;

use super::config::{RedisConfig, shown};
use super::error::{NoLink, OLDEST, is_of_tls};

/// Runs this for so long at most; `None` if it took longer.
pub(super) async fn within<T>(span: Duration, work: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        done = work => Some(done),
        () = SystemClock.sleep(span) => None,
    }
}

/// A silent connection is probed by the kernel so often.
const PROBE_EVERY: Duration = Duration::from_secs(5);

/// A connection to one server process. What runs it ends with it.
pub(super) struct Link {
    pub(super) connection: MultiplexedConnection,
    /// Its version, as it writes it.
    pub(super) version: String,
    running: AbortHandle,
    _driver: JoinSet<()>,
}

impl Link {
    /// Is it known to be closed?
    pub(super) fn is_closed(&self) -> bool {
        self.running.is_finished()
    }
}

/// Knows how to connect.
pub(super) struct Dialer {
    config: RedisConfig,
    tls: Option<TlsConnector>,
    /// The host that answered last is asked first.
    first: AtomicUsize,
}

impl Dialer {
    /// Reads the TLS files.
    pub(super) fn new(config: RedisConfig) -> Result<Self, NoLink> {
        let tls = match &config.tls {
            Some(files) => {
                let config = files.client_config().map_err(NoLink::Tls)?;
                Some(TlsConnector::from(Arc::new(config)))
            }
            None => None,
        };
        Ok(Self { config, tls, first: AtomicUsize::new(0) })
    }

    pub(super) fn config(&self) -> &RedisConfig {
        &self.config
    }

    /// Tries each host in turn until one is a server that takes writes. What is pushed goes to
    /// `pushes`, if there are to be any.
    pub(super) async fn dial(&self, pushes: Option<Pushes>) -> Result<Link, NoLink> {
        let hosts = &self.config.hosts;
        let share = self.config.timeout / u32::try_from(hosts.len()).unwrap_or(u32::MAX);
        let first = self.first.load(Ordering::Relaxed);
        let mut last = NoLink::Unreachable("no host is named".to_owned());
        for turn in 0..hosts.len() {
            let at = (first + turn) % hosts.len();
            let answer = within(share, self.dial_host(&hosts[at], pushes.clone())).await;
            let late =
                || format!("no answer from {} in {} ms", shown(&hosts[at]), share.as_millis());
            match answer.unwrap_or_else(|| Err(NoLink::Unreachable(late()))) {
                Ok(link) => {
                    self.first.store(at, Ordering::Relaxed);
                    return Ok(link);
                }
                // Whoever says more than that nobody is there is heard.
                Err(NoLink::Unreachable(_)) if !matches!(last, NoLink::Unreachable(_)) => {}
                Err(problem) => last = problem,
            }
        }
        Err(last)
    }

    async fn dial_host(
        &self,
        host: &(String, u16),
        pushes: Option<Pushes>,
    ) -> Result<Link, NoLink> {
        let unreachable = |problem: std::io::Error| NoLink::Unreachable(problem.to_string());
        let tcp = TcpStream::connect((host.0.as_str(), host.1)).await.map_err(unreachable)?;
        tcp.set_nodelay(true).map_err(unreachable)?;
        let probes = TcpKeepalive::new().with_time(PROBE_EVERY).with_interval(PROBE_EVERY);
        SockRef::from(&tcp).set_tcp_keepalive(&probes).map_err(unreachable)?;
        let Some(tls) = &self.tls else { return self.greet(host, tcp, pushes).await };
        let name = ServerName::try_from(host.0.clone());
        let name = name.map_err(|problem| NoLink::Tls(format!("{}: {problem}", host.0)))?;
        let stream = tls.connect(name, tcp).await.map_err(|problem| tls_problem(&problem))?;
        match self.greet(host, stream, pushes).await {
            // With TLS 1.3 a client's certificate is judged only after the handshake.
            Err(NoLink::Unreachable(detail)) => Err(NoLink::Tls(format!(
                "{detail} right after the handshake; the server may want another certificate"
            ))),
            greeted => greeted,
        }
    }

    async fn greet<S>(
        &self,
        host: &(String, u16),
        stream: S,
        pushes: Option<Pushes>,
    ) -> Result<Link, NoLink>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let mut settings = RedisConnectionInfo::default();
        settings = settings.set_db(self.config.database).set_skip_set_lib_name();
        if let Some(user) = &self.config.user {
            settings = settings.set_username(user);
        }
        if let Some(password) = &self.config.password {
            settings = settings.set_password(password.reveal());
        }
        // Calls are bounded by their caller, who knows what a late answer means.
        let mut setup = AsyncConnectionConfig::new().set_response_timeout(None);
        if let Some(pushes) = pushes {
            settings = settings.set_protocol(ProtocolVersion::RESP3);
            setup = setup.set_push_sender(pushes);
        }
        let made = MultiplexedConnection::new_with_config(&settings, stream, setup).await;
        let (mut connection, driver) = made.map_err(|problem| NoLink::of(&problem))?;
        let mut tasks = JoinSet::new();
        let running = tasks.spawn(driver);
        let facts = facts(&mut connection, &["server", "replication"]).await;
        let facts = facts.map_err(|problem| NoLink::of(&problem))?;
        let place = || shown(host);
        let fact = |name: &str| facts.get(name).cloned().unwrap_or_default();
        if fact("role") == "slave" {
            return Err(NoLink::Replica { place: place() });
        }
        let version = fact("redis_version");
        if !is_new_enough(&version) {
            return Err(NoLink::Version { place: place(), found: version });
        }
        if self.config.syncs {
            syncs_every_write(&mut connection, place()).await?;
        }
        Ok(Link { connection, version, running, _driver: tasks })
    }
}

/// Takes what the server pushes, without waiting.
#[derive(Clone)]
pub(super) struct Pushes(Arc<dyn Fn(::redis::PushInfo) + Send + Sync>);

impl Pushes {
    pub(super) fn new(take: impl Fn(::redis::PushInfo) + Send + Sync + 'static) -> Self {
        Self(Arc::new(take))
    }
}

impl AsyncPushSender for Pushes {
    fn send(&self, info: ::redis::PushInfo) -> Result<(), ::redis::aio::SendError> {
        (self.0)(info);
        Ok(())
    }
}

fn tls_problem(problem: &std::io::Error) -> NoLink {
    match is_of_tls(problem) {
        true => NoLink::Tls(problem.to_string()),
        false => NoLink::Unreachable(problem.to_string()),
    }
}

/// What a server has that loses no acknowledged write when it is killed, or its machine is.
const SYNCING: [(&str, &str); 3] =
    [("appendonly", "yes"), ("appendfsync", "always"), ("no-appendfsync-on-rewrite", "no")];

/// Refuses a server that does not sync every write.
async fn syncs_every_write(
    connection: &mut MultiplexedConnection,
    place: String,
) -> Result<(), NoLink> {
    let names = SYNCING.map(|(setting, _)| setting);
    let shown = settings(connection, &names).await;
    let shown = shown.map_err(|problem| NoLink::of(&problem))?;
    for (setting, wanted) in SYNCING {
        let found = shown.get(setting).cloned().unwrap_or_default();
        if found != wanted {
            return Err(NoLink::Unsynced { place, setting, found, wanted });
        }
    }
    Ok(())
}

/// What `CONFIG GET` tells of these, by name. Most managed services let nobody ask.
pub(super) async fn settings(
    connection: &mut MultiplexedConnection,
    names: &[&str],
) -> ::redis::RedisResult<BTreeMap<String, String>> {
    let mut pipe = ::redis::pipe();
    for name in names {
        pipe.cmd("CONFIG").arg("GET").arg(name);
    }
    let found: Vec<Vec<String>> = pipe.query_async(connection).await?;
    let pairs = found.iter().flat_map(|flat| flat.chunks_exact(2));
    Ok(pairs.map(|pair| (pair[0].clone(), pair[1].clone())).collect())
}

/// What `INFO` tells in these sections, by name.
pub(super) async fn facts(
    connection: &mut MultiplexedConnection,
    sections: &[&str],
) -> ::redis::RedisResult<BTreeMap<String, String>> {
    let mut texts: Vec<String> = Vec::with_capacity(sections.len());
    for section in sections {
        texts.push(::redis::cmd("INFO").arg(section).query_async(connection).await?);
    }
    let lines = texts.iter().flat_map(|text| text.lines());
    let facts = lines.filter_map(|line| line.split_once(':'));
    Ok(facts.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

/// The first two numbers of a version.
pub(super) fn major_minor(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

fn is_new_enough(version: &str) -> bool {
    major_minor(version).is_some_and(|found| found >= OLDEST)
}

#[cfg(test)]
mod tests {
    use super::is_new_enough;

    #[test]
    fn versions_are_compared_as_numbers() {
        let fit = ["6.2.0", "6.2.14", "7.0.15", "10.0.1"].map(is_new_enough);
        assert_eq!(fit, [true; 4]);
        let unfit = ["6.0.16", "5.0", "6", "", "unstable"].map(is_new_enough);
        assert_eq!(unfit, [false; 5]);
    }
}
