//! What a script answered, taken apart piece by piece.

use std::str::FromStr;
use std::vec::IntoIter;

use ::redis::{FromRedisValue, Value};
use baton_core::ids::Lineage;
use baton_core::protocol::Outcome;
use baton_store::StoreError;

use super::schema;

/// The pieces of an answer that are still to be read.
pub(super) struct Pieces {
    step: &'static str,
    rest: IntoIter<Value>,
}

impl Pieces {
    /// The pieces after `ok`; anything else that a step can say is an error.
    pub(super) fn of(step: &'static str, answer: Value) -> Result<Self, StoreError> {
        let rest = Vec::<Value>::from_redis_value(answer).unwrap_or_default().into_iter();
        let mut pieces = Self { step, rest };
        let detail = match pieces.text()?.as_str() {
            "ok" => return Ok(pieces),
            "corrupt" => {
                let (record, detail) = (pieces.text()?, pieces.text()?);
                return Err(StoreError::Corrupt { record, detail });
            }
            "partial" => {
                let detail = pieces.text()?;
                let detail = format!("the script {step} ended half-way: {detail}");
                return Err(StoreError::Unknown { detail });
            }
            "newer" => format!(
                "the namespace has schema version {}, and this program knows {}; use a newer \
                 version of it",
                pieces.text()?,
                schema::KNOWN
            ),
            "elsewhere" => format!(
                "lease_key names the lease of namespace {:?}; put {{namespace}} into lease_key",
                pieces.text()?
            ),
            _ => return Err(pieces.strange("what it begins with")),
        };
        Err(StoreError::Refused { detail })
    }

    /// The answer is not one that the script gives.
    pub(super) fn strange(&self, what: &str) -> StoreError {
        let record = format!("the answer of the script {}", self.step);
        StoreError::Corrupt { record, detail: format!("{what} is not as it should be") }
    }

    fn next(&mut self, what: &str) -> Result<Value, StoreError> {
        self.rest.next().ok_or_else(|| self.strange(what))
    }

    /// Bytes, if there are any.
    pub(super) fn maybe_bytes(&mut self) -> Result<Option<Vec<u8>>, StoreError> {
        match self.next("its length")? {
            Value::Nil => Ok(None),
            Value::BulkString(bytes) => Ok(Some(bytes)),
            _ => Err(self.strange("a text of it")),
        }
    }

    /// Text, if there is any.
    pub(super) fn maybe_text(&mut self) -> Result<Option<String>, StoreError> {
        let bytes = self.maybe_bytes()?;
        let text = bytes.map(String::from_utf8).transpose();
        text.map_err(|_| self.strange("a text of it"))
    }

    /// Text.
    pub(super) fn text(&mut self) -> Result<String, StoreError> {
        self.maybe_text()?.ok_or_else(|| self.strange("a text of it"))
    }

    /// A number, or anything else that is written as text.
    pub(super) fn parsed<T: FromStr>(&mut self) -> Result<T, StoreError> {
        self.text()?.parse().map_err(|_| self.strange("a number of it"))
    }

    /// The lineage that the step took place in.
    pub(super) fn lineage(&mut self) -> Result<Lineage, StoreError> {
        self.parsed().map(Lineage)
    }

    /// What a conditional write came to, if there was one.
    pub(super) fn maybe_outcome(&mut self) -> Result<Option<Outcome>, StoreError> {
        match self.maybe_text()?.as_deref() {
            None => Ok(None),
            Some("applied") => Ok(Some(Outcome::Applied)),
            Some("conflict") => Ok(Some(Outcome::Conflict)),
            Some(_) => Err(self.strange("its outcome")),
        }
    }

    /// A list of texts.
    pub(super) fn list(&mut self) -> Result<Vec<String>, StoreError> {
        let list = Vec::<String>::from_redis_value(self.next("its length")?);
        list.map_err(|_| self.strange("a list of it"))
    }

    /// A hash: names and values by turns.
    pub(super) fn pairs(&mut self) -> Result<Vec<(String, String)>, StoreError> {
        let flat = self.list()?;
        let pairs = flat.chunks_exact(2);
        Ok(pairs.map(|pair| (pair[0].clone(), pair[1].clone())).collect())
    }
}
