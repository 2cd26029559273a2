//! A connection to the one server that takes writes. The driver makes it: the client library
//! neither connects nor retries by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use ::redis::aio::MultiplexedConnection;
use ::redis::{
    AsyncConnectionConfig, Cmd, FromRedisValue, ProtocolVersion, PushInfo, RedisConnectionInfo,
    RedisError, cmd,
};
use baton_store::StoreError;
use rustls::pki_types::ServerName;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::{AbortHandle, JoinSet};
use tokio_rustls::TlsConnector;

use super::NAME;
use super::config::RedisConfig;
use super::error;
use super::hints;
use crate::OpenError;
use crate::driver::{ConnectionSlot, Connector, Hosts, Subscriptions};
use crate::tls::{TlsFiles, tls_error};

/// How often the kernel probes a silent connection.
const PROBE_EVERY: Duration = Duration::from_secs(5);

/// The oldest version whose scripts can do what the calls need.
const OLDEST: (&str, (u32, u32)) = ("6.2", (6, 2));

/// A connection to one server process. The task that drives it ends with it.
pub(super) struct Connection {
    commands: MultiplexedConnection,
    driver: AbortHandle,
    _tasks: JoinSet<()>,
}

impl Connection {
    pub(super) async fn query<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, RedisError> {
        command.query_async(&mut self.commands.clone()).await
    }

    /// Returns once the server has confirmed the subscription.
    pub(super) async fn subscribe(&self, channel: &str) -> Result<(), RedisError> {
        self.commands.clone().subscribe(channel).await
    }

    /// What `CONFIG GET` shows of these, by name. Most managed services do not let users ask.
    pub(super) async fn settings(
        &self,
        names: &[&str],
    ) -> Result<BTreeMap<String, String>, RedisError> {
        let mut pipe = ::redis::pipe();
        for name in names {
            pipe.cmd("CONFIG").arg("GET").arg(name);
        }
        let found: Vec<BTreeMap<String, String>> =
            pipe.query_async(&mut self.commands.clone()).await?;
        Ok(found.into_iter().flatten().collect())
    }

    /// What `INFO` shows in these sections, by name.
    pub(super) async fn facts(
        &self,
        sections: &[&str],
    ) -> Result<BTreeMap<String, String>, RedisError> {
        let mut facts = BTreeMap::new();
        for section in sections {
            let text: String = self.query(::redis::cmd("INFO").arg(section)).await?;
            let lines = text.lines().filter_map(|line| line.split_once(':'));
            facts.extend(lines.map(|(name, value)| (name.to_owned(), value.to_owned())));
        }
        Ok(facts)
    }
}

pub(super) struct RedisConnector {
    pub(super) config: RedisConfig,
    tls: Option<TlsConnector>,
    hosts: Hosts,
    /// What the connections subscribe to, if they are to receive hints.
    subscriptions: Option<Arc<Subscriptions>>,
}

impl RedisConnector {
    /// A slot for a connection of this URL. The TLS files are read now.
    pub(super) fn slot(
        config: RedisConfig,
        subscriptions: Option<Arc<Subscriptions>>,
    ) -> Result<ConnectionSlot<Self>, OpenError> {
        let (place, timeout) = (config.place(), config.timeout);
        let tls = config.tls.as_ref().map(TlsFiles::client_config).transpose();
        let tls = tls.map_err(|detail| OpenError::Tls { store: NAME, place, detail })?;
        let tls = tls.map(|config| TlsConnector::from(Arc::new(config)));
        let hosts = Hosts::new(config.hosts.clone());
        let connector = Self { config, tls, hosts, subscriptions };
        Ok(ConnectionSlot::new(connector, timeout))
    }

    fn failed_tls(&self, detail: String) -> OpenError {
        OpenError::Tls { store: NAME, place: self.config.place(), detail }
    }

    fn failed(&self, problem: &RedisError) -> OpenError {
        error::at_opening(problem, self.config.place())
    }

    async fn connect_to(
        &self,
        host: &(String, u16),
        place: String,
    ) -> Result<Connection, OpenError> {
        let unreachable = |problem: std::io::Error| {
            let (place, detail) = (self.config.place(), problem.to_string());
            OpenError::Unreachable { store: NAME, place, detail }
        };
        let tcp = TcpStream::connect((host.0.as_str(), host.1)).await.map_err(unreachable)?;
        tcp.set_nodelay(true).map_err(unreachable)?;
        let probes = TcpKeepalive::new().with_time(PROBE_EVERY).with_interval(PROBE_EVERY);
        SockRef::from(&tcp).set_tcp_keepalive(&probes).map_err(unreachable)?;
        let Some(tls) = &self.tls else { return self.greet(place, tcp).await };
        let name = ServerName::try_from(host.0.clone());
        let name = name.map_err(|problem| self.failed_tls(format!("{}: {problem}", host.0)))?;
        let stream = tls.connect(name, tcp).await.map_err(|problem| {
            match tls_error(&problem).is_some() {
                true => self.failed_tls(problem.to_string()),
                false => unreachable(problem),
            }
        })?;
        match self.greet(place, stream).await {
            // With TLS 1.3 a client's certificate is judged only after the handshake.
            Err(OpenError::Unreachable { detail, .. }) => Err(self.failed_tls(format!(
                "{detail} right after the handshake; the server may want another certificate"
            ))),
            greeted => greeted,
        }
    }

    async fn greet<S>(&self, place: String, stream: S) -> Result<Connection, OpenError>
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
        if let Some(subscriptions) = self.subscriptions.clone() {
            settings = settings.set_protocol(ProtocolVersion::RESP3);
            setup = setup.set_push_sender(move |info: PushInfo| {
                hints::receive(&subscriptions, info);
                Ok::<_, ::redis::aio::SendError>(())
            });
        }
        let made = MultiplexedConnection::new_with_config(&settings, stream, setup).await;
        let (commands, driver) = made.map_err(|problem| self.failed(&problem))?;
        let mut tasks = JoinSet::new();
        let driver = tasks.spawn(driver);
        let connection = Connection { commands, driver, _tasks: tasks };
        self.look_at(&connection, place).await?;
        if let Some(subscriptions) = &self.subscriptions {
            let joined = hints::join(&connection, subscriptions).await;
            joined.map_err(|problem| self.failed(&problem))?;
        }
        Ok(connection)
    }

    async fn look_at(&self, connection: &Connection, place: String) -> Result<(), OpenError> {
        let facts = connection.facts(&["server", "replication"]).await;
        let facts = facts.map_err(|problem| self.failed(&problem))?;
        let fact = |name: &str| facts.get(name).cloned().unwrap_or_default();
        let unfit = |finding: String, remedy: &str| {
            let (place, remedy) = (place.clone(), remedy.to_owned());
            Err(OpenError::Unfit { store: NAME, place, finding, remedy })
        };
        if fact("role") == "slave" {
            let remedy = "name its master, or all hosts of which one is the master";
            return unfit("it is a replica".to_owned(), remedy);
        }
        let (needed, oldest) = OLDEST;
        let found = fact("redis_version");
        if major_minor(&found).is_none_or(|found| found < oldest) {
            return Err(OpenError::Version { store: NAME, place, found, needed });
        }
        if !self.config.syncs {
            return Ok(());
        }
        let found = connection.settings(&SYNCING.map(|(setting, _)| setting)).await;
        let found = found.map_err(|problem| self.failed(&problem))?;
        for (setting, wanted) in SYNCING {
            let found = found.get(setting).cloned().unwrap_or_default();
            if found != wanted {
                let finding =
                    format!("{setting} is {found:?}, and the URL's option needs {wanted:?}");
                let remedy = "set it in the server's configuration, or leave the option out";
                return unfit(finding, remedy);
            }
        }
        Ok(())
    }
}

impl Connector for RedisConnector {
    type Connection = Connection;
    const STORE: &'static str = NAME;

    fn place(&self) -> String {
        self.config.place()
    }

    /// Tries each host in turn until one is a server that takes writes.
    async fn connect(&self) -> Result<Connection, OpenError> {
        let connecting = |host, place| self.connect_to(host, place);
        self.hosts.first(NAME, self.config.timeout, connecting).await
    }

    fn is_closed(connection: &Connection) -> bool {
        connection.driver.is_finished()
    }
}

/// What a server has that loses no acknowledged write when it is killed, or its machine is.
const SYNCING: [(&str, &str); 3] =
    [("appendonly", "yes"), ("appendfsync", "always"), ("no-appendfsync-on-rewrite", "no")];

pub(super) fn major_minor(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

/// What the server answers to a command that changes nothing or may be repeated.
pub(super) async fn ask<T: FromRedisValue>(
    slot: &ConnectionSlot<RedisConnector>,
    command: &Cmd,
) -> Result<T, StoreError> {
    slot.run(|connection| async move { Ok(connection.query(command).await?) }).await
}

/// How many keys a step of a search looks at. The server goes on with other calls between two
/// steps.
const SCANNED: usize = 1_000;

/// Every key of this type that fits the pattern.
pub(super) async fn scan(
    slot: &ConnectionSlot<RedisConnector>,
    pattern: &str,
    kind: &str,
) -> Result<BTreeSet<String>, StoreError> {
    let (mut found, mut cursor) = (BTreeSet::new(), 0_u64);
    loop {
        let mut scan = cmd("SCAN");
        scan.arg(cursor).arg("MATCH").arg(pattern).arg("COUNT").arg(SCANNED).arg("TYPE").arg(kind);
        let (next, keys): (u64, Vec<String>) = ask(slot, &scan).await?;
        found.extend(keys);
        cursor = next;
        if cursor == 0 {
            return Ok(found);
        }
    }
}

/// The pattern that only this text fits.
pub(super) fn literal(text: &str) -> String {
    let special = |c: char| matches!(c, '*' | '?' | '[' | ']' | '\\' | '^');
    text.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        let is_new_enough = |version| major_minor(version).is_some_and(|found| found >= OLDEST.1);
        let fit = ["6.2.0", "6.2.14", "7.0.15", "10.0.1"].map(is_new_enough);
        assert_eq!(fit, [true; 4]);
        let unfit = ["6.0.16", "5.0", "6", "", "unstable"].map(is_new_enough);
        assert_eq!(unfit, [false; 5]);
    }
}
