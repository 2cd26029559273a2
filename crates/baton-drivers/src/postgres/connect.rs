//! From the address to a session that can write: each host in turn.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio_postgres::config::SslMode;
use tokio_postgres::{AsyncMessage, Client, Config, Connection, SimpleQueryMessage, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::NAME;
use super::config::{PostgresConfig, TlsMode};
use super::error;
use super::hints::Ears;
use super::link::within;
use crate::refusal::Refusal;

/// The first version whose functions all of ours are.
const VERSION_LEAST: u32 = 120_000;

/// A silent peer is asked after so long whether it is still there.
const KEEPALIVE: Duration = Duration::from_secs(5);

/// One connection, and the task that reads it. Dropping it closes it.
pub(super) struct Link {
    pub(super) client: Client,
    /// Which of the hosts this is.
    pub(super) host: usize,
    _reader: JoinSet<()>,
}

/// Connects to the first host that can be written to, beginning with the one that was last used.
pub(super) async fn connect(
    config: &PostgresConfig,
    tls: &MakeRustlsConnect,
    ears: &Arc<Ears>,
    last: usize,
) -> Result<Link, Refusal> {
    let hosts = config.hosts.len();
    let share = config.timeout / u32::try_from(hosts).unwrap_or(u32::MAX);
    let mut told = None;
    for host in (0..hosts).map(|turn| (last + turn) % hosts) {
        let place = format!("{}:{}", config.hosts[host].0, config.hosts[host].1);
        let refusal = match within(share, connect_to(config, tls, ears, host, &place)).await {
            Some(Ok(link)) => return Ok(link),
            Some(Err(refusal)) => refusal,
            None => {
                let detail = format!("no answer within {} ms", share.as_millis());
                Refusal::Unreachable { store: NAME, place, detail }
            }
        };
        // Whatever a person can put right is worth more than a host that is away.
        if told.is_none() || !matches!(refusal, Refusal::Unreachable { .. }) {
            told = Some(refusal);
        }
    }
    Err(told.expect("an address has a host"))
}

async fn connect_to(
    config: &PostgresConfig,
    tls: &MakeRustlsConnect,
    ears: &Arc<Ears>,
    host: usize,
    place: &str,
) -> Result<Link, Refusal> {
    let refused = |problem: &_| error::refused(config, place.to_owned(), problem);
    let connected = client_config(config, host).connect(tls.clone()).await;
    let (client, connection) = connected.map_err(|problem| refused(&problem))?;
    let mut reader = JoinSet::new();
    reader.spawn(read(connection, Arc::clone(ears)));
    let said = client.simple_query(&session(config)).await.map_err(|problem| refused(&problem))?;
    judge(&said, place)?;
    Ok(Link { client, host, _reader: reader })
}

fn client_config(config: &PostgresConfig, host: usize) -> Config {
    let (name, port) = &config.hosts[host];
    let mut client = Config::new();
    client.host(name).port(*port).application_name(&config.application_name);
    client.ssl_mode(match config.tls {
        TlsMode::Off => SslMode::Disable,
        TlsMode::Prefer => SslMode::Prefer,
        TlsMode::Require | TlsMode::Verify => SslMode::Require,
    });
    client.keepalives(true).keepalives_idle(KEEPALIVE).keepalives_interval(KEEPALIVE);
    client.tcp_user_timeout(config.timeout).connect_timeout(config.timeout);
    config.user.as_ref().map(|user| client.user(user));
    config.password.as_ref().map(|password| client.password(password.reveal()));
    config.database.as_ref().map(|database| client.dbname(database));
    client
}

/// What every session begins with. A statement that nobody waits for any more ends by itself, and
/// one that waits for a lock leaves half of the time to what comes after it on this connection.
fn session(config: &PostgresConfig) -> String {
    let ms = config.timeout.as_millis().max(2);
    format!(
        "SET default_transaction_isolation TO 'read committed'; \
         SET statement_timeout TO {ms}; SET lock_timeout TO {}; \
         SELECT current_setting('server_version_num'), current_setting('server_version'), \
         pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean",
        ms / 2
    )
}

/// Is it new enough, and can it be written to?
fn judge(said: &[SimpleQueryMessage], place: &str) -> Result<(), Refusal> {
    let row = said.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    let strange = || {
        let detail = "it does not tell its version".to_owned();
        Refusal::Strange { store: NAME, place: place.to_owned(), detail }
    };
    let row = row.ok_or_else(strange)?;
    let number: u32 = row.get(0).and_then(|text| text.parse().ok()).ok_or_else(strange)?;
    if number < VERSION_LEAST {
        let found = row.get(1).unwrap_or_default().to_owned();
        return Err(Refusal::Version { store: NAME, place: place.to_owned(), found, needed: "12" });
    }
    match row.get(2) {
        Some("f") => Ok(()),
        _ => Err(Refusal::Unfit {
            store: NAME,
            place: place.to_owned(),
            finding: "it is a standby or read-only".to_owned(),
            remedy: "name the primary, or all servers with commas between them".to_owned(),
        }),
    }
}

/// Reads what the server sends, until the connection ends.
async fn read<T>(mut connection: Connection<Socket, T>, ears: Arc<Ears>)
where
    T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
        if let AsyncMessage::Notification(note) = message {
            ears.hear(note.channel(), note.payload());
        }
    }
    ears.lost();
}
