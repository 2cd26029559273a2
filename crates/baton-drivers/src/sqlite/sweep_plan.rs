//! The statements that sweep one table, made to fit its columns.
//!
//! A column may hold anything here, whatever it was declared as. Only what is of the table's unit
//! is ever due: text that SQLite reads as a moment, or a number.

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Row, Transaction, params_from_iter};
use serde_json::{Map, Number, Value as Json};

use crate::driver::DriverError;
use crate::sweep::plan::{Column, Dialect, StatementParts, TableSchema};
use crate::sweep::{Strategy, Table, Unit, by_index};

const DUE: &str = include_str!("sql/sweep/due.sql");
const UNIQUE: &str = include_str!("sql/sweep/unique.sql");
const COLUMNS: &str = "SELECT name, type, NOT \"notnull\" AND pk = 0 \
    FROM pragma_table_xinfo(?1, ?2) WHERE hidden = 0 ORDER BY cid";

/// The database's own time, as text that sorts behind every way to write a moment of that second.
const BOUND: &str = "strftime('%Y-%m-%dT%H:%M:%S', 'now', '{age}') || '~'";

/// Milliseconds since 1970, as the database has it.
const NOW_MS: &str = "CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER)";

/// What is run for a batch.
pub(super) struct Plan {
    /// The keys of the rows that are due.
    due: String,
    /// The same rows whole.
    read: String,
    /// What happens to one row, by its key, if it is due; each is run in turn.
    acts: Vec<String>,
    keys: usize,
}

/// Rows for a callback, and the keys to remove them by.
pub(super) struct DueRows {
    pub(super) keys: Vec<Vec<Value>>,
    pub(super) records: Vec<Json>,
}

/// How SQLite writes it. It keeps to no column's declared kind.
struct Sqlite;

impl Dialect for Sqlite {
    const QUOTE: char = '"';
    const IS_SAME: fn(&str, &str) -> bool = str::eq_ignore_ascii_case;

    /// What an index can find, and what decides.
    fn due(table: &Table, _kind: &str) -> Option<String> {
        let (column, ms) = (format!("\"{}\"", table.column()), table.age_ms());
        let age = age(ms);
        let now = match table.unit {
            Unit::Timestamp => {
                return Some(format!(
                    "{column} <= {} AND typeof({column}) = 'text' \
                     AND julianday({column}) <= julianday('now', '{age}')",
                    BOUND.replace("{age}", &age)
                ));
            }
            Unit::UnixSeconds => format!("({NOW_MS} - {ms}) / 1000.0"),
            Unit::UnixMillis => format!("{NOW_MS} - {ms}"),
        };
        Some(format!("{column} <= {now} AND typeof({column}) IN ('integer', 'real')"))
    }

    fn moment(unit: Unit, _kind: &str, ms: u128) -> Option<String> {
        Some(match unit {
            Unit::Timestamp => format!("strftime('%Y-%m-%d %H:%M:%f', 'now', '{}')", age(ms)),
            Unit::UnixSeconds => format!("({NOW_MS} - {ms}) / 1000"),
            Unit::UnixMillis => format!("{NOW_MS} - {ms}"),
        })
    }
}

/// What SQLite subtracts from a moment.
fn age(ms: u128) -> String {
    format!("-{}.{:03} seconds", ms / 1_000, ms % 1_000)
}

impl Plan {
    /// Looks at the table, and at the one that rows move to.
    pub(super) fn make(
        conn: &Connection,
        table: &Table,
        strategy: &Strategy,
    ) -> Result<Self, DriverError> {
        let shape = look(conn, &table.name)?;
        let archive = match strategy {
            Strategy::Archive { into } => look(conn, into)?,
            _ => TableSchema::default(),
        };
        let parts = shape.fit::<Sqlite>(table, strategy, &archive);
        Ok(Self::of(&parts.map_err(DriverError::refused)?))
    }

    fn of(parts: &StatementParts) -> Self {
        let these = parts.key.iter().enumerate();
        let these = these.map(|(at, column)| format!("{column} = ?{}", at + 1));
        let acts = parts.statements(&these.collect::<Vec<_>>().join(" AND "));
        let known = parts.key.iter().map(|column| format!(" AND {column} IS NOT NULL"));
        let known = known.collect::<String>();
        let read =
            |columns: &str| parts.fill(&DUE.replace("{key}", columns).replace("{known}", &known));
        let key = parts.key.join(", ");
        Self { due: read(&key), read: read(&format!("{key}, *")), acts, keys: parts.key.len() }
    }

    /// Removes, marks or moves what is due.
    pub(super) fn remove(&self, within: &Transaction<'_>, limit: u32) -> rusqlite::Result<u32> {
        let mut due = within.prepare_cached(&self.due)?;
        let rows = due.query_map([limit], |row| self.key(row))?;
        let keys = rows.collect::<rusqlite::Result<Vec<_>>>()?;
        self.remove_these(within, &keys)
    }

    /// The rows that are due, and their keys.
    pub(super) fn read(&self, within: &Transaction<'_>, limit: u32) -> rusqlite::Result<DueRows> {
        let mut due = within.prepare_cached(&self.read)?;
        let names: Vec<String> = due.column_names().skip(self.keys).map(str::to_owned).collect();
        let mut rows = due.query([limit])?;
        let mut read = DueRows { keys: Vec::new(), records: Vec::new() };
        while let Some(row) = rows.next()? {
            read.keys.push(self.key(row)?);
            let mut record = Map::new();
            for (at, name) in names.iter().enumerate() {
                record.insert(name.clone(), json(row.get_ref(self.keys + at)?));
            }
            read.records.push(Json::Object(record));
        }
        Ok(read)
    }

    /// Removes, marks or moves these rows, except those that an update saved meanwhile.
    pub(super) fn remove_these(
        &self,
        within: &Transaction<'_>,
        keys: &[Vec<Value>],
    ) -> rusqlite::Result<u32> {
        let mut acts = Vec::with_capacity(self.acts.len());
        for act in &self.acts {
            acts.push(within.prepare_cached(act)?);
        }
        let mut gone = 0;
        for key in keys {
            let mut copied = None;
            for act in &mut acts {
                let rows = act.execute(params_from_iter(key))?;
                if copied.replace(rows).is_some_and(|copied| copied != rows) {
                    return Err(rusqlite::Error::StatementChangedRows(rows));
                }
            }
            gone += copied.unwrap_or_default();
        }
        Ok(u32::try_from(gone).unwrap_or(u32::MAX))
    }

    fn key(&self, row: &Row<'_>) -> rusqlite::Result<Vec<Value>> {
        (0..self.keys).map(|at| row.get(at)).collect()
    }
}

/// The columns of a table that can be written, and those of each index that is unique and of all
/// rows, the primary key among them. The primary key may be declared so that it can be NULL; a row
/// without a key is never due.
fn look(conn: &Connection, table: &str) -> rusqlite::Result<TableSchema> {
    // Name and schema.
    let parts = table.split_once('.').map_or((table, "main"), |(schema, name)| (name, schema));
    let mut columns = conn.prepare(COLUMNS)?;
    let columns = columns.query_map(parts, |row| {
        let (name, kind, may_be_null) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(Column { name, kind, is_generated: false, may_be_null })
    })?;
    let columns = columns.collect::<rusqlite::Result<Vec<_>>>()?;
    let mut unique = conn.prepare(UNIQUE)?;
    let unique = unique.query_map(parts, |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(TableSchema { columns, unique: by_index(unique.collect::<rusqlite::Result<Vec<_>>>()?) })
}

/// A value as JSON: bytes as hexadecimal digits.
fn json(value: ValueRef<'_>) -> Json {
    match value {
        ValueRef::Null => Json::Null,
        ValueRef::Integer(number) => Json::from(number),
        ValueRef::Real(number) => Number::from_f64(number).map_or(Json::Null, Json::Number),
        ValueRef::Text(text) => Json::from(String::from_utf8_lossy(text)),
        ValueRef::Blob(bytes) => Json::from(crate::sweep::hexadecimal(bytes)),
    }
}
