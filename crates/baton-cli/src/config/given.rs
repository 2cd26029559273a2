//! What was given, layer by layer: a later layer replaces what an earlier one said.

use std::collections::BTreeMap;

use toml::Value;

use super::error::ConfigError;
use super::source::Source;
use super::table::Entry;
use super::ttl::TtlTable;

/// One value and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Set {
    /// The value, checked for its kind.
    pub value: Value,
    /// Where it comes from.
    pub source: Source,
}

/// Everything that somebody set, by the entry's key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given {
    /// The values.
    pub values: BTreeMap<&'static str, Set>,
    /// The labels.
    pub labels: BTreeMap<String, String>,
    /// What expires.
    pub ttl: Vec<TtlTable>,
}

impl Given {
    /// Takes a value in, once it is checked. `shown` is how it was written.
    pub fn set(
        &mut self,
        entry: &Entry,
        read: Result<Value, String>,
        shown: &str,
        source: Source,
    ) -> Result<(), ConfigError> {
        let shown = if entry.may_hold_secret() { "***" } else { shown };
        let said = || source.said(entry.key, shown);
        let value = read.map_err(|complaint| ConfigError::Value { said: said(), complaint })?;
        self.values.insert(entry.key, Set { value, source });
        Ok(())
    }

    /// Takes a label in, written `name=value`.
    pub fn label(&mut self, text: &str, source: &Source) -> Result<(), ConfigError> {
        let refuse = |complaint: &str| ConfigError::Value {
            said: source.said("labels", &format!("{text:?}")),
            complaint: complaint.to_owned(),
        };
        let (name, value) =
            text.split_once('=').ok_or_else(|| refuse("has no '='; write zone=a"))?;
        if name.is_empty() {
            return Err(refuse("has no name before the '='; write zone=a"));
        }
        self.labels.insert(name.to_owned(), value.to_owned());
        Ok(())
    }

    /// What was given as text, and where.
    pub fn text(&self, key: &str) -> Option<(&str, &Source)> {
        let set = self.values.get(key)?;
        set.value.as_str().map(|text| (text, &set.source))
    }
}
