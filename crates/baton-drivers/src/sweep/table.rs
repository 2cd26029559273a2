//! A table of the user's own: its name, its key, and the column that says when a row is over.

use std::collections::BTreeMap;
use std::time::Duration;

use super::target::InvalidSweep;

/// The longest name that every database takes.
const NAME_MAX: usize = 63;

/// How a column counts time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// The database's own type for a moment. Without a time zone it is UTC.
    #[default]
    Timestamp,
    /// Whole seconds since 1970, in a column of numbers.
    UnixSeconds,
    /// Milliseconds since 1970, in a column of numbers.
    UnixMillis,
}

/// When a row is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Due {
    /// At the moment in this column. A row without one is never over.
    At(String),
    /// This long after the moment in this column.
    After(String, Duration),
}

/// A table whose rows expire.
///
/// An index on the column that decides keeps a batch short, however large the table is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    pub(crate) name: String,
    pub(crate) key: Vec<String>,
    pub(crate) due: Due,
    pub(crate) unit: Unit,
}

impl Table {
    /// The table of this name, `schema.table` where need be. Its key is `id` and its expiry
    /// `expires_at`, unless other columns are named.
    pub fn new(name: impl Into<String>) -> Self {
        let due = Due::At("expires_at".to_owned());
        Self { name: name.into(), key: vec!["id".to_owned()], due, unit: Unit::default() }
    }

    /// The columns that tell a row from every other: those of the primary key, or of a unique index
    /// that none may be NULL of. Another key is refused.
    #[must_use]
    pub fn key<C: Into<String>>(self, columns: impl IntoIterator<Item = C>) -> Self {
        Self { key: columns.into_iter().map(Into::into).collect(), ..self }
    }

    /// A row is over at the moment in this column.
    #[must_use]
    pub fn expires(self, column: impl Into<String>) -> Self {
        Self { due: Due::At(column.into()), ..self }
    }

    /// A row is over this long after the moment in this column.
    #[must_use]
    pub fn created(self, column: impl Into<String>, age: Duration) -> Self {
        Self { due: Due::After(column.into(), age), ..self }
    }

    /// How the column counts.
    #[must_use]
    pub fn unit(self, unit: Unit) -> Self {
        Self { unit, ..self }
    }

    /// The column that decides.
    pub(crate) fn column(&self) -> &str {
        match &self.due {
            Due::At(column) | Due::After(column, _) => column,
        }
    }

    /// What is added to it, in milliseconds.
    pub(crate) fn age_ms(&self) -> u128 {
        match &self.due {
            Due::At(_) => 0,
            Due::After(_, age) => age.as_millis(),
        }
    }

    /// Every name may stand in a statement, and the age makes sense.
    pub(crate) fn check(&self) -> Result<(), InvalidSweep> {
        check_path("table", &self.name)?;
        if self.key.is_empty() {
            return Err(InvalidSweep::NoKey { table: self.name.clone() });
        }
        for column in self.key.iter().map(String::as_str).chain([self.column()]) {
            check_name("column", column)?;
        }
        match &self.due {
            Due::After(_, age) if age.is_zero() => {
                Err(InvalidSweep::NoAge { target: format!("table {}", self.name) })
            }
            _ => Ok(()),
        }
    }

    /// Does the key tell a row from every other? Some unique index must be on columns of the key
    /// alone, and none of the key's may be NULL: NULL equals nothing.
    pub(crate) fn check_key(
        &self,
        unique: &[Vec<String>],
        nullable: &[&str],
        is_same: fn(&str, &str) -> bool,
    ) -> Result<(), String> {
        let (name, key) = (&self.name, self.key.join(", "));
        let in_key = |column: &str| self.key.iter().any(|known| is_same(known, column));
        if !unique.iter().any(|index| index.iter().all(|column| in_key(column))) {
            return Err(format!(
                "key {key} of table {name} has no unique index, so that rows may share it; name \
                 the columns of its primary key, or make a unique index on {key}"
            ));
        }
        match nullable.iter().find(|column| in_key(column)) {
            Some(column) => Err(format!(
                "column {column} in key {key} of table {name} may be NULL, and such rows cannot \
                 be distinguished; name the columns of its primary key, or make {column} NOT NULL"
            )),
            None => Ok(()),
        }
    }

    /// What to say if the column holds something else than the unit says.
    pub(crate) fn type_mismatch(&self, column: &str, found: &str) -> String {
        let wanted = match self.unit {
            Unit::Timestamp => "a timestamp is needed, or name the unit that it counts in",
            Unit::UnixSeconds => "whole numbers are needed to count seconds since 1970",
            Unit::UnixMillis => "whole numbers are needed to count milliseconds since 1970",
        };
        format!("column {column} of table {} is of type {found}; {wanted}", self.name)
    }
}

/// One name: letters, digits and '_', no digit first.
pub(crate) fn check_name(what: &'static str, name: &str) -> Result<(), InvalidSweep> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let digit_first = name.chars().next().is_none_or(|c| c.is_ascii_digit());
    match digit_first || name.len() > NAME_MAX || !name.chars().all(allowed) {
        true => Err(InvalidSweep::Name { what, name: name.to_owned() }),
        false => Ok(()),
    }
}

/// A name, or two with a dot between them.
pub(crate) fn check_path(what: &'static str, path: &str) -> Result<(), InvalidSweep> {
    let (schema, name) = path.split_once('.').map_or((None, path), |(s, n)| (Some(s), n));
    schema.map_or(Ok(()), |schema| check_name(what, schema))?;
    check_name(what, name).map_err(|_| InvalidSweep::Name { what, name: path.to_owned() })
}

/// Each part of a name between these quotes.
pub(crate) fn quoted(path: &str, quote: char) -> String {
    let parts = path.split('.').map(|part| format!("{quote}{part}{quote}"));
    parts.collect::<Vec<_>>().join(".")
}

/// The columns of each index, from pairs of an index and a column of it. An index with a part that
/// is an expression, which has no column, says nothing of any.
pub(crate) fn by_index(parts: Vec<(String, Option<String>)>) -> Vec<Vec<String>> {
    let mut found = BTreeMap::<String, Option<Vec<String>>>::new();
    for (index, column) in parts {
        let columns = found.entry(index).or_insert_with(|| Some(Vec::new()));
        *columns = columns.take().zip(column).map(|(columns, it)| [columns, vec![it]].concat());
    }
    found.into_values().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_needs_a_unique_index_of_its_own_columns_and_no_null() {
        let parts = [("pk", Some("id")), ("both", Some("tenant")), ("both", Some("name"))];
        let parts = parts.into_iter().chain([("odd", Some("name")), ("odd", None)]);
        let parts = parts.map(|(index, column)| (index.to_owned(), column.map(str::to_owned)));
        let unique = by_index(parts.collect());
        assert_eq!(unique, [vec!["tenant".to_owned(), "name".to_owned()], vec!["id".to_owned()]]);
        let refusal = |key: &[&str], nullable: &[&str]| {
            let table = Table::new("t").key(key.iter().copied());
            table.check_key(&unique, nullable, str::eq_ignore_ascii_case).err().unwrap_or_default()
        };
        assert_eq!(refusal(&["ID"], &["name"]), "");
        assert_eq!(refusal(&["name", "id"], &[]), "", "more than is needed does no harm");
        assert_eq!(refusal(&["name", "tenant"], &[]), "");
        let refused = refusal(&["name"], &[]);
        assert!(refused.starts_with("key name of table t has no unique index, "), "{refused}");
        let refused = refusal(&["tenant", "name"], &["name"]);
        assert!(refused.starts_with("column name in key tenant, name of table t may be NULL"));
    }

    #[test]
    fn only_plain_names_reach_a_statement() {
        let refusal = |table: Table| table.check().map_err(|unfit| unfit.to_string());
        assert_eq!(refusal(Table::new("app.sessions").key(["a", "b"])), Ok(()));
        let cases = [
            (Table::new("a\"; DROP"), "table name \"a\\\"; DROP\" must be"),
            (Table::new("a.b.c"), "table name \"a.b.c\" must be"),
            (Table::new(""), "table name \"\" must be"),
            (Table::new("t").expires("1x"), "column name \"1x\" must be"),
            (Table::new("t").key(["a b"]), "column name \"a b\" must be"),
            (Table::new("t").key([""; 0]), "table t needs a key; name the columns"),
            (Table::new("t").created("c", Duration::ZERO), "the age of table t is 0 ms"),
        ];
        for (table, wanted) in cases {
            let message = refusal(table.clone()).expect_err("must be refused");
            assert!(message.starts_with(wanted), "{table:?} gave {message:?}");
        }
        assert_eq!(quoted("app.sessions", '"'), "\"app\".\"sessions\"");
    }
}
