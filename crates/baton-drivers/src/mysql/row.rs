//! Reading a row: what cannot be read as one of ours is an error of the record.

use std::fmt::Display;
use std::str::FromStr;

use baton_core::ids::{BootId, NodeId};
use baton_store::StoreError;
use mysql_async::{Row, Value};
use serde::de::DeserializeOwned;

/// A row, and what it is a part of.
pub(super) struct Columns<'a> {
    row: &'a Row,
    record: &'a str,
}

impl<'a> Columns<'a> {
    /// The columns of this row of this record.
    pub(super) fn new(row: &'a Row, record: &'a str) -> Self {
        Self { row, record }
    }

    /// The record is not one of ours.
    pub(super) fn spoilt(&self, detail: impl Into<String>) -> StoreError {
        StoreError::Corrupt { record: self.record.to_owned(), detail: detail.into() }
    }

    /// The bytes of a column; `None` if it is NULL.
    pub(super) fn maybe_bytes(&self, name: &str) -> Result<Option<&'a [u8]>, StoreError> {
        let columns = self.row.columns_ref();
        let at = columns.iter().position(|column| column.name_ref() == name.as_bytes());
        match at.and_then(|at| self.row.as_ref(at)) {
            Some(Value::NULL) => Ok(None),
            Some(Value::Bytes(bytes)) => Ok(Some(bytes)),
            other => Err(self.spoilt(format!("column {name} is {other:?}"))),
        }
    }

    /// The text of a column; `None` if it is NULL.
    pub(super) fn maybe_text(&self, name: &str) -> Result<Option<&'a str>, StoreError> {
        let Some(bytes) = self.maybe_bytes(name)? else { return Ok(None) };
        let text = std::str::from_utf8(bytes);
        text.map(Some).map_err(|_| self.spoilt(format!("column {name} is not UTF-8")))
    }

    /// A column that is never NULL.
    fn there<T>(&self, name: &str, found: Option<T>) -> Result<T, StoreError> {
        found.ok_or_else(|| self.spoilt(format!("column {name} is NULL")))
    }

    /// The bytes of a column that is never NULL.
    pub(super) fn bytes(&self, name: &str) -> Result<&'a [u8], StoreError> {
        self.there(name, self.maybe_bytes(name)?)
    }

    fn read<T, E: Display>(
        &self,
        name: &str,
        read: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Option<T>, StoreError> {
        let Some(text) = self.maybe_text(name)? else { return Ok(None) };
        let unreadable = |error| self.spoilt(format!("column {name} is {text:?}: {error}"));
        read(text).map(Some).map_err(unreadable)
    }

    /// A number; `None` if it is NULL.
    pub(super) fn maybe_number<T>(&self, name: &str) -> Result<Option<T>, StoreError>
    where
        T: FromStr,
        T::Err: Display,
    {
        self.read(name, str::parse)
    }

    /// A number that is never NULL.
    pub(super) fn number<T>(&self, name: &str) -> Result<T, StoreError>
    where
        T: FromStr,
        T::Err: Display,
    {
        self.there(name, self.maybe_number(name)?)
    }

    /// A truth value; `None` if it is NULL.
    pub(super) fn maybe_flag(&self, name: &str) -> Result<Option<bool>, StoreError> {
        Ok(self.maybe_number::<u64>(name)?.map(|number| number != 0))
    }

    /// A truth value that is never NULL.
    pub(super) fn flag(&self, name: &str) -> Result<bool, StoreError> {
        self.there(name, self.maybe_flag(name)?)
    }

    /// A boot id; `None` if it is NULL.
    pub(super) fn maybe_boot(&self, name: &str) -> Result<Option<BootId>, StoreError> {
        self.read(name, |text| BootId::try_from(text.to_owned()))
    }

    /// A boot id that is never NULL.
    pub(super) fn boot(&self, name: &str) -> Result<BootId, StoreError> {
        self.there(name, self.maybe_boot(name)?)
    }

    /// A node id; `None` if it is NULL.
    pub(super) fn maybe_node(&self, name: &str) -> Result<Option<NodeId>, StoreError> {
        self.read(name, NodeId::new)
    }

    /// A node id that is never NULL.
    pub(super) fn node(&self, name: &str) -> Result<NodeId, StoreError> {
        self.there(name, self.maybe_node(name)?)
    }

    /// Something that has no column of its own; `None` if it is NULL.
    pub(super) fn maybe_json<T: DeserializeOwned>(
        &self,
        name: &str,
    ) -> Result<Option<T>, StoreError> {
        self.read(name, |text| serde_json::from_str(text))
    }

    /// Something that has no column of its own, and is never NULL.
    pub(super) fn json<T: DeserializeOwned>(&self, name: &str) -> Result<T, StoreError> {
        self.there(name, self.maybe_json(name)?)
    }
}

/// The only row of an answer.
pub(super) fn only<'a>(rows: &'a [Row], record: &'a str) -> Result<Columns<'a>, StoreError> {
    let detail = || "the server answered without a row".to_owned();
    let row = rows.first().ok_or_else(|| StoreError::Unknown { detail: detail() })?;
    Ok(Columns::new(row, record))
}
