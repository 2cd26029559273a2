//! What was given, layer by layer: a later layer replaces what an earlier one set.

use std::collections::BTreeMap;

use toml::Value;

use super::error::ConfigError;
use super::source::Source;
use super::table::Entry;
use super::ttl::TtlTable;

/// One value and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Set {
    pub value: Value,
    pub source: Source,
}

/// All values that were set, by the key of the setting.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given {
    pub values: BTreeMap<&'static str, Set>,
    pub labels: BTreeMap<String, String>,
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
        let given = || source.shown(entry.key, shown);
        let value = read.map_err(|message| ConfigError::Value { given: given(), message })?;
        self.values.insert(entry.key, Set { value, source });
        Ok(())
    }

    /// Takes a label in, written `name=value`.
    pub fn label(&mut self, text: &str, source: &Source) -> Result<(), ConfigError> {
        let refuse = |message: &str| ConfigError::Value {
            given: source.shown("labels", &format!("{text:?}")),
            message: message.to_owned(),
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
