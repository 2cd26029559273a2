//! The statements that sweep one table, made to fit its columns.

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Row, Value};
use serde_json::{Map, Number, Value as Json};

use super::connect::Servers;
use super::error::QueryError;
use crate::driver::DriverError;
use crate::sweep::plan::{Column, Dialect, RowAction, StatementParts, TableSchema};
use crate::sweep::{Strategy, Table, Unit, by_index, hexadecimal};

const COLUMNS: &str = include_str!("sql/sweep/columns.sql");
const UNIQUE: &str = include_str!("sql/sweep/unique.sql");
const DUE: &str = include_str!("sql/sweep/due.sql");

/// How many keys stand in one statement.
pub(super) const KEYS_MAX: usize = 500;

/// One look at the clock for the whole statement. The session's time zone is UTC.
const NOW: &str = "UTC_TIMESTAMP(6)";

/// What is run for a batch.
pub(super) struct Plan {
    /// Locks the rows that are due and reads their keys; all their columns, for a callback.
    pub(super) due: String,
    key: Vec<String>,
    parts: StatementParts,
}

/// How MySQL writes it.
struct Mysql;

impl Dialect for Mysql {
    const QUOTE: char = '`';
    const IS_SAME: fn(&str, &str) -> bool = str::eq_ignore_ascii_case;

    fn moment(unit: Unit, kind: &str, ms: u128) -> Option<String> {
        let is_number =
            matches!(kind, "int" | "bigint" | "decimal" | "double" | "mediumint" | "numeric");
        match unit {
            Unit::Timestamp if matches!(kind, "datetime" | "timestamp" | "date") => Some(format!(
                "({NOW} - INTERVAL {} SECOND - INTERVAL {} MICROSECOND)",
                ms / 1_000,
                ms % 1_000 * 1_000
            )),
            Unit::UnixSeconds if is_number => {
                Some(format!("FLOOR(UNIX_TIMESTAMP({NOW}) - {ms} / 1000)"))
            }
            Unit::UnixMillis if is_number => {
                Some(format!("FLOOR(UNIX_TIMESTAMP({NOW}) * 1000 - {ms})"))
            }
            _ => None,
        }
    }
}

impl Plan {
    /// Looks at the table, and at the one that rows move to.
    pub(super) async fn make(
        servers: &Servers,
        conn: &mut Conn,
        table: &Table,
        strategy: &Strategy,
    ) -> Result<Self, DriverError> {
        let failed = |error| servers.failed(QueryError::Call(error), None);
        let shape = look(conn, &table.name).await.map_err(failed)?;
        let archive = match strategy {
            Strategy::Archive { into } => look(conn, into).await.map_err(failed)?,
            _ => TableSchema::default(),
        };
        let parts = shape.fit::<Mysql>(table, strategy, &archive);
        let parts = parts.map_err(DriverError::refused)?;
        let columns = match parts.action {
            RowAction::HandOver => "*".to_owned(),
            _ => parts.key.join(", "),
        };
        let due = parts.fill(&DUE.replace("{read}", &columns));
        Ok(Self { due, key: table.key.clone(), parts })
    }

    /// The key of a row that was read.
    pub(super) fn key(&self, row: &Row) -> Vec<Value> {
        let at = |name: &String| {
            let is_it = |known: &mysql_async::Column| known.name_str().eq_ignore_ascii_case(name);
            let at = row.columns_ref().iter().position(is_it);
            at.and_then(|at| row.as_ref(at)).cloned().unwrap_or(Value::NULL)
        };
        self.key.iter().map(at).collect()
    }

    /// A row that was read, for a callback.
    pub(super) fn record(&self, row: &Row) -> Json {
        let columns = row.columns_ref().iter().enumerate();
        let field = |(at, column): (usize, &mysql_async::Column)| {
            let value = row.as_ref(at).map_or(Json::Null, json);
            (column.name_str().into_owned(), value)
        };
        Json::Object(columns.map(field).collect::<Map<_, _>>())
    }

    /// The statements for this many keys, to be run in turn.
    pub(super) fn acts(&self, keys: usize) -> Vec<String> {
        let these = match self.parts.key.as_slice() {
            [only] => format!("{only} IN ({})", vec!["?"; keys].join(", ")),
            key => {
                let one = key.iter().map(|it| format!("{it} = ?")).collect::<Vec<_>>();
                format!("({})", vec![format!("({})", one.join(" AND ")); keys].join(" OR "))
            }
        };
        self.parts.statements(&these)
    }
}

async fn look(conn: &mut Conn, table: &str) -> mysql_async::Result<TableSchema> {
    // Schema, if one is named, and name.
    let parts = table.split_once('.').map_or((None, table), |(schema, name)| (Some(schema), name));
    let rows: Vec<(String, String, String, String)> = conn.exec(COLUMNS, parts).await?;
    let column = |(name, kind, extra, null): (String, String, String, String)| Column {
        name,
        kind: kind.to_lowercase(),
        is_generated: extra.to_uppercase().contains(" GENERATED"),
        may_be_null: null.eq_ignore_ascii_case("YES"),
    };
    let columns = rows.into_iter().map(column).collect();
    Ok(TableSchema { columns, unique: by_index(conn.exec(UNIQUE, parts).await?) })
}

/// A value as JSON: moments as text in UTC, bytes that are no text as hexadecimal digits.
fn json(value: &Value) -> Json {
    match value {
        Value::NULL => Json::Null,
        Value::Int(number) => Json::from(*number),
        Value::UInt(number) => Json::from(*number),
        Value::Float(number) => float(f64::from(*number)),
        Value::Double(number) => float(*number),
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Json::from(text),
            Err(_) => Json::from(hexadecimal(bytes)),
        },
        Value::Date(year, month, day, hour, minute, second, micros) => Json::from(format!(
            "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micros:06}"
        )),
        Value::Time(is_negative, days, hours, minutes, seconds, micros) => {
            let sign = if *is_negative { "-" } else { "" };
            let hours = days * 24 + u32::from(*hours);
            Json::from(format!("{sign}{hours:02}:{minutes:02}:{seconds:02}.{micros:06}"))
        }
    }
}

fn float(number: f64) -> Json {
    Number::from_f64(number).map_or(Json::Null, Json::Number)
}
