//! What must exist at the server, and how it comes to be there.

use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error};

use super::NAME;
use super::config::{PostgresConfig, is_plain};
use super::error::{self, GRANTS};
use crate::driver::SchemaVersion;
use crate::refusal::Refusal;

/// The version that this program knows.
pub(super) const KNOWN: i32 = 4;

/// The tables that each version added. None is ever changed once it was released.
const TABLES: [&str; 4] = [
    concat!(include_str!("sql/0001-tables.sql"), include_str!("sql/fences.sql")),
    include_str!("sql/0002-counters.sql"),
    include_str!("sql/0003-hints.sql"),
    include_str!("sql/0004-gaps.sql"),
];

/// What the functions need comes before those that need it. Each version makes all of them anew.
const FUNCTIONS: [&str; 20] = [
    include_str!("sql/functions/identity.sql"),
    include_str!("sql/functions/settle.sql"),
    include_str!("sql/functions/space.sql"),
    include_str!("sql/functions/lease.sql"),
    include_str!("sql/functions/register.sql"),
    include_str!("sql/functions/terms.sql"),
    include_str!("sql/functions/acquire.sql"),
    include_str!("sql/functions/renew.sql"),
    include_str!("sql/functions/beat.sql"),
    include_str!("sql/functions/release.sql"),
    include_str!("sql/functions/leave.sql"),
    include_str!("sql/functions/publish.sql"),
    include_str!("sql/functions/document.sql"),
    include_str!("sql/functions/prune.sql"),
    include_str!("sql/functions/inspect.sql"),
    include_str!("sql/functions/listen.sql"),
    include_str!("sql/functions/fence.sql"),
    include_str!("sql/functions/append.sql"),
    include_str!("sql/functions/counter_values.sql"),
    include_str!("sql/functions/consolidate.sql"),
];

/// The first lineage is the time, as every later one is.
const BEGIN: &str = "INSERT INTO {t}meta (one, schema_version, lineage, identity) \
                     VALUES (1, {v}, {t}ms(clock_timestamp()), {t}identity());\n";

const UPGRADE: &str = "UPDATE {t}meta SET schema_version = {v};\n";

/// All of the SQL that makes a new store, for whoever may make tables to run. `None` if a name has
/// other characters than a-z, 0-9 and '_', or begins with a digit.
///
/// ```
/// let sql = baton_drivers::postgres::schema_sql("public", "baton_").expect("plain names");
/// assert!(sql.contains("CREATE TABLE public.baton_locks"));
/// ```
pub fn schema_sql(schema: &str, prefix: &str) -> Option<String> {
    let plain = is_plain(schema, 63) && is_plain(prefix, 40);
    plain.then(|| format!("BEGIN;\n{}COMMIT;\n", making(schema, prefix, 0)))
}

/// What brings the schema from this version, 0 if there is none, to the one known.
fn making(schema: &str, prefix: &str, from: i32) -> String {
    // CREATE SCHEMA asks for the right to create one even if it is there.
    let home = format!(
        "DO $do$ BEGIN IF to_regnamespace('{schema}') IS NULL THEN CREATE SCHEMA {schema}; \
         END IF; END $do$;\n"
    );
    let done = usize::try_from(from).unwrap_or(0);
    let parts: String = TABLES.into_iter().skip(done).chain(FUNCTIONS).collect();
    let end = if from == 0 { BEGIN } else { UPGRADE };
    let filled = (parts + end).replace("{t}", &format!("{schema}.{prefix}"));
    home + &filled.replace("{v}", &KNOWN.to_string())
}

/// Sees to it that the schema is there and of the version known. Any number may do so at once.
pub(super) async fn ensure(client: &Client, config: &PostgresConfig) -> Result<(), Refusal> {
    let before = version(client, config).await?;
    if before == KNOWN {
        return Ok(());
    }
    let begin = format!(
        "BEGIN; SET LOCAL statement_timeout TO '15s'; SET LOCAL lock_timeout TO '15s'; \
         SELECT pg_advisory_xact_lock(hashtextextended('{}', 0))",
        config.names()
    );
    let refused = |problem| no_schema(config, before, &problem);
    client.batch_execute(&begin).await.map_err(refused)?;
    let made = match version(client, config).await {
        Ok(KNOWN) => Ok(()),
        Ok(found) => {
            let sql = making(&config.schema, &config.table_prefix, found);
            client.batch_execute(&sql).await.map_err(refused)
        }
        Err(refusal) => Err(refusal),
    };
    let end = if made.is_ok() { "COMMIT" } else { "ROLLBACK" };
    client.batch_execute(end).await.map_err(refused)?;
    made
}

/// Is it there, and of the version known? Nothing is made.
pub(super) async fn look(client: &Client, config: &PostgresConfig) -> Result<bool, Refusal> {
    match version(client, config).await? {
        0 => Ok(false),
        KNOWN => Ok(true),
        found => Err(Refusal::OlderSchema {
            store: NAME,
            place: config.place(),
            found: i64::from(found),
            known: i64::from(KNOWN),
        }),
    }
}

/// The version that is there, 0 if there is none. One that is not known is refused.
async fn version(client: &Client, config: &PostgresConfig) -> Result<i32, Refusal> {
    let place = config.place();
    let names = config.names();
    let refused = |problem: Error| unread(config, &problem);
    // Read from the catalogue itself: what the session remembers of it may be older than the lock.
    let there = format!(
        "SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace \
         WHERE nspname = '{}' AND relname = '{}meta'",
        config.schema, config.table_prefix
    );
    if client.query_typed_opt(&there, &[]).await.map_err(refused)?.is_none() {
        return Ok(0);
    }
    let version = format!("SELECT schema_version FROM {names}meta");
    let row = client.query_typed_opt(&version, &[]).await.map_err(refused)?;
    let found: i32 = match row {
        Some(row) => row.try_get(0).map_err(refused)?,
        None => {
            let detail = format!("table {names}meta is empty");
            return Err(Refusal::Strange { store: NAME, place, detail });
        }
    };
    let known = SchemaVersion::new(i64::from(KNOWN), None);
    SchemaVersion::new(i64::from(found), None).check_at(known, NAME, &place)?;
    Ok(found)
}

/// The schema cannot be looked at.
fn unread(config: &PostgresConfig, problem: &Error) -> Refusal {
    let (place, detail) = (config.place(), error::whole(problem));
    if problem.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) {
        let what = format!("read {}meta ({detail})", config.names());
        return Refusal::Rights { store: NAME, place, what, remedy: GRANTS.to_owned() };
    }
    unexpected(config, problem)
}

/// Nothing that a right could mend.
fn unexpected(config: &PostgresConfig, problem: &Error) -> Refusal {
    let (place, detail) = (config.place(), error::whole(problem));
    match problem.as_db_error() {
        Some(_) => Refusal::Strange { store: NAME, place, detail },
        None => Refusal::Unreachable { store: NAME, place, detail },
    }
}

/// The schema cannot be made, or not be brought from this version to the one known.
fn no_schema(config: &PostgresConfig, before: i32, problem: &Error) -> Refusal {
    if problem.code() != Some(&SqlState::INSUFFICIENT_PRIVILEGE) {
        return unexpected(config, problem);
    }
    let schema = format!("baton's schema (tables {}*)", config.names());
    let what = match before {
        0 => schema,
        before => format!("version {KNOWN} of {schema}, which is at {before},"),
    };
    let remedy = format!(
        "this user may not make it ({}): open the store once as one who may create tables in \
         schema {}, or have the SQL of baton_drivers::postgres::schema_sql run",
        error::whole(problem),
        config.schema
    );
    Refusal::Missing { store: NAME, place: config.place(), what, remedy }
}
