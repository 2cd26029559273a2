//! What must be there at the server: tables and procedures, made on the first opening.
//!
//! Many processes may come at once. Each statement does nothing if its work is done already, and
//! the meta row, which says that all of it is there, is written last.

use std::time::Duration;

use mysql_async::Conn;
use mysql_async::prelude::Queryable;

use super::NAME;
use super::connect::{Servers, abort};
use super::error::{ErrorClass, GRANTS, QueryError};
use crate::OpenError;
use crate::driver::{SchemaState, SchemaVersion, within};

/// The version that this program makes, and the lowest that a program must know to use it.
const KNOWN: SchemaVersion = SchemaVersion::new(5, Some(4));

/// Making tables takes longer than a beat may.
const TIMEOUT: Duration = Duration::from_secs(30);

/// All that each version added, one after the other.
const TABLES: &str =
    concat!(include_str!("sql/0001-tables.sql"), "\n", include_str!("sql/0002-counters.sql"));

/// What later versions added to the tables of earlier ones, as new tables have it from the start.
const COLUMNS: &str = concat!(
    include_str!("sql/0003-gaps.sql"),
    "\n",
    include_str!("sql/0004-compatible.sql"),
    "\n",
    include_str!("sql/0005-partitions.sql"),
);

/// The procedures, those that others call first. In `earlier/` are those that only programs of
/// earlier versions call.
const PROCEDURES: [&str; 18] = [
    include_str!("sql/procedures/settle.sql"),
    include_str!("sql/procedures/enter.sql"),
    include_str!("sql/procedures/sound.sql"),
    include_str!("sql/procedures/begin_term.sql"),
    include_str!("sql/procedures/acquire.sql"),
    include_str!("sql/procedures/renew.sql"),
    include_str!("sql/procedures/beat_with_partitions.sql"),
    include_str!("sql/procedures/earlier/beat.sql"),
    include_str!("sql/procedures/release.sql"),
    include_str!("sql/procedures/ask.sql"),
    include_str!("sql/procedures/leave.sql"),
    include_str!("sql/procedures/publish_view.sql"),
    include_str!("sql/procedures/write_documents.sql"),
    include_str!("sql/procedures/earlier/write_document.sql"),
    include_str!("sql/procedures/append_deltas.sql"),
    include_str!("sql/procedures/consolidate.sql"),
    include_str!("sql/procedures/forget_writers.sql"),
    include_str!("sql/procedures/prune.sql"),
];

/// The server's codes for a procedure and for a column that exists already.
const EXISTS: [u16; 2] = [1304, 1060];

/// Which of the two servers it is: a few names differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flavour {
    Mariadb,
    Mysql,
}

impl Flavour {
    /// What the server calls itself, for messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Mariadb => "MariaDB",
            Self::Mysql => "MySQL",
        }
    }

    /// The oldest version that will do.
    pub(super) fn needed(self) -> (&'static str, (u32, u32)) {
        match self {
            Self::Mariadb => ("MariaDB 10.6", (10, 6)),
            Self::Mysql => ("MySQL 8.0", (8, 0)),
        }
    }

    /// What tells one line of history from another: a copy is started in another folder, on another
    /// host or port, or as another server.
    pub(super) fn identity(self) -> &'static str {
        match self {
            Self::Mariadb => "CONCAT_WS('/', @@server_id, @@hostname, @@port, @@datadir)",
            Self::Mysql => {
                "CONCAT_WS('/', @@server_id, @@hostname, @@port, @@datadir, @@server_uuid)"
            }
        }
    }
}

/// Fills in what differs from handle to handle and from server to server.
fn filled(text: &str, prefix: &str, flavour: Flavour) -> String {
    text.replace("{preamble}", include_str!("sql/preamble.sql"))
        .replace("{handlers}", include_str!("sql/handlers.sql"))
        .replace("{prefix}", prefix)
        .replace("{name}", "VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin")
        .replace("{boot}", "CHAR(32) CHARACTER SET ascii COLLATE ascii_bin")
        .replace("{identity}", flavour.identity())
}

/// Sees to it that the schema is there and may be used. An older one is added to; a later one that
/// allows this program is left as it is.
pub(super) async fn ensure(servers: &Servers, flavour: Flavour) -> Result<(), OpenError> {
    if state(servers).await? == SchemaState::Usable {
        return Ok(());
    }
    let failed = |error: QueryError| match error.class() {
        Some(ErrorClass::Rights) => missing(servers),
        _ => servers.refused(error),
    };
    let mut conn = servers.connect().await.map_err(failed)?;
    // One at a time, so that an earlier program does not replace what a later one has just made. A
    // server without such locks, as one of several in a Galera cluster, goes on without.
    let lock =
        format!("SELECT GET_LOCK(SHA1(CONCAT(DATABASE(), '/{}')), 20)", servers.config.prefix);
    let _ = within(TIMEOUT, conn.query_drop(lock)).await;
    let made = match state(servers).await {
        Ok(SchemaState::Usable) => Ok(()),
        Ok(SchemaState::Older) => create(&mut conn, servers, flavour).await.map_err(failed),
        Err(error) => Err(error),
    };
    // The lock goes with the connection.
    abort(conn);
    made
}

async fn state(servers: &Servers) -> Result<SchemaState, OpenError> {
    match version(servers).await? {
        None => Ok(SchemaState::Older),
        Some(found) => found.check_at(KNOWN, NAME, &servers.place()),
    }
}

/// Is it there, and can this program read it? Nothing is made.
pub(super) async fn look(servers: &Servers) -> Result<bool, OpenError> {
    match version(servers).await? {
        None => Ok(false),
        Some(found) => found.check_to_read(KNOWN, NAME, &servers.place()).map(|()| true),
    }
}

/// The version that is there, if one is. Versions before 4 lack the lowest compatible one.
async fn version(servers: &Servers) -> Result<Option<SchemaVersion>, OpenError> {
    let look = format!("SELECT * FROM `{}meta` WHERE one = 1", servers.config.prefix);
    let rows = match servers.query(look).await {
        Ok(rows) => rows,
        Err(error) => {
            return match error.class() {
                Some(ErrorClass::Schema) => Ok(None),
                // A user without any right on a table cannot tell whether it is there.
                Some(ErrorClass::Rights) => Err(missing(servers)),
                _ => Err(servers.refused(error)),
            };
        }
    };
    let Some(row) = rows.first() else { return Ok(None) };
    let lowest = row.get::<Option<i64>, _>("lowest_compatible").flatten();
    Ok(row.get("schema_version").map(|version| SchemaVersion::new(version, lowest)))
}

fn missing(servers: &Servers) -> OpenError {
    let (prefix, database) = (&servers.config.prefix, &servers.config.address.path);
    OpenError::Missing {
        store: NAME,
        place: servers.place(),
        what: format!("what baton keeps in {prefix}* is not there, or this user's right to it"),
        remedy: format!(
            "run `baton doctor` once as a user with CREATE, ALTER, CREATE ROUTINE and ALTER \
             ROUTINE on {database}, and {GRANTS}"
        ),
    }
}

/// Makes what is missing. What an earlier version made is added to, and its procedures, which a
/// later version may have changed, are replaced.
async fn create(conn: &mut Conn, servers: &Servers, flavour: Flavour) -> Result<(), QueryError> {
    let prefix = &servers.config.prefix;
    let is_upgrade = match servers.query(format!("SELECT 1 FROM `{prefix}meta`")).await {
        Ok(rows) => !rows.is_empty(),
        Err(_) => false,
    };
    let run = async |conn: &mut Conn, text: &str| {
        let done = within(TIMEOUT, conn.query_drop(filled(text, prefix, flavour))).await;
        let done = done.ok_or(QueryError::Late(TIMEOUT))?.map_err(QueryError::Call);
        match done {
            Err(error) if error.code().is_some_and(|code| EXISTS.contains(&code)) => Ok(()),
            done => done,
        }
    };
    let added = if is_upgrade { COLUMNS } else { "" };
    let tables = TABLES.split_inclusive(";\n").chain(added.split_inclusive(";\n"));
    for table in tables.filter(|text| text.contains("TABLE")) {
        run(conn, table).await?;
    }
    for procedure in PROCEDURES {
        let name = procedure.split('`').nth(1).unwrap_or_default();
        match flavour {
            // In one step: a node of the earlier version may be calling it.
            Flavour::Mariadb if is_upgrade => {
                run(conn, &procedure.replacen("CREATE", "CREATE OR REPLACE", 1)).await?;
                continue;
            }
            Flavour::Mysql if is_upgrade => {
                run(conn, &format!("DROP PROCEDURE IF EXISTS `{name}`")).await?;
            }
            _ => {}
        }
        run(conn, procedure).await?;
    }
    let SchemaVersion { version, lowest_compatible } = KNOWN;
    let meta = format!(
        "INSERT INTO `{prefix}meta` (one, schema_version, lowest_compatible, lineage, identity) \
         VALUES (1, {version}, {lowest_compatible}, \
         TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6)) DIV 1000, {}) \
         ON DUPLICATE KEY UPDATE schema_version = GREATEST(schema_version, {version}), \
         lowest_compatible = GREATEST(COALESCE(lowest_compatible, 0), {lowest_compatible})",
        flavour.identity()
    );
    run(conn, &meta).await
}
