//! How values stand in columns. A value that is not one of baton's is an error of the row.

use std::error::Error;
use std::fmt::Display;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::Serialize;
use serde::de::DeserializeOwned;

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

/// What is kept as its own text: a node id, the name of a namespace or of a counter, and a boot id
/// as 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Text<T>(pub(super) T);

impl<T: Display> ToSql for Text<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.0.to_string()))
    }
}

impl<T: TryFrom<String, Error: Error + Send + Sync + 'static>> FromSql for Text<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        T::try_from(value.as_str()?.to_owned()).map(Self).map_err(foreign)
    }
}

/// Anything that has no column of its own.
pub(super) struct Json<T>(pub(super) T);

impl<T: Serialize> ToSql for Json<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let text = serde_json::to_string(&self.0);
        let unfit = |error| rusqlite::Error::ToSqlConversionFailure(Box::new(error));
        text.map(ToSqlOutput::from).map_err(unfit)
    }
}

impl<T: DeserializeOwned> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?).map(Self).map_err(foreign)
    }
}

fn foreign(error: impl Error + Send + Sync + 'static) -> FromSqlError {
    FromSqlError::Other(Box::new(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_core::ids::BootId;
    use rusqlite::Connection;

    #[test]
    fn every_bit_comes_back_and_nonsense_is_an_error() {
        let conn = Connection::open_in_memory().expect("memory is enough");
        for number in [0, 1, u64::MAX / 2, u64::MAX / 2 + 1, u64::MAX] {
            let back = conn.query_row("SELECT ?1", [Bits(number)], |row| row.get::<_, Bits>(0));
            assert_eq!(back.expect("it is a number").0, number);
        }
        let boot = BootId(u128::MAX - 5);
        let back = conn.query_row("SELECT ?1", [Text(boot)], |row| row.get::<_, Text<BootId>>(0));
        assert_eq!(back.expect("it is a boot id").0, boot);
        let spoilt = conn.query_row("SELECT 'garbage'", [], |row| row.get::<_, Text<BootId>>(0));
        assert!(spoilt.is_err(), "{spoilt:?}");
    }
}
