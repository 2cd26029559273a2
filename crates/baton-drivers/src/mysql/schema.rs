//! What must be there at the server: tables and procedures, made on the first opening.
//!
//! Many processes may come at once. Each statement does nothing if its work is done already, and
//! the meta row, which says that all of it is there, is written last.

use std::time::Duration;

use super::connect::Servers;
use super::error::{Fault, GRANTS};
use crate::driver::SchemaVersion;
use crate::refusal::Refusal;

/// The version that this program knows.
pub(super) const KNOWN: i64 = 3;

/// Making tables takes longer than a beat may.
const PATIENCE: Duration = Duration::from_secs(30);

/// All that each version added, one after the other.
const TABLES: &str =
    concat!(include_str!("sql/0001-tables.sql"), "\n", include_str!("sql/0002-counters.sql"));

/// What later versions added to the tables of earlier ones, as new tables have it from the start.
const COLUMNS: &str = include_str!("sql/0003-gaps.sql");

/// The procedures, those that others call first.
const PROCEDURES: [&str; 16] = [
    include_str!("sql/procedures/settle.sql"),
    include_str!("sql/procedures/enter.sql"),
    include_str!("sql/procedures/sound.sql"),
    include_str!("sql/procedures/begin_term.sql"),
    include_str!("sql/procedures/acquire.sql"),
    include_str!("sql/procedures/renew.sql"),
    include_str!("sql/procedures/beat.sql"),
    include_str!("sql/procedures/release.sql"),
    include_str!("sql/procedures/ask.sql"),
    include_str!("sql/procedures/leave.sql"),
    include_str!("sql/procedures/publish_view.sql"),
    include_str!("sql/procedures/write_document.sql"),
    include_str!("sql/procedures/append_deltas.sql"),
    include_str!("sql/procedures/consolidate.sql"),
    include_str!("sql/procedures/forget_writers.sql"),
    include_str!("sql/procedures/prune.sql"),
];

/// Exists already.
const PROCEDURE_EXISTS: u16 = 1304;
const COLUMN_EXISTS: u16 = 1060;

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
    text.replace("{handlers}", include_str!("sql/handlers.sql"))
        .replace("{prefix}", prefix)
        .replace("{name}", "VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin")
        .replace("{boot}", "CHAR(32) CHARACTER SET ascii COLLATE ascii_bin")
        .replace("{identity}", flavour.identity())
}

/// Sees to it that the schema is there and known. An older one is added to.
pub(super) async fn ensure(servers: &Servers, flavour: Flavour) -> Result<(), Refusal> {
    let refused = |fault: Fault| fault.refusal(servers.place(), &servers.config.database);
    let found = version(servers).await?;
    if found == Some(KNOWN) {
        return Ok(());
    }
    match create(servers, flavour, found.is_some()).await {
        Err(fault) if fault.is_missing_rights() => Err(missing(servers)),
        created => created.map_err(refused),
    }
}

/// Is it there, and of the version known? Nothing is made.
pub(super) async fn look(servers: &Servers) -> Result<bool, Refusal> {
    match version(servers).await? {
        None => Ok(false),
        Some(KNOWN) => Ok(true),
        Some(found) => {
            let (store, place) = ("mysql", servers.place());
            Err(Refusal::OlderSchema { store, place, found, known: KNOWN })
        }
    }
}

/// The version that is there, if one is. A later one than is known is refused.
async fn version(servers: &Servers) -> Result<Option<i64>, Refusal> {
    let prefix = &servers.config.prefix;
    let look = format!("SELECT schema_version FROM `{prefix}meta` WHERE one = 1");
    let found = match servers.query(look).await {
        Ok(rows) => rows.first().and_then(|row| row.get::<i64, _>(0)),
        Err(fault) if fault.is_missing_schema() => None,
        // A user without any right on a table cannot tell whether it is there.
        Err(fault) if fault.is_missing_rights() => return Err(missing(servers)),
        Err(fault) => return Err(fault.refusal(servers.place(), &servers.config.database)),
    };
    match found {
        Some(version) => {
            let known = SchemaVersion::new(KNOWN, None);
            SchemaVersion::new(version, None).check_at(known, "mysql", &servers.place())?;
            Ok(found)
        }
        None => Ok(None),
    }
}

fn missing(servers: &Servers) -> Refusal {
    let (prefix, database) = (&servers.config.prefix, &servers.config.database);
    Refusal::Missing {
        store: "mysql",
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
async fn create(servers: &Servers, flavour: Flavour, is_upgrade: bool) -> Result<(), Fault> {
    let prefix = &servers.config.prefix;
    let run = async |text: String, done_already: u16| match servers
        .query_within(filled(&text, prefix, flavour), PATIENCE)
        .await
    {
        Err(fault) if fault.code() == Some(done_already) => Ok(()),
        done => done.map(drop),
    };
    let added = if is_upgrade { COLUMNS } else { "" };
    let tables = TABLES.split_inclusive(";\n").chain(added.split_inclusive(";\n"));
    for table in tables.filter(|text| text.contains("TABLE")) {
        run(table.to_owned(), COLUMN_EXISTS).await?;
    }
    for procedure in PROCEDURES {
        if is_upgrade && flavour == Flavour::Mariadb {
            // In one step: a node of the earlier version may be calling it.
            let replacing =
                procedure.replacen("CREATE PROCEDURE", "CREATE OR REPLACE PROCEDURE", 1);
            run(replacing, PROCEDURE_EXISTS).await?;
            continue;
        }
        if is_upgrade {
            let name = procedure.split('`').nth(1).unwrap_or_default();
            run(format!("DROP PROCEDURE IF EXISTS `{name}`"), PROCEDURE_EXISTS).await?;
        }
        run(procedure.to_owned(), PROCEDURE_EXISTS).await?;
    }
    let meta = format!(
        "INSERT INTO `{prefix}meta` (one, schema_version, lineage, identity) VALUES (1, {KNOWN}, \
         TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6)) DIV 1000, {}) \
         ON DUPLICATE KEY UPDATE schema_version = {KNOWN}",
        flavour.identity()
    );
    servers.query_within(meta, PATIENCE).await.map(drop)
}
