//! The statements that sweep a table, as far as they are the same in every SQL database: which
//! columns there must be, when a row is over, and what happens to it.

use super::strategy::Strategy;
use super::table::{Table, Unit, quoted};

/// Copies rows to where they are kept; they are deleted after that.
const COPY: &str =
    "INSERT INTO {into} ({columns}) SELECT {columns} FROM {table} WHERE {these} AND {due}";

/// A column as the database has it.
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) is_generated: bool,
    pub(crate) may_be_null: bool,
}

/// A table as the database has it. Without columns there is no such table.
#[derive(Default)]
pub(crate) struct TableSchema {
    pub(crate) columns: Vec<Column>,
    /// The columns of each unique index.
    pub(crate) unique: Vec<Vec<String>>,
}

/// What differs from one database to another.
pub(crate) trait Dialect {
    /// What stands around a name.
    const QUOTE: char;

    /// Is it the same column?
    const IS_SAME: fn(&str, &str) -> bool;

    /// The server's time, less this many milliseconds, as a value of a column of this kind; `None`
    /// if the column is of another kind than the unit. Rounded down: never early.
    fn moment(unit: Unit, kind: &str, ms: u128) -> Option<String>;

    /// When the table's column, which is of this kind, says that a row is over; `None` as above.
    fn due(table: &Table, kind: &str) -> Option<String> {
        let bound = Self::moment(table.unit, kind, table.age_ms())?;
        Some(format!("{} <= {bound}", quoted(table.column(), Self::QUOTE)))
    }
}

/// The parts of the statements, made to fit the table. Names are quoted.
pub(crate) struct StatementParts {
    pub(crate) table: String,
    pub(crate) key: Vec<String>,
    /// The column that decides.
    pub(crate) order: String,
    /// Whether a row is over and nothing was done to it yet.
    pub(crate) due: String,
    pub(crate) action: RowAction,
}

/// What happens to a row that is over.
pub(crate) enum RowAction {
    Delete,
    /// The column is set to this time.
    Mark {
        column: String,
        now: String,
    },
    /// It is moved there, with these columns.
    Move {
        into: String,
        columns: String,
    },
    /// It is handed over, then deleted.
    HandOver,
}

impl TableSchema {
    /// The parts for this table, or what is wrong with it, for people. `archive` is the table that
    /// rows are moved to, if they are.
    pub(crate) fn fit<D: Dialect>(
        &self,
        table: &Table,
        strategy: &Strategy,
        archive: &Self,
    ) -> Result<StatementParts, String> {
        let quote = |name: &str| quoted(name, D::QUOTE);
        for column in &table.key {
            self.column::<D>(&table.name, column)?;
        }
        let order = table.column();
        let kind = &self.column::<D>(&table.name, order)?.kind;
        let mut due = D::due(table, kind).ok_or_else(|| table.type_mismatch(order, kind))?;
        let action = match strategy {
            Strategy::Delete => RowAction::Delete,
            Strategy::Callback(_) => RowAction::HandOver,
            Strategy::SoftDelete { column } => {
                let kind = &self.column::<D>(&table.name, column)?.kind;
                let now = D::moment(table.unit, kind, 0)
                    .ok_or_else(|| table.type_mismatch(column, kind))?;
                due = format!("{due} AND {} IS NULL", quote(column));
                RowAction::Mark { column: quote(column), now }
            }
            Strategy::Archive { into } => {
                let mut columns = Vec::new();
                for column in self.columns.iter().filter(|column| !column.is_generated) {
                    archive.column::<D>(into, &column.name)?;
                    columns.push(quote(&column.name));
                }
                RowAction::Move { into: quote(into), columns: columns.join(", ") }
            }
        };
        let nullable = self.columns.iter().filter(|column| column.may_be_null);
        let nullable: Vec<&str> = nullable.map(|column| column.name.as_str()).collect();
        table.check_key(&self.unique, &nullable, D::IS_SAME)?;
        let key = table.key.iter().map(|column| quote(column)).collect();
        Ok(StatementParts { table: quote(&table.name), key, order: quote(order), due, action })
    }

    fn column<D: Dialect>(&self, table: &str, name: &str) -> Result<&Column, String> {
        if self.columns.is_empty() {
            return Err(format!(
                "there is no table {table}, or this user may not see it; check the name"
            ));
        }
        let found = self.columns.iter().find(|column| D::IS_SAME(&column.name, name));
        found.ok_or_else(|| {
            let has: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
            format!("table {table} has no column {name}; it has {}", has.join(", "))
        })
    }
}

impl StatementParts {
    /// Fills the parts into a statement of a dialect's own.
    pub(crate) fn fill(&self, sql: &str) -> String {
        let (mut soft, mut now, mut into, mut columns) = ("", "", "", "");
        match &self.action {
            RowAction::Mark { column, now: time } => (soft, now) = (column, time),
            RowAction::Move { into: there, columns: list } => (into, columns) = (there, list),
            RowAction::Delete | RowAction::HandOver => {}
        }
        sql.replace("{table}", &self.table)
            .replace("{due}", &self.due)
            .replace("{order}", &self.order)
            .replace("{soft}", soft)
            .replace("{now}", now)
            .replace("{into}", into)
            .replace("{columns}", columns)
    }

    /// What is done to `these` rows if they are over, one statement after the other. All of them
    /// deal with as many rows, or the server's clock went back.
    pub(crate) fn statements(&self, these: &str) -> Vec<String> {
        const DELETE: &str = "DELETE FROM {table} WHERE {these} AND {due}";
        const MARK: &str = "UPDATE {table} SET {soft} = {now} WHERE {these} AND {due}";
        let statements: &[&str] = match &self.action {
            RowAction::Delete | RowAction::HandOver => &[DELETE],
            RowAction::Mark { .. } => &[MARK],
            RowAction::Move { .. } => &[COPY, DELETE],
        };
        statements.iter().map(|sql| self.fill(sql).replace("{these}", these)).collect()
    }
}
