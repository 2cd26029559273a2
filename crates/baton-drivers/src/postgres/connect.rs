//! From the address to a session that can write: each host in turn.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use baton_core::ids::Namespace;
use baton_core::protocol::Hint;
use tokio::task::JoinSet;
use tokio_postgres::config::SslMode;
use tokio_postgres::{AsyncMessage, Client, Config, Error, SimpleQueryMessage, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::config::{Pooler, PostgresConfig};
use super::context::text;
use super::{NAME, error, pooler, tls};
use crate::OpenError;
use crate::address::Address;
use crate::driver::{Connector, Hosts, Subscriptions, within};
use crate::reader::Access;
use crate::tls::TlsMode;

/// The first version that has every function that ours call.
const VERSION_LEAST: u32 = 120_000;

/// A silent peer is probed this often.
const KEEPALIVE: Duration = Duration::from_secs(5);

/// What a new session does once, before it is needed.
const WARM_UP: &str = include_str!("sql/warm_up.sql");

/// One connection, and the task that reads it. Dropping it closes it.
pub(super) struct Connection {
    pub(super) client: Client,
    subscriptions: Arc<Subscriptions>,
    _reader: JoinSet<()>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.subscriptions.connection_lost();
    }
}

/// Knows how to connect, and what a new connection must know.
pub(super) struct PostgresConnector {
    pub(super) config: PostgresConfig,
    pub(super) access: Access,
    pub(super) subscriptions: Arc<Subscriptions>,
    tls: MakeRustlsConnect,
    hosts: Hosts,
    /// Is the schema known to be there, so that sessions can be warmed up?
    is_ready: AtomicBool,
}

impl PostgresConnector {
    /// Reads the TLS files.
    pub(super) fn new(config: PostgresConfig, access: Access) -> Result<Self, OpenError> {
        let place = config.place();
        let tls = tls::connector(&config);
        let tls = tls.map_err(|detail| OpenError::Tls { store: NAME, place, detail })?;
        Ok(Self {
            hosts: Hosts::new(config.address.hosts.clone()),
            config,
            access,
            subscriptions: Arc::default(),
            tls,
            is_ready: AtomicBool::new(false),
        })
    }

    /// The schema is there: this session and all that follow are warmed up.
    pub(super) async fn ready(&self, connection: &Connection) {
        self.is_ready.store(true, Ordering::Relaxed);
        self.warm_up(connection).await;
    }

    /// Has the session read and plan what a handover calls. Nothing is left behind. If it fails, so
    /// will the first real call, which says why.
    async fn warm_up(&self, connection: &Connection) {
        let sql = WARM_UP.replace("{t}", &self.config.names());
        if connection.client.batch_execute(&sql).await.is_err() {
            let _ = connection.client.batch_execute("ROLLBACK").await;
        }
    }

    async fn connect_to(&self, host: &(String, u16), place: &str) -> Result<Connection, OpenError> {
        let config = &self.config;
        let failed = |problem: &_| error::opening(config, place.to_owned(), problem);
        let dialed = self.dial(host, &self.subscriptions).await;
        let connection = dialed.map_err(|problem| failed(&problem))?;
        if config.pooler == Pooler::Session {
            let apart = Arc::default();
            let other = within(config.timeout / 4, self.dial(host, &apart));
            let looked = pooler::look(&connection, other, place).await;
            looked.map_err(|problem| failed(&problem))??;
        }
        let asked = format!("{}{}", pooler::statements(config), question());
        let answer = connection.client.simple_query(&asked).await;
        judge(&answer.map_err(|problem| failed(&problem))?, config, self.access, place)?;
        Ok(connection)
    }

    /// Connects, and begins to read.
    async fn dial(
        &self,
        host: &(String, u16),
        subscriptions: &Arc<Subscriptions>,
    ) -> Result<Connection, Error> {
        let client = client_config(&self.config, host);
        let (client, connection) = client.connect(self.tls.clone()).await?;
        let mut reader = JoinSet::new();
        reader.spawn(read(connection, Arc::clone(subscriptions)));
        let subscriptions = Arc::clone(subscriptions);
        Ok(Connection { client, subscriptions, _reader: reader })
    }
}

impl Connector for PostgresConnector {
    type Connection = Connection;

    const STORE: &'static str = NAME;

    fn place(&self) -> String {
        self.config.place()
    }

    /// Connects to the first host that can be written to, and listens there to every channel that
    /// the last connection listened to.
    async fn connect(&self) -> Result<Connection, OpenError> {
        let (config, subscriptions) = (&self.config, &self.subscriptions);
        let connecting = |host, place: String| async move { self.connect_to(host, &place).await };
        let connection = self.hosts.first(NAME, config.timeout, connecting).await?;
        for (_, namespace) in subscriptions.active() {
            let joined = listen(&connection.client, &config.names(), &namespace).await;
            joined.map_err(|problem| error::opening(config, config.place(), &problem))?;
        }
        subscriptions.send_look();
        if self.is_ready.load(Ordering::Relaxed) {
            self.warm_up(&connection).await;
        }
        Ok(connection)
    }

    fn is_closed(connection: &Connection) -> bool {
        connection.client.is_closed()
    }
}

/// Has the session listen; the channel that hints of the namespace come on.
pub(super) async fn listen(
    client: &Client,
    names: &str,
    namespace: &Namespace,
) -> Result<String, Error> {
    let sql = format!("SELECT {names}listen($1)");
    client.query_typed_one(&sql, &[text(&namespace.as_str())]).await?.try_get(0)
}

fn question() -> String {
    format!(
        "SELECT current_setting('server_version_num'), current_setting('server_version'), \
         pg_is_in_recovery(), current_setting('transaction_read_only')::boolean, \
         current_setting('{}', true)",
        pooler::MARK
    )
}

fn client_config(config: &PostgresConfig, (name, port): &(String, u16)) -> Config {
    let mut client = Config::new();
    client.host(name).port(*port).application_name(&config.application_name);
    client.ssl_mode(match config.tls {
        TlsMode::Off => SslMode::Disable,
        TlsMode::Prefer => SslMode::Prefer,
        TlsMode::Require | TlsMode::Verify => SslMode::Require,
    });
    client.keepalives(true).keepalives_idle(KEEPALIVE).keepalives_interval(KEEPALIVE);
    client.tcp_user_timeout(config.timeout).connect_timeout(config.timeout);
    let Address { user, password, path, .. } = &config.address;
    user.as_ref().map(|user| client.user(user));
    password.as_ref().map(|password| client.password(password.reveal()));
    if !path.is_empty() {
        client.dbname(path);
    }
    pooler::options(config).map(|options| client.options(&options));
    client
}

/// Is it the session that was started, is the server new enough, and can it be written to? A reader
/// needs the primary too, since a standby is behind, but no right to write.
fn judge(
    answer: &[SimpleQueryMessage],
    config: &PostgresConfig,
    access: Access,
    place: &str,
) -> Result<(), OpenError> {
    let row = answer.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    let no_version = || {
        let detail = "it does not show its version".to_owned();
        OpenError::Strange { store: NAME, place: place.to_owned(), detail }
    };
    let row = row.ok_or_else(no_version)?;
    if config.pooler == Pooler::None && row.get(4) != Some(pooler::MARKED) {
        let detail = "the session lacks the settings that it was started with".to_owned();
        return Err(pooler::error(place, detail));
    }
    let number: u32 = row.get(0).and_then(|text| text.parse().ok()).ok_or_else(no_version)?;
    if number < VERSION_LEAST {
        let (place, found) = (place.to_owned(), row.get(1).unwrap_or_default().to_owned());
        return Err(OpenError::Version { store: NAME, place, found, needed: "12" });
    }
    match (row.get(2), row.get(3)) {
        (Some("f"), Some("f")) => Ok(()),
        (Some("f"), _) if access == Access::Read => Ok(()),
        _ => Err(OpenError::Unfit {
            store: NAME,
            place: place.to_owned(),
            finding: "it is a standby or read-only".to_owned(),
            remedy: "name the primary, or all servers with commas between them".to_owned(),
        }),
    }
}

/// Reads what the server sends, until the connection ends.
async fn read<T>(
    mut connection: tokio_postgres::Connection<Socket, T>,
    subscriptions: Arc<Subscriptions>,
) where
    T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
        if let AsyncMessage::Notification(note) = message {
            // What cannot be read is still a reason to look.
            let hint = serde_json::from_str(note.payload()).unwrap_or(Hint::Look);
            subscriptions.send(note.channel(), &hint);
        }
    }
    subscriptions.connection_lost();
}
