//! The statements that sweep one table, made to fit its columns.
//!
//! A column may hold anything here, whatever it was declared as. Only what is of the table's unit
//! is ever due: text that SQLite reads as a moment, or a number.

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Row, Transaction, params_from_iter};
use serde_json::{Map, Number, Value as Json};

use crate::sweep::{Strategy, Table, Unit, by_index, quoted};

const DUE: &str = include_str!("sql/sweep/due.sql");
const UNIQUE: &str = include_str!("sql/sweep/unique.sql");
const ARCHIVE: &str = include_str!("sql/sweep/archive.sql");

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
pub(super) struct Read {
    pub(super) keys: Vec<Vec<Value>>,
    pub(super) records: Vec<Json>,
}

impl Plan {
    /// Looks at the table, and at the one that rows move to. The inner error is for people.
    pub(super) fn make(
        conn: &Connection,
        table: &Table,
        strategy: &Strategy,
    ) -> rusqlite::Result<Result<Self, String>> {
        let columns = columns(conn, &table.name)?;
        let archive = match strategy {
            Strategy::Archive { into } => Some((into.as_str(), self::columns(conn, into)?)),
            _ => None,
        };
        let unique = unique(conn, &table.name)?;
        let nullable = nullable(conn, &table.name)?;
        let nullable: Vec<&str> = nullable.iter().map(String::as_str).collect();
        Ok(Self::fit(table, strategy, &columns, archive).and_then(|plan| {
            table.check_key(&unique, &nullable, str::eq_ignore_ascii_case)?;
            Ok(plan)
        }))
    }

    fn fit(
        table: &Table,
        strategy: &Strategy,
        columns: &[String],
        archive: Option<(&str, Vec<String>)>,
    ) -> Result<Self, String> {
        for column in table.key.iter().map(String::as_str).chain([table.column()]) {
            has(&table.name, columns, column)?;
        }
        let name = quoted(&table.name, '"');
        let (bound, mut exactly) = due(table);
        let these = table.key.iter().enumerate();
        let these = these.map(|(at, column)| format!("\"{column}\" = ?{}", at + 1));
        let these = these.collect::<Vec<_>>().join(" AND ");
        let delete = format!("DELETE FROM {name} WHERE {these} AND {{due}}");
        let acts = match strategy {
            Strategy::Delete | Strategy::Callback(_) => vec![delete],
            Strategy::SoftDelete { column } => {
                has(&table.name, columns, column)?;
                exactly = format!("{exactly} AND \"{column}\" IS NULL");
                let set = format!("\"{column}\" = {}", now(table.unit));
                vec![format!("UPDATE {name} SET {set} WHERE {these} AND {{due}}")]
            }
            Strategy::Archive { .. } => {
                let (into, archive) = archive.expect("it was looked at");
                for column in columns {
                    has(into, &archive, column)?;
                }
                let list = columns.iter().map(|it| format!("\"{it}\"")).collect::<Vec<_>>();
                let copy = ARCHIVE
                    .replace("{into}", &quoted(into, '"'))
                    .replace("{columns}", &list.join(", "))
                    .replace("{table}", &name)
                    .replace("{these}", &these);
                vec![copy, delete]
            }
        };
        let due = format!("{bound} AND {exactly}");
        let acts = acts.iter().map(|act| act.replace("{due}", &due)).collect();
        let known = table.key.iter().map(|it| format!("\"{it}\" IS NOT NULL"));
        let due = [due].into_iter().chain(known).collect::<Vec<_>>().join(" AND ");
        let keys = table.key.iter().map(|it| format!("\"{it}\"")).collect::<Vec<_>>();
        let fill = |key: &str| {
            DUE.replace("{key}", key)
                .replace("{table}", &name)
                .replace("{due}", &due)
                .replace("{order}", &quoted(table.column(), '"'))
        };
        let (due, whole) = (fill(&keys.join(", ")), format!("{}, *", keys.join(", ")));
        Ok(Self { due, read: fill(&whole), acts, keys: keys.len() })
    }

    /// Removes, marks or moves what is due.
    pub(super) fn remove(&self, within: &Transaction<'_>, limit: u32) -> rusqlite::Result<u32> {
        let mut due = within.prepare_cached(&self.due)?;
        let rows = due.query_map([limit], |row| self.key(row))?;
        let keys = rows.collect::<rusqlite::Result<Vec<_>>>()?;
        self.remove_these(within, &keys)
    }

    /// The rows that are due, and their keys.
    pub(super) fn read(&self, within: &Transaction<'_>, limit: u32) -> rusqlite::Result<Read> {
        let mut due = within.prepare_cached(&self.read)?;
        let names: Vec<String> = due.column_names().skip(self.keys).map(str::to_owned).collect();
        let mut rows = due.query([limit])?;
        let mut read = Read { keys: Vec::new(), records: Vec::new() };
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

/// The columns of a table that can be written; none if there is no such table.
fn columns(conn: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT name FROM pragma_table_xinfo(?1, ?2) WHERE hidden = 0 ORDER BY cid";
    let mut statement = conn.prepare(sql)?;
    statement.query_map(parts(table), |row| row.get(0))?.collect()
}

/// The columns of each index that is unique and of all rows, the primary key among them.
fn unique(conn: &Connection, table: &str) -> rusqlite::Result<Vec<Vec<String>>> {
    let mut statement = conn.prepare(UNIQUE)?;
    let rows = statement.query_map(parts(table), |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(by_index(rows.collect::<rusqlite::Result<Vec<_>>>()?))
}

/// The columns that may be NULL, except those of the primary key: it may be declared so, and then
/// a row without a key is never due.
fn nullable(conn: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT name FROM pragma_table_xinfo(?1, ?2) WHERE NOT \"notnull\" AND pk = 0";
    let mut statement = conn.prepare(sql)?;
    statement.query_map(parts(table), |row| row.get(0))?.collect()
}

/// Name and schema.
fn parts(table: &str) -> (&str, &str) {
    table.split_once('.').map_or((table, "main"), |(schema, name)| (name, schema))
}

fn has(table: &str, columns: &[String], column: &str) -> Result<(), String> {
    match columns {
        [] => Err(Table::missing(table)),
        // Names are alike here whatever their case.
        known if known.iter().any(|it| it.eq_ignore_ascii_case(column)) => Ok(()),
        known => Err(Table::lacks(table, column, known)),
    }
}

/// What an index can find, and what decides.
fn due(table: &Table) -> (String, String) {
    let (column, ms) = (format!("\"{}\"", table.column()), table.age_ms());
    let age = format!("-{}.{:03} seconds", ms / 1_000, ms % 1_000);
    let (now, kind) = match table.unit {
        Unit::Timestamp => {
            let bound = format!("{column} <= {}", BOUND.replace("{age}", &age));
            let exactly = format!(
                "typeof({column}) = 'text' AND julianday({column}) <= julianday('now', '{age}')"
            );
            return (bound, exactly);
        }
        Unit::UnixSeconds => (format!("({NOW_MS} - {ms}) / 1000.0"), "('integer', 'real')"),
        Unit::UnixMillis => (format!("{NOW_MS} - {ms}"), "('integer', 'real')"),
    };
    (format!("{column} <= {now}"), format!("typeof({column}) IN {kind}"))
}

/// The database's own time, as a value of the table's unit.
fn now(unit: Unit) -> String {
    match unit {
        Unit::Timestamp => "strftime('%Y-%m-%d %H:%M:%f', 'now')".to_owned(),
        Unit::UnixSeconds => format!("{NOW_MS} / 1000"),
        Unit::UnixMillis => NOW_MS.to_owned(),
    }
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
