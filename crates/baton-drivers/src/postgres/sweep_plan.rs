//! The statements that sweep one table, made to fit its columns.

use tokio_postgres::Client;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use super::config::PostgresConfig;
use super::fence;
use crate::driver::DriverError;
use crate::sweep::plan::{Column, Dialect, RowAction, StatementParts, TableSchema};
use crate::sweep::{Strategy, Table, Unit, quoted};

const COLUMNS: &str = include_str!("sql/sweep/columns.sql");
const UNIQUE: &str = include_str!("sql/sweep/unique.sql");
const DUE: &str = include_str!("sql/sweep/due.sql");
const DELETE: &str = include_str!("sql/sweep/delete.sql");
const SOFT_DELETE: &str = include_str!("sql/sweep/soft_delete.sql");
const ARCHIVE: &str = include_str!("sql/sweep/archive.sql");
const READ: &str = include_str!("sql/sweep/read.sql");
const REMOVE: &str = include_str!("sql/sweep/remove.sql");

/// The rows that were locked. A place alone names a row where there are no partitions.
const PLACES: &str = "ctid = ANY (ARRAY(SELECT place FROM due))";
const PARTS: &str = "(tableoid, ctid) IN (SELECT part, place FROM due)";

/// One look at the clock for the whole statement; a moment without a zone is UTC.
const NOW: &str = "statement_timestamp()";
const NOW_UTC: &str = "(statement_timestamp() AT TIME ZONE 'UTC')";

/// What is run for a batch; `$1` is the most that may go.
pub(super) struct Plan {
    /// Removes, marks or moves; or locks and reads, for a callback.
    pub(super) batch: String,
    /// Removes what was read.
    pub(super) remove: String,
}

/// How PostgreSQL writes it.
struct Postgres;

impl Dialect for Postgres {
    const QUOTE: char = '"';
    const IS_SAME: fn(&str, &str) -> bool = |one, other| one == other;

    fn moment(unit: Unit, kind: &str, ms: u128) -> Option<String> {
        let whole = |number: String| match kind {
            "integer" | "bigint" => Some(format!("floor({number})::bigint")),
            "numeric" | "double precision" => Some(format!("floor({number})::{kind}")),
            _ => None,
        };
        match unit {
            Unit::Timestamp => {
                let now = match kind {
                    "timestamp with time zone" => NOW,
                    "timestamp without time zone" | "date" => NOW_UTC,
                    _ => return None,
                };
                let moment = format!("({now} - interval '{ms} milliseconds')");
                Some(if kind == "date" { format!("{moment}::date") } else { moment })
            }
            Unit::UnixSeconds => whole(format!("extract(epoch FROM {NOW}) - {ms} / 1000.0")),
            Unit::UnixMillis => whole(format!("extract(epoch FROM {NOW}) * 1000 - {ms}")),
        }
    }
}

/// A table as the database has it.
#[derive(Default)]
struct FoundTable {
    shape: TableSchema,
    is_view: bool,
    has_parts: bool,
}

async fn look(client: &Client, table: &str) -> Result<FoundTable, DriverError> {
    let name = quoted(table, '"');
    let rows = client.query_typed(COLUMNS, &[(&name, Type::TEXT)]).await?;
    let Some(first) = rows.first() else { return Ok(FoundTable::default()) };
    let kind: &str = first.try_get(0)?;
    let (is_view, has_parts) = (!matches!(kind, "r" | "p"), first.try_get(1)?);
    let mut columns = Vec::with_capacity(rows.len());
    for row in &rows {
        let is_generated = !row.try_get::<_, &str>(4)?.is_empty();
        let (name, kind, may_be_null) = (row.try_get(2)?, row.try_get(3)?, row.try_get(5)?);
        columns.push(Column { name, kind, is_generated, may_be_null });
    }
    let unique = client.query_typed(UNIQUE, &[(&name, Type::TEXT)]).await?;
    let unique = unique.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    Ok(FoundTable { shape: TableSchema { columns, unique }, is_view, has_parts })
}

impl Plan {
    /// Looks at the table, and at the one that rows move to.
    pub(super) async fn make(
        client: &Client,
        table: &Table,
        strategy: &Strategy,
    ) -> Result<Self, DriverError> {
        let found = look(client, &table.name).await?;
        if found.is_view {
            let detail = format!("{} is no table, and only tables are swept", table.name);
            return Err(DriverError::refused(detail));
        }
        let archive = match strategy {
            Strategy::Archive { into } => look(client, into).await?.shape,
            _ => TableSchema::default(),
        };
        let parts = found.shape.fit::<Postgres>(table, strategy, &archive);
        let parts = parts.map_err(DriverError::refused)?;
        Ok(Self::of(&parts, found.has_parts))
    }

    fn of(parts: &StatementParts, has_parts: bool) -> Self {
        let batch = match parts.action {
            RowAction::Delete => DELETE,
            RowAction::Mark { .. } => SOFT_DELETE,
            RowAction::Move { .. } => ARCHIVE,
            RowAction::HandOver => READ,
        };
        let these = match has_parts {
            true => format!("{PLACES} AND {PARTS}"),
            false => PLACES.to_owned(),
        };
        let batch = batch.replace("{locked}", DUE).replace("{these}", &these);
        Self { batch: parts.fill(&batch), remove: parts.fill(REMOVE) }
    }
}

/// Sees to it that the register is there: the user's tables may be in another database than
/// baton's own.
pub(super) async fn ensure_fence(
    client: &Client,
    config: &PostgresConfig,
) -> Result<(), DriverError> {
    let there = format!("SELECT to_regprocedure('{}fence(text,numeric)') IS NULL", config.names());
    let row = client.query_typed(&there, &[]).await?;
    if !row.first().map_or(Ok(true), |row| row.try_get::<_, bool>(0))? {
        return Ok(());
    }
    let sql = fence::sql(&config.schema, &config.table_prefix).expect("its names are plain");
    let lock = format!("SELECT pg_advisory_xact_lock(hashtextextended('{}', 0))", config.names());
    let made = client.batch_execute(&format!("BEGIN; {lock}; {sql}; COMMIT")).await;
    if made.is_err() {
        client.batch_execute("ROLLBACK").await?;
    }
    match made {
        Err(problem) if problem.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
            Err(DriverError::refused(format!(
                "this user may not make the register {}fences; have the SQL of \
                 baton_drivers::postgres::fence::sql run, and grant what \
                 docs/stores/postgres.md lists",
                config.names()
            )))
        }
        made => Ok(made?),
    }
}
