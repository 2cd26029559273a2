//! What `baton doctor` looks at: every setting that would weaken a promise, with its remedy, and
//! what this user must be allowed to do: the least, as docs/stores/postgres.md lists it.

use baton_store::Finding;
use tokio_postgres::{Client, Error};

use super::NAME;
use super::config::{Pooler, PostgresConfig};
use super::context::text;
use super::error::{self, GRANTS};
use crate::OpenError;
use crate::driver::{DriverError, is_this_machine};
use crate::tls::TlsMode;

const SETTINGS: &str = "SELECT current_setting('server_version'), \
    pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean, \
    current_setting('fsync')::boolean AND current_setting('full_page_writes')::boolean, \
    current_setting('synchronous_commit'), current_setting('synchronous_standby_names'), \
    (SELECT count(*) FROM pg_stat_replication), \
    current_setting('max_connections')::bigint \
        - current_setting('superuser_reserved_connections')::bigint \
        - (SELECT coalesce(sum(numbackends), 0)::bigint FROM pg_stat_database), \
    current_setting('idle_session_timeout', true), current_setting('server_encoding')";

/// With fewer connections than this left, it is said.
const FREE_LEAST: i64 = 10;

/// Looks, and changes nothing.
pub(super) async fn examine(
    client: &Client,
    config: &PostgresConfig,
) -> Result<Vec<Finding>, DriverError> {
    let row = client.query_typed_one(SETTINGS, &[]).await?;
    let (version, free, encoding): (&str, i64, &str) =
        (row.try_get(0)?, row.try_get(6)?, row.try_get(8)?);
    let (is_durable, level): (bool, &str) = (row.try_get(2)?, row.try_get(3)?);
    let mut findings = vec![
        Finding::ok("version", format!("PostgreSQL {version}")),
        match row.try_get(1)? {
            false => Finding::ok("primary", "it can be written to"),
            true => Finding::fail("primary", "a standby, or read-only", "name the primary too"),
        },
        match is_durable {
            true => Finding::ok("durability", "fsync and full_page_writes are on"),
            false => Finding::warn(
                "durability",
                "a power loss may take grants back",
                "set fsync and full_page_writes to on",
            ),
        },
        match level {
            "off" | "local" => Finding::warn(
                "commit",
                format!("synchronous_commit is {level}; baton's own steps raise it to on"),
                "a user's fenced write may be lost in a crash: set it to on there too",
            ),
            level => Finding::ok("commit", format!("synchronous_commit is {level}")),
        },
        replicas(row.try_get(4)?, row.try_get(5)?),
        Finding::warn_if(
            free < FREE_LEAST,
            "connections",
            format!("{} more can be made", free.max(0)),
            "raise max_connections: each node needs one",
        ),
        session(config),
        encryption(config),
    ];
    let idle: Option<&str> = row.try_get(7)?;
    if let Some(limit) = idle.filter(|limit| !matches!(*limit, "0" | "")) {
        let detail = format!("the server ends sessions that are idle for {limit}");
        let remedy = "ALTER ROLE … SET idle_session_timeout TO 0, or keep it above the heartbeat";
        findings.push(Finding::warn("idle", detail, remedy));
    }
    if encoding != "UTF8" {
        let remedy = "use a database in UTF8, or plain ASCII in labels and versions";
        let detail = format!("the database is in {encoding}");
        findings.push(Finding::warn("encoding", detail, remedy));
    }
    let missing = missing_rights(client, config).await?;
    findings.push(match missing.is_empty() {
        true => Finding::ok("rights", format!("all that {}* needs", config.names())),
        false => Finding::fail("rights", missing.join(", "), GRANTS),
    });
    Ok(findings)
}

fn replicas(names: &str, standbys: i64) -> Finding {
    match (names.is_empty(), standbys) {
        (true, 0) => Finding::ok("replicas", "none that this user can see"),
        (true, many) => Finding::warn(
            "replicas",
            format!("{many}, none of them synchronous: a failover may lose the last writes"),
            "a new lineage shows it, and epochs leap; to lose none, set synchronous_standby_names",
        ),
        (false, many) => Finding::ok("replicas", format!("{many}, synchronous: {names}")),
    }
}

/// Whose session it is was looked at while connecting: a pooler that shares it was refused.
fn session(config: &PostgresConfig) -> Finding {
    Finding::ok(
        "session",
        match config.pooler {
            Pooler::None => "started with baton's own settings, so no pooler shares it",
            Pooler::Session => "a pooler's, which was not seen to share it with another client",
        },
    )
}

fn encryption(config: &PostgresConfig) -> Finding {
    let is_here = |(host, _): &(String, u16)| is_this_machine(host) || host.starts_with('/');
    match config.tls {
        TlsMode::Verify => Finding::ok("tls", "verified"),
        _ if config.address.hosts.iter().all(is_here) => {
            Finding::ok("tls", "not needed on this machine")
        }
        TlsMode::Off => Finding::warn("tls", "off", "use tls=verify and tls_ca"),
        TlsMode::Prefer | TlsMode::Require => {
            Finding::warn("tls", "the server is not verified", "use tls=verify and tls_ca")
        }
    }
}

/// What is needed on each table. Leases, namespaces, views, documents and
/// counters are never deleted.
const TABLES: &str = "('meta', 'SELECT'), ('meta', 'UPDATE'), \
    ('namespaces', 'SELECT'), ('namespaces', 'INSERT'), ('namespaces', 'UPDATE'), \
    ('locks', 'SELECT'), ('locks', 'INSERT'), ('locks', 'UPDATE'), \
    ('nodes', 'SELECT'), ('nodes', 'INSERT'), ('nodes', 'UPDATE'), ('nodes', 'DELETE'), \
    ('views', 'SELECT'), ('views', 'INSERT'), ('views', 'UPDATE'), \
    ('documents', 'SELECT'), ('documents', 'INSERT'), ('documents', 'UPDATE'), \
    ('terms', 'SELECT'), ('terms', 'INSERT'), ('terms', 'UPDATE'), ('terms', 'DELETE'), \
    ('counters', 'SELECT'), ('counters', 'INSERT'), ('counters', 'UPDATE'), \
    ('counter_deltas', 'SELECT'), ('counter_deltas', 'INSERT'), ('counter_deltas', 'DELETE'), \
    ('counter_writers', 'SELECT'), ('counter_writers', 'INSERT'), \
    ('counter_writers', 'UPDATE'), ('counter_writers', 'DELETE')";

/// What this user may not do, though it must. Empty if all is well.
async fn missing_rights(client: &Client, config: &PostgresConfig) -> Result<Vec<String>, Error> {
    let sql = format!(
        "SELECT wanted || ' on ' || $1 || name FROM (VALUES {TABLES}) AS needed (name, wanted) \
             WHERE NOT has_table_privilege($1 || name, wanted) \
         UNION ALL SELECT 'EXECUTE on ' || p.oid::regprocedure FROM pg_proc p \
             JOIN pg_namespace n ON n.oid = p.pronamespace \
             WHERE ((n.nspname = $2 AND starts_with(p.proname, $3)) \
                    OR p.oid = 'pg_control_system()'::regprocedure) \
               AND NOT has_function_privilege(p.oid, 'EXECUTE')"
    );
    let names = config.names();
    let params = [text(&names), text(&config.schema), text(&config.table_prefix)];
    let rows = client.query_typed(&sql, &params).await?;
    rows.iter().map(|row| row.try_get(0)).collect()
}

/// Refuses to go on without them: a beat that fails for want of a right would fail late.
pub(super) async fn require_rights(
    client: &Client,
    config: &PostgresConfig,
) -> Result<(), OpenError> {
    let missing = missing_rights(client, config).await;
    let missing = missing.map_err(|problem| error::opening(config, config.place(), &problem))?;
    if missing.is_empty() {
        return Ok(());
    }
    let what = format!("do what baton needs ({} is missing)", missing.join(", "));
    let place = config.place();
    Err(OpenError::Rights { store: NAME, place, what, remedy: GRANTS.to_owned() })
}
