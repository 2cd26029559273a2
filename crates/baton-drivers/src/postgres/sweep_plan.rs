//! The statements that sweep one table, made to fit its columns.

use tokio_postgres::Client;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use super::config::PostgresConfig;
use super::fence;
use crate::driver::DriverError;
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

/// A column as the database has it.
struct Column {
    name: String,
    kind: String,
    is_generated: bool,
    may_be_null: bool,
}

/// A table as the database has it.
struct Shape {
    is_table: bool,
    has_parts: bool,
    columns: Vec<Column>,
    /// The columns of each unique index.
    unique: Vec<Vec<String>>,
}

impl Shape {
    /// `None` if there is no such table.
    async fn look(client: &Client, table: &str) -> Result<Option<Self>, DriverError> {
        let name = quoted(table, '"');
        let rows = client.query_typed(COLUMNS, &[(&name, Type::TEXT)]).await?;
        let Some(first) = rows.first() else { return Ok(None) };
        let kind: &str = first.try_get(0)?;
        let (is_table, has_parts) = (matches!(kind, "r" | "p"), first.try_get(1)?);
        let mut columns = Vec::with_capacity(rows.len());
        for row in &rows {
            let is_generated = !row.try_get::<_, &str>(4)?.is_empty();
            let (name, kind, may_be_null) = (row.try_get(2)?, row.try_get(3)?, row.try_get(5)?);
            columns.push(Column { name, kind, is_generated, may_be_null });
        }
        let unique = client.query_typed(UNIQUE, &[(&name, Type::TEXT)]).await?;
        let unique = unique.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
        Ok(Some(Self { is_table, has_parts, columns, unique }))
    }

    fn kind_of(&self, table: &str, column: &str) -> Result<&str, String> {
        let found = self.columns.iter().find(|known| known.name == column);
        let has = || self.columns.iter().map(|known| known.name.clone()).collect::<Vec<_>>();
        let found = found.ok_or_else(|| Table::lacks(table, column, &has()))?;
        Ok(&found.kind)
    }

    fn written(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().filter(|it| !it.is_generated).map(|it| it.name.as_str())
    }
}

impl Plan {
    /// Looks at the table, and at the one that rows move to. The inner error is for people.
    pub(super) async fn make(
        client: &Client,
        table: &Table,
        strategy: &Strategy,
    ) -> Result<Result<Self, String>, DriverError> {
        let Some(shape) = Shape::look(client, &table.name).await? else {
            return Ok(Err(Table::missing(&table.name)));
        };
        let archive = match strategy {
            Strategy::Archive { into } => match Shape::look(client, into).await? {
                Some(archive) => Some((into.as_str(), archive)),
                None => return Ok(Err(Table::missing(into))),
            },
            _ => None,
        };
        Ok(Self::fit(table, strategy, &shape, archive))
    }

    fn fit(
        table: &Table,
        strategy: &Strategy,
        shape: &Shape,
        archive: Option<(&str, Shape)>,
    ) -> Result<Self, String> {
        if !shape.is_table {
            return Err(format!("{} is no table, and only tables are swept", table.name));
        }
        for column in &table.key {
            shape.kind_of(&table.name, column)?;
        }
        let nullable = shape.columns.iter().filter(|it| it.may_be_null);
        let nullable: Vec<&str> = nullable.map(|it| it.name.as_str()).collect();
        table.check_key(&shape.unique, &nullable, |one, other| one == other)?;
        let column = table.column();
        let kind = shape.kind_of(&table.name, column)?;
        let bound = moment(table, kind, true).ok_or_else(|| table.unlike(column, kind))?;
        let mut due = format!("\"{column}\" <= {bound}");
        let (mut soft, mut now, mut into, mut columns) = Default::default();
        let batch = match strategy {
            Strategy::Delete => DELETE,
            Strategy::SoftDelete { column } => {
                let kind = shape.kind_of(&table.name, column)?;
                now = moment(table, kind, false).ok_or_else(|| table.unlike(column, kind))?;
                soft = quoted(column, '"');
                due = format!("{due} AND {soft} IS NULL");
                SOFT_DELETE
            }
            Strategy::Archive { .. } => {
                let (name, archive) = archive.expect("it was looked at");
                for column in shape.written() {
                    archive.kind_of(name, column)?;
                }
                into = quoted(name, '"');
                columns = shape.written().map(|it| format!("\"{it}\"")).collect::<Vec<_>>();
                ARCHIVE
            }
            Strategy::Callback(_) => READ,
        };
        let these = match shape.has_parts {
            true => format!("{PLACES} AND {PARTS}"),
            false => PLACES.to_owned(),
        };
        let fill = |sql: &str| {
            sql.replace("{locked}", DUE)
                .replace("{table}", &quoted(&table.name, '"'))
                .replace("{these}", &these)
                .replace("{due}", &due)
                .replace("{order}", &quoted(column, '"'))
                .replace("{soft}", &soft)
                .replace("{now}", &now)
                .replace("{into}", &into)
                .replace("{columns}", &columns.join(", "))
        };
        Ok(Self { batch: fill(batch), remove: fill(REMOVE) })
    }
}

/// The server's time as a value of such a column, less the age if `aged`; `None` if the column is
/// of another kind than the table's unit. Rounded down: never early.
fn moment(table: &Table, kind: &str, aged: bool) -> Option<String> {
    let ms = if aged { table.age_ms() } else { 0 };
    let whole = |number: String| match kind {
        "integer" | "bigint" => Some(format!("floor({number})::bigint")),
        "numeric" | "double precision" => Some(format!("floor({number})::{kind}")),
        _ => None,
    };
    match table.unit {
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
