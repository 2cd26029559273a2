//! From the address to a session that can write: each host in turn.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio_postgres::config::SslMode;
use tokio_postgres::{AsyncMessage, Client, Config, Connection, Error, SimpleQueryMessage, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::config::{Pooler, PostgresConfig, TlsMode};
use super::hints::Ears;
use super::link::within;
use super::{NAME, error, pooler};
use crate::reader::Access;
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
    access: Access,
    tls: &MakeRustlsConnect,
    ears: &Arc<Ears>,
    last: usize,
) -> Result<Link, Refusal> {
    let hosts = config.hosts.len();
    let share = config.timeout / u32::try_from(hosts).unwrap_or(u32::MAX);
    let mut told = None;
    for host in (0..hosts).map(|turn| (last + turn) % hosts) {
        let place = format!("{}:{}", config.hosts[host].0, config.hosts[host].1);
        let refusal = match within(share, connect_to(config, access, tls, ears, host, &place)).await
        {
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
    access: Access,
    tls: &MakeRustlsConnect,
    ears: &Arc<Ears>,
    host: usize,
    place: &str,
) -> Result<Link, Refusal> {
    let refused = |problem: &_| error::refused(config, place.to_owned(), problem);
    let dial = async |ears: &Arc<Ears>| dial(config, tls, ears, host).await;
    let link = dial(ears).await.map_err(|problem| refused(&problem))?;
    if config.pooler == Pooler::Session {
        let ears = Arc::default();
        let other = within(config.timeout / 4, dial(&ears));
        pooler::look(&link, other, place).await.map_err(|problem| refused(&problem))??;
    }
    let asked = format!("{}{}", pooler::statements(config), question());
    let said = link.client.simple_query(&asked).await.map_err(|problem| refused(&problem))?;
    judge(&said, config, access, place)?;
    Ok(link)
}

/// Connects, and begins to read.
async fn dial(
    config: &PostgresConfig,
    tls: &MakeRustlsConnect,
    ears: &Arc<Ears>,
    host: usize,
) -> Result<Link, Error> {
    let (client, connection) = client_config(config, host).connect(tls.clone()).await?;
    let mut reader = JoinSet::new();
    reader.spawn(read(connection, Arc::clone(ears)));
    Ok(Link { client, host, _reader: reader })
}

fn question() -> String {
    format!(
        "SELECT current_setting('server_version_num'), current_setting('server_version'), \
         pg_is_in_recovery(), current_setting('transaction_read_only')::boolean, \
         current_setting('{}', true)",
        pooler::MARK
    )
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
    pooler::options(config).map(|options| client.options(&options));
    client
}

/// Is it the session that was started, is the server new enough, and can it be written to? A reader
/// needs the primary too, since a standby is behind, but no right to write.
fn judge(
    said: &[SimpleQueryMessage],
    config: &PostgresConfig,
    access: Access,
    place: &str,
) -> Result<(), Refusal> {
    let row = said.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    let strange = || {
        let detail = "it does not tell its version".to_owned();
        Refusal::Strange { store: NAME, place: place.to_owned(), detail }
    };
    let row = row.ok_or_else(strange)?;
    pooler::judge(config, row.get(4), place)?;
    let number: u32 = row.get(0).and_then(|text| text.parse().ok()).ok_or_else(strange)?;
    if number < VERSION_LEAST {
        let found = row.get(1).unwrap_or_default().to_owned();
        return Err(Refusal::Version { store: NAME, place: place.to_owned(), found, needed: "12" });
    }
    match (row.get(2), row.get(3)) {
        (Some("f"), Some("f")) => Ok(()),
        (Some("f"), _) if access == Access::Read => Ok(()),
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
