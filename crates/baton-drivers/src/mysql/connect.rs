//! Connections: a few for each host, made when they are needed, thrown away when in doubt.
//!
//! The library's pool looks whether the server has hung up before it hands a connection out, and
//! that costs no round trip; it repeats no statement and, as it is set here, resets no connection.

use std::future::Future;
use std::pin::pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use baton_core::ids::Namespace;
use baton_store::clock::{Clock, SystemClock};
use mysql_async::prelude::Queryable;
use mysql_async::{
    ClientIdentity, Conn, OptsBuilder, Pool, PoolConstraints, PoolOpts, Row, SslOpts,
};

use super::NAME;
use super::config::MysqlConfig;
use super::error::{ErrorClass, QueryError};
use crate::OpenError;
use crate::address::Secret;
use crate::driver::{DriverError, within};
use crate::tls::TlsMode;

/// How many calls of one handle are under way at once; the others wait.
const CONNECTIONS_MAX: usize = 4;

/// Finds out about a dead peer below the statement, too.
const KEEPALIVE: Duration = Duration::from_secs(10);

/// As long as a session that rests may live, whatever the server's default is.
const IDLE_S: u32 = 28_800;

/// The servers of a handle.
pub(super) struct Servers {
    pub(super) config: MysqlConfig,
    hosts: Vec<(OptsBuilder, Mutex<Pool>)>,
    /// The one that answered last.
    current: AtomicUsize,
    /// A longer statement than this the server would not take.
    pub(super) packet_max: AtomicU64,
}

impl Servers {
    /// Nothing is connected yet.
    pub(super) fn new(config: MysqlConfig) -> Result<Self, OpenError> {
        let wrong = |detail| {
            let place = config.place(&config.address.hosts[0]);
            OpenError::Tls { store: NAME, place, detail }
        };
        let tls = tls_options(&config).map_err(wrong)?;
        let constraints = PoolConstraints::new(CONNECTIONS_MAX, CONNECTIONS_MAX);
        let constraints = constraints.expect("at least none and at most some");
        let pool = PoolOpts::default().with_constraints(constraints).with_reset_connection(false);
        let host = |(name, port): &(String, u16)| {
            let options = OptsBuilder::default()
                .ip_or_hostname(name)
                .tcp_port(*port)
                .user(config.address.user.as_deref())
                .pass(config.address.password.as_ref().map(Secret::reveal))
                .db_name(Some(&config.address.path))
                .prefer_socket(false)
                .tcp_keepalive(Some(KEEPALIVE))
                .stmt_cache_size(0)
                .ssl_opts(tls.clone())
                .init(session(config.timeout))
                .pool_opts(pool.clone());
            let pool = Mutex::new(Pool::new(options.clone()));
            (options, pool)
        };
        let hosts = config.address.hosts.iter().map(host).collect();
        let (current, packet_max) = (AtomicUsize::new(0), AtomicU64::new(u64::MAX));
        Ok(Self { hosts, config, current, packet_max })
    }

    /// Where the last answer came from, for messages.
    pub(super) fn place(&self) -> String {
        self.config.place(&self.config.address.hosts[self.current.load(Ordering::Relaxed)])
    }

    /// The error of a call.
    pub(super) fn failed(&self, error: QueryError, namespace: Option<&Namespace>) -> DriverError {
        error.into_driver_error(&self.place(), namespace)
    }

    /// The error of opening the store.
    pub(super) fn refused(&self, error: QueryError) -> OpenError {
        error.into_open_error(self.place(), &self.config.address.path)
    }

    /// The next host is to be tried first.
    pub(super) fn move_on(&self) {
        let next = (self.current.load(Ordering::Relaxed) + 1) % self.hosts.len();
        self.current.store(next, Ordering::Relaxed);
    }

    /// Sends a statement, and waits for the whole answer, within the configured time.
    pub(super) async fn query(&self, text: String) -> Result<Vec<Row>, QueryError> {
        let timeout = self.config.timeout;
        let (bytes, most) = (text.len() as u64, self.packet_max.load(Ordering::Relaxed));
        if bytes >= most {
            return Err(QueryError::TooLong { bytes, most });
        }
        let began = SystemClock.now();
        let connected = within(timeout, self.connect()).await;
        let mut conn = connected.ok_or(QueryError::NoConnection(None))??;
        let left = timeout.saturating_sub(SystemClock.now().since(began));
        match within(left, conn.query::<Row, _>(text)).await {
            Some(Ok(rows)) => Ok(rows),
            Some(Err(error)) => {
                let error = QueryError::Call(error);
                if error.breaks_connection() {
                    abort(conn);
                }
                if error.class() == Some(ErrorClass::ReadOnly) {
                    self.move_on();
                }
                Err(error)
            }
            None => {
                abort(conn);
                // What else rests there may be just as dead, and would cost a timeout each.
                self.forget();
                Err(QueryError::Late(timeout))
            }
        }
    }

    /// A connection to the first host that gives one, each having its share of the time.
    pub(super) async fn connect(&self) -> Result<Conn, QueryError> {
        let share = self.config.timeout / u32::try_from(self.hosts.len()).unwrap_or(u32::MAX);
        let mut last = None;
        for _ in 0..self.hosts.len() {
            let (_, pool) = &self.hosts[self.current.load(Ordering::Relaxed)];
            let pool = pool.lock().expect("no holder panics").clone();
            match within(share, pool.get_conn()).await {
                Some(Ok(conn)) => return Ok(conn),
                Some(Err(error)) => last = Some(error),
                None => self.forget(),
            }
            self.move_on();
        }
        Err(QueryError::NoConnection(last))
    }

    /// Leaves every connection of the current host to itself.
    fn forget(&self) {
        let (options, pool) = &self.hosts[self.current.load(Ordering::Relaxed)];
        *pool.lock().expect("no holder panics") = Pool::new(options.clone());
    }
}

/// What a session of ours is like, whatever the server's defaults are. A wait for a lock ends
/// before the call does, so that it ends with a rollback and not with doubt.
fn session(timeout: Duration) -> Vec<String> {
    let wait_s = (timeout.as_millis().saturating_sub(1) / 1_000).max(1);
    vec![
        "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED".to_owned(),
        format!(
            "SET SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION', autocommit = 1, \
             innodb_lock_wait_timeout = {wait_s}, lock_wait_timeout = {wait_s}, \
             wait_timeout = {IDLE_S}"
        ),
    ]
}

/// Closes a connection without a word. The library would wait for the answer that is under way,
/// perhaps for ever; once it has begun to disconnect, it closes what is dropped.
pub(super) fn abort(conn: Conn) {
    let mut goodbye = pin!(conn.disconnect());
    let _ = goodbye.as_mut().poll(&mut Context::from_waker(Waker::noop()));
}

/// The options for the library; `None` for no TLS. Says which file is wrong, if one is.
fn tls_options(config: &MysqlConfig) -> Result<Option<SslOpts>, String> {
    if config.tls == TlsMode::Off {
        return Ok(None);
    }
    // The library takes the process's provider, and there is none where several are built in.
    // If one was chosen already, that one is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let files = &config.tls_files;
    // The library would read the files at every connection, and say less about what is wrong.
    files.client_config()?;
    let read = |path: &std::path::PathBuf| {
        std::fs::read(path).map_err(|problem| format!("{}: {problem}", path.display()))
    };
    let mut options = SslOpts::default();
    if let (Some(cert), Some(key)) = (&files.cert, &files.key) {
        let identity = ClientIdentity::new(read(cert)?.into(), read(key)?.into());
        options = options.with_client_identity(Some(identity));
    }
    if config.tls == TlsMode::Require {
        let options = options.with_danger_accept_invalid_certs(true);
        return Ok(Some(options.with_danger_skip_domain_validation(true)));
    }
    let roots = match &files.ca {
        Some(ca) => vec![read(ca)?.into()],
        None => {
            let trusted = rustls_native_certs::load_native_certs().certs;
            trusted.into_iter().map(|certificate| certificate.to_vec().into()).collect()
        }
    };
    Ok(Some(options.with_root_certs(roots).with_disable_built_in_roots(true)))
}
