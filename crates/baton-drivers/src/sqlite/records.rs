//! How values stand in columns, and rows as records are read from them.

use std::rc::Rc;

use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Params, Row, Statement};
use serde::Serialize;

use crate::driver::Fields;

/// A number of 64 bits, kept bit by bit in a signed column. Compared in Rust, never in SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bits(pub(super) u64);

impl ToSql for Bits {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.0.cast_signed()))
    }
}

impl FromSql for Bits {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Ok(Self(value.as_i64()?.cast_unsigned()))
    }
}

/// What has no column of its own.
pub(super) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("it is plain data")
}

/// A row that was read. A number is the text of the 64 bits that [`Bits`] has.
pub(super) struct ReadRow {
    names: Rc<[String]>,
    values: Vec<Option<Vec<u8>>>,
}

impl ReadRow {
    /// Every row that the statement finds.
    pub(super) fn all(
        statement: &mut Statement<'_>,
        values: impl Params,
    ) -> rusqlite::Result<Vec<Self>> {
        let names: Rc<[String]> = statement.column_names().map(str::to_owned).collect();
        let read = |row: &Row<'_>| {
            let value = |at| Ok(bytes(row.get_ref(at)?));
            let values = (0..names.len()).map(value).collect::<rusqlite::Result<_>>()?;
            Ok(Self { names: Rc::clone(&names), values })
        };
        statement.query_map(values, read)?.collect()
    }
}

fn bytes(value: ValueRef<'_>) -> Option<Vec<u8>> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.cast_unsigned().to_string().into_bytes()),
        ValueRef::Real(number) => Some(number.to_string().into_bytes()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes.to_owned()),
    }
}

impl Fields for ReadRow {
    fn bytes(&self, name: &str) -> Result<Option<&[u8]>, String> {
        let at = self.names.iter().position(|known| known == name);
        at.map(|at| self.values[at].as_deref()).ok_or_else(|| "missing".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::{Record, boot_id};
    use baton_core::ids::BootId;
    use rusqlite::Connection;

    #[test]
    fn every_bit_comes_back_and_nonsense_is_an_error() {
        let conn = Connection::open_in_memory().expect("memory is enough");
        let mut echo = conn.prepare("SELECT ?1 AS it").expect("it is sound");
        for number in [0, 1, u64::MAX / 2, u64::MAX / 2 + 1, u64::MAX] {
            let back = echo.query_row([Bits(number)], |row| row.get::<_, Bits>(0));
            assert_eq!(back.expect("it is a number").0, number);
            let rows = ReadRow::all(&mut echo, [Bits(number)]).expect("it is a row");
            let read: u64 = Record::new(&rows[0], "a row").number("it").expect("it is a number");
            assert_eq!(read, number);
        }
        let boot = BootId(u128::MAX - 5);
        let rows = ReadRow::all(&mut echo, [boot.to_string()]).expect("it is a row");
        let back = Record::new(&rows[0], "a row").id("it", boot_id);
        assert_eq!(back.expect("it is a boot id"), boot);
        let rows = ReadRow::all(&mut echo, ["garbage"]).expect("it is a row");
        let record = Record::new(&rows[0], "a row");
        assert!(record.id("it", boot_id).is_err() && record.maybe_text("other").is_err());
    }
}
