//! What this user must be allowed to do: the least, as docs/stores/postgres.md lists it.

use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

use super::NAME;
use super::config::PostgresConfig;
use super::error::{self, GRANTS};
use crate::OpenError;

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
pub(super) async fn missing(
    client: &Client,
    config: &PostgresConfig,
) -> Result<Vec<String>, Error> {
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
    let params: [super::context::Param<'_>; 3] =
        [(&names, Type::TEXT), (&config.schema, Type::TEXT), (&config.table_prefix, Type::TEXT)];
    let rows = client.query_typed(&sql, &params).await?;
    rows.iter().map(|row| row.try_get(0)).collect()
}

/// Refuses to go on without them: a beat that fails for want of a right would fail late.
pub(super) async fn require(client: &Client, config: &PostgresConfig) -> Result<(), OpenError> {
    let missing = missing(client, config).await;
    let missing = missing.map_err(|problem| error::opening(config, config.place(), &problem))?;
    if missing.is_empty() {
        return Ok(());
    }
    let what = format!("do what baton needs ({} is missing)", missing.join(", "));
    let place = config.place();
    Err(OpenError::Rights { store: NAME, place, what, remedy: GRANTS.to_owned() })
}
