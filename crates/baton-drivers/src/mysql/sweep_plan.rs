//! The statements that sweep one table, made to fit its columns.

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Row, Value};
use serde_json::{Map, Number, Value as Json};

use crate::sweep::{Strategy, Table, Unit, by_index, hexadecimal, quoted};

const COLUMNS: &str = include_str!("sql/sweep/columns.sql");
const UNIQUE: &str = include_str!("sql/sweep/unique.sql");
const DUE: &str = include_str!("sql/sweep/due.sql");
const ARCHIVE: &str = include_str!("sql/sweep/archive.sql");

/// So many keys stand in one statement.
pub(super) const KEYS_MAX: usize = 500;

/// One look at the clock for the whole statement. The session's time zone is UTC.
const NOW: &str = "UTC_TIMESTAMP(6)";

/// What is run for a batch.
pub(super) struct Plan {
    /// Locks the rows that are due and reads their keys; all their columns, for a callback.
    pub(super) due: String,
    key: Vec<String>,
    /// What happens to the rows `{these}` that are due; each is run in turn.
    acts: Vec<String>,
}

/// A column as the database has it.
struct Column {
    name: String,
    kind: String,
    is_generated: bool,
    may_be_null: bool,
}

impl Plan {
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

    /// The statements for so many keys.
    pub(super) fn acts(&self, keys: usize) -> impl Iterator<Item = String> {
        let one = self.key.iter().map(|it| format!("`{it}` = ?")).collect::<Vec<_>>();
        let these = match self.key.as_slice() {
            [only] => format!("`{only}` IN ({})", vec!["?"; keys].join(", ")),
            _ => format!("({})", vec![format!("({})", one.join(" AND ")); keys].join(" OR ")),
        };
        self.acts.iter().map(move |act| act.replace("{these}", &these))
    }
}

/// Looks at the table, and at the one that rows move to. The inner error is for people.
pub(super) async fn make(
    conn: &mut Conn,
    table: &Table,
    strategy: &Strategy,
) -> mysql_async::Result<Result<Plan, String>> {
    let found = columns(conn, &table.name).await?;
    let archive = match strategy {
        Strategy::Archive { into } => columns(conn, into).await?,
        _ => Vec::new(),
    };
    let unique = unique(conn, &table.name).await?;
    Ok(fit(table, strategy, &found, &archive).and_then(|plan| {
        let nullable: Vec<&str> =
            found.iter().filter(|it| it.may_be_null).map(|it| it.name.as_str()).collect();
        table.check_key(&unique, &nullable, str::eq_ignore_ascii_case)?;
        Ok(plan)
    }))
}

/// Schema, if one is named, and name.
fn parts(table: &str) -> (Option<&str>, &str) {
    table.split_once('.').map_or((None, table), |(schema, name)| (Some(schema), name))
}

/// The columns of each unique index.
async fn unique(conn: &mut Conn, table: &str) -> mysql_async::Result<Vec<Vec<String>>> {
    Ok(by_index(conn.exec(UNIQUE, parts(table)).await?))
}

async fn columns(conn: &mut Conn, table: &str) -> mysql_async::Result<Vec<Column>> {
    let rows: Vec<(String, String, String, String)> = conn.exec(COLUMNS, parts(table)).await?;
    let column = |(name, kind, extra, null): (String, String, String, String)| Column {
        name,
        kind: kind.to_lowercase(),
        is_generated: extra.to_uppercase().contains(" GENERATED"),
        may_be_null: null.eq_ignore_ascii_case("YES"),
    };
    Ok(rows.into_iter().map(column).collect())
}

fn kind_of<'a>(table: &str, columns: &'a [Column], column: &str) -> Result<&'a str, String> {
    if columns.is_empty() {
        return Err(Table::missing(table));
    }
    let found = columns.iter().find(|known| known.name.eq_ignore_ascii_case(column));
    let has = || columns.iter().map(|known| known.name.clone()).collect::<Vec<_>>();
    Ok(&found.ok_or_else(|| Table::lacks(table, column, &has()))?.kind)
}

fn fit(
    table: &Table,
    strategy: &Strategy,
    columns: &[Column],
    archive: &[Column],
) -> Result<Plan, String> {
    for column in &table.key {
        kind_of(&table.name, columns, column)?;
    }
    let column = table.column();
    let kind = kind_of(&table.name, columns, column)?;
    let bound = moment(table, kind, true).ok_or_else(|| table.unlike(column, kind))?;
    let mut due = format!("`{column}` <= {bound}");
    let name = quoted(&table.name, '`');
    let delete = format!("DELETE FROM {name} WHERE {{these}} AND {{due}}");
    let keys = table.key.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
    let mut read = keys;
    let acts = match strategy {
        Strategy::Delete => vec![delete],
        Strategy::Callback(_) => {
            read = "*".to_owned();
            vec![delete]
        }
        Strategy::SoftDelete { column } => {
            let kind = kind_of(&table.name, columns, column)?;
            let now = moment(table, kind, false).ok_or_else(|| table.unlike(column, kind))?;
            due = format!("{due} AND `{column}` IS NULL");
            vec![format!("UPDATE {name} SET `{column}` = {now} WHERE {{these}} AND {{due}}")]
        }
        Strategy::Archive { into } => {
            let written = columns.iter().filter(|it| !it.is_generated);
            let mut list = Vec::new();
            for column in written {
                kind_of(into, archive, &column.name)?;
                list.push(format!("`{}`", column.name));
            }
            let copy = ARCHIVE
                .replace("{into}", &quoted(into, '`'))
                .replace("{columns}", &list.join(", "))
                .replace("{table}", &name);
            vec![copy, delete]
        }
    };
    let acts = acts.iter().map(|act| act.replace("{due}", &due)).collect();
    let due = DUE
        .replace("{columns}", &read)
        .replace("{table}", &name)
        .replace("{due}", &due)
        .replace("{order}", &quoted(column, '`'));
    Ok(Plan { due, key: table.key.clone(), acts })
}

/// The server's time as a value of such a column, less the age if `aged`; `None` if the column is
/// of another kind than the table's unit. Rounded down: never early.
fn moment(table: &Table, kind: &str, aged: bool) -> Option<String> {
    let ms = if aged { table.age_ms() } else { 0 };
    let is_number =
        matches!(kind, "int" | "bigint" | "decimal" | "double" | "mediumint" | "numeric");
    match table.unit {
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
