//! What must exist at the server, and how it comes to be there.

use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error};

use super::NAME;
use super::config::{PostgresConfig, is_plain};
use super::error::{self, GRANTS};
use crate::OpenError;
use crate::driver::{SchemaState, SchemaVersion};

/// The version that this program makes, and the lowest that a program must know to use it.
const KNOWN: SchemaVersion = SchemaVersion::new(6, Some(5));

/// The tables that each version added. None is ever changed once it was released.
const TABLES: [&str; 6] = [
    concat!(include_str!("sql/0001-tables.sql"), include_str!("sql/fences.sql")),
    include_str!("sql/0002-counters.sql"),
    include_str!("sql/0003-hints.sql"),
    include_str!("sql/0004-gaps.sql"),
    include_str!("sql/0005-compatible.sql"),
    include_str!("sql/0006-partitions.sql"),
];

/// What the functions need comes before those that need it. Each version makes all of them anew.
const FUNCTIONS: [&str; 21] = [
    include_str!("sql/functions/identity.sql"),
    include_str!("sql/functions/settle.sql"),
    include_str!("sql/functions/space.sql"),
    include_str!("sql/functions/lease.sql"),
    include_str!("sql/functions/fenced_off.sql"),
    include_str!("sql/functions/register.sql"),
    include_str!("sql/functions/terms.sql"),
    include_str!("sql/functions/acquire.sql"),
    include_str!("sql/functions/renew.sql"),
    include_str!("sql/functions/beat.sql"),
    include_str!("sql/functions/release.sql"),
    include_str!("sql/functions/leave.sql"),
    include_str!("sql/functions/publish.sql"),
    include_str!("sql/functions/documents.sql"),
    include_str!("sql/functions/prune.sql"),
    include_str!("sql/functions/inspect.sql"),
    include_str!("sql/functions/listen.sql"),
    include_str!("sql/functions/fence.sql"),
    include_str!("sql/functions/append.sql"),
    include_str!("sql/functions/counter_values.sql"),
    include_str!("sql/functions/consolidate.sql"),
];

/// The first lineage is the time, as every later one is.
const BEGIN: &str = "INSERT INTO {t}meta \
                     (one, schema_version, lowest_compatible, lineage, identity) \
                     VALUES (1, {version}, {lowest}, \
                     {t}ms(clock_timestamp()), {t}identity());\n";

/// What a later program has written stays: it is never lowered.
const UPGRADE: &str = "UPDATE {t}meta SET schema_version = {version}, \
                       lowest_compatible = greatest(lowest_compatible, {lowest});\n";

/// All of the SQL that makes a new store, to be run by a user who may make tables. `None` if a name
/// has other characters than a-z, 0-9 and '_', or begins with a digit.
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
fn making(schema: &str, prefix: &str, from: i64) -> String {
    // CREATE SCHEMA asks for the right to create one even if it is there.
    let home = format!(
        "DO $do$ BEGIN IF to_regnamespace('{schema}') IS NULL THEN CREATE SCHEMA {schema}; \
         END IF; END $do$;\n"
    );
    let done = usize::try_from(from).unwrap_or(0);
    let parts: String = TABLES.into_iter().skip(done).chain(FUNCTIONS).collect();
    let end = if from == 0 { BEGIN } else { UPGRADE };
    let end = end.replace("{version}", &KNOWN.version.to_string());
    let end = end.replace("{lowest}", &KNOWN.lowest_compatible.to_string());
    home + &(parts + &end).replace("{t}", &format!("{schema}.{prefix}"))
}

/// Sees to it that the schema is there, of the version known or of a later one that allows this
/// program, which is left as it is. Any number may do so at once.
pub(super) async fn ensure(client: &Client, config: &PostgresConfig) -> Result<(), OpenError> {
    let (before, state) = found(client, config).await?;
    if state == SchemaState::Usable {
        return Ok(());
    }
    let begin = format!(
        "BEGIN; SET LOCAL statement_timeout TO '15s'; SET LOCAL lock_timeout TO '15s'; \
         SELECT pg_advisory_xact_lock(hashtextextended('{}', 0))",
        config.names()
    );
    let failed =
        |problem: Error| failed(config, &problem, |detail| no_schema(config, before, &detail));
    client.batch_execute(&begin).await.map_err(failed)?;
    let made = match found(client, config).await {
        Ok((_, SchemaState::Usable)) => Ok(()),
        Ok((version, SchemaState::Older)) => {
            let sql = making(&config.schema, &config.table_prefix, version);
            client.batch_execute(&sql).await.map_err(failed)
        }
        Err(error) => Err(error),
    };
    let end = if made.is_ok() { "COMMIT" } else { "ROLLBACK" };
    client.batch_execute(end).await.map_err(failed)?;
    made
}

/// Is it there, and can this program read it? Nothing is made.
pub(super) async fn look(client: &Client, config: &PostgresConfig) -> Result<bool, OpenError> {
    match version(client, config).await? {
        None => Ok(false),
        Some(found) => found.check_to_read(KNOWN, NAME, &config.place()).map(|()| true),
    }
}

/// The version that is there, 0 if there is none, and whether it can be used.
async fn found(client: &Client, config: &PostgresConfig) -> Result<(i64, SchemaState), OpenError> {
    match version(client, config).await? {
        None => Ok((0, SchemaState::Older)),
        Some(found) => Ok((found.version, found.check_at(KNOWN, NAME, &config.place())?)),
    }
}

/// The version that is there, if one is.
async fn version(
    client: &Client,
    config: &PostgresConfig,
) -> Result<Option<SchemaVersion>, OpenError> {
    let names = config.names();
    let unread = |detail| {
        let what = format!("read {names}meta ({detail})");
        OpenError::Rights { store: NAME, place: config.place(), what, remedy: GRANTS.to_owned() }
    };
    let failed = |problem: Error| failed(config, &problem, unread);
    // Read from the catalogue itself: what the session remembers of it may be older than the lock.
    let there = format!(
        "SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace \
         WHERE nspname = '{}' AND relname = '{}meta'",
        config.schema, config.table_prefix
    );
    if client.query_typed_opt(&there, &[]).await.map_err(failed)?.is_none() {
        return Ok(None);
    }
    // As JSON: versions before 5 lack the second column.
    let version = format!(
        "SELECT schema_version::bigint, (to_jsonb(meta)->>'lowest_compatible')::bigint \
         FROM {names}meta AS meta"
    );
    let row = client.query_typed_opt(&version, &[]).await.map_err(failed)?;
    let Some(row) = row else {
        let detail = format!("table {names}meta is empty");
        return Err(OpenError::Strange { store: NAME, place: config.place(), detail });
    };
    let version = row.try_get(0).map_err(failed)?;
    Ok(Some(SchemaVersion::new(version, row.try_get(1).map_err(failed)?)))
}

/// The schema cannot be looked at or made: `lacking` says so if it is for want of a right.
fn failed(
    config: &PostgresConfig,
    problem: &Error,
    lacking: impl FnOnce(String) -> OpenError,
) -> OpenError {
    let (place, detail) = (config.place(), error::full_message(problem));
    match problem.as_db_error() {
        Some(it) if *it.code() == SqlState::INSUFFICIENT_PRIVILEGE => lacking(detail),
        Some(_) => OpenError::Strange { store: NAME, place, detail },
        None => OpenError::Unreachable { store: NAME, place, detail },
    }
}

/// The schema cannot be made, or not be brought from this version to the one known.
fn no_schema(config: &PostgresConfig, before: i64, detail: &str) -> OpenError {
    let schema = format!("baton's schema (tables {}*)", config.names());
    let what = match before {
        0 => schema,
        before => format!("version {} of {schema}, which is at {before},", KNOWN.version),
    };
    let remedy = format!(
        "this user may not make it ({}): open the store once as one who may create tables in \
         schema {}, or have the SQL of baton_drivers::postgres::schema_sql run",
        detail, config.schema
    );
    OpenError::Missing { store: NAME, place: config.place(), what, remedy }
}
