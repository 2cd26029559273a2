//! Tables that the file may have several of, such as `[[ttl]]`: their keys and values, and messages
//! that name file, table and key.

use std::path::Path;
use std::time::Duration;

use toml::Value;

use super::setting_values::Source;
use super::value::{bare, key_shown};
use super::{ConfigError, nearest};

/// One table that is being read.
pub struct TableReader<'a> {
    file: &'a Path,
    /// The name in the brackets.
    kind: &'static str,
    /// Which of the tables of that name, from 1.
    number: usize,
    table: &'a toml::Table,
    /// The name of what the table describes, with its kind, once it is known.
    subject: Option<String>,
}

/// The tables that a file has under this name.
pub fn tables<'a>(
    file: &'a Path,
    kind: &'static str,
    value: &'a Value,
) -> Result<Vec<TableReader<'a>>, ConfigError> {
    let refuse = || ConfigError::Value {
        shown: format!("{}: {kind}", file.display()),
        message: format!("must be tables; write each under a line [[{kind}]]"),
    };
    let tables = value.as_array().ok_or_else(refuse)?.iter().enumerate();
    let reader = |(at, table): (usize, &'a Value)| {
        let table = table.as_table().ok_or_else(refuse)?;
        Ok(TableReader { file, kind, number: at + 1, table, subject: None })
    };
    tables.map(reader).collect()
}

impl<'a> TableReader<'a> {
    /// Messages name what the table describes from now on.
    pub fn describes(&mut self, subject: String) {
        self.subject = Some(subject);
    }

    /// File and table, for the beginning of a message.
    pub fn place(&self) -> String {
        format!("{}: [[{}]] {}", self.file.display(), self.kind, self.number)
    }

    pub fn source(&self) -> Source {
        Source::File(self.file.to_owned())
    }

    /// The table as it stands in the file.
    pub fn table(&self) -> &'a toml::Table {
        self.table
    }

    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Refuses a key that is none of these.
    pub fn check_keys(&self, known: &[&str]) -> Result<(), ConfigError> {
        let is_unknown = |key: &&String| !known.contains(&key.as_str());
        let Some(key) = self.table.keys().find(is_unknown) else { return Ok(()) };
        let remedy = match nearest(key, known.iter().copied()) {
            Some(name) => format!("did you mean {name}?"),
            None => format!("known are {}", known.join(", ")),
        };
        let key = format!("{} in [[{}]] {}", key_shown(key), self.kind, self.number);
        Err(ConfigError::Unknown { file: self.file.to_owned(), key, remedy })
    }

    /// The message goes on from the key and its value. A store's URL is not shown.
    pub fn refuse(&self, key: &str, message: impl Into<String>) -> ConfigError {
        let place = match &self.subject {
            Some(subject) => format!("{}: {subject}", self.place()),
            None => self.place(),
        };
        let shown = match self.table.get(key) {
            Some(_) if key == "store" => format!("{place}: store = ***"),
            Some(value) => format!("{place}: {key} = {value}"),
            None => format!("{place}: {key}"),
        };
        ConfigError::Value { shown, message: message.into() }
    }

    /// The value of a key, if it is there.
    pub fn parsed<T>(
        &self,
        key: &str,
        read: impl Fn(&Value) -> Option<T>,
        message: &str,
    ) -> Result<Option<T>, ConfigError> {
        let Some(value) = self.table.get(key) else { return Ok(None) };
        read(value).map(Some).ok_or_else(|| self.refuse(key, message))
    }

    pub fn text(&self, key: &str) -> Result<Option<String>, ConfigError> {
        self.parsed(key, text, "must be text, in quotes")
    }

    pub fn span(&self, key: &str) -> Result<Option<Duration>, ConfigError> {
        let read = |value: &Value| humantime::parse_duration(&bare(value)).ok();
        self.parsed(key, read, "is not a length of time; write \"500ms\", \"5s\" or \"30d\"")
    }

    /// A whole number from 1 up.
    pub fn count(&self, key: &str) -> Result<Option<u32>, ConfigError> {
        let read = |value: &Value| u32::try_from(value.as_integer()?).ok().filter(|it| *it > 0);
        self.parsed(key, read, "is not a whole number from 1 to 4294967295")
    }

    /// A whole number from 0 up.
    pub fn count_or_zero(&self, key: &str) -> Result<Option<u32>, ConfigError> {
        let read = |value: &Value| u32::try_from(value.as_integer()?).ok();
        self.parsed(key, read, "is not a whole number from 0 to 4294967295")
    }

    /// One of several names, as what it stands for.
    pub fn choice<T: Copy>(
        &self,
        key: &str,
        choices: &[(&str, T)],
    ) -> Result<Option<T>, ConfigError> {
        let Some(given) = self.text(key)? else { return Ok(None) };
        let found = choices.iter().find(|(name, _)| *name == given).map(|(_, meant)| *meant);
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let unknown = || format!("is unknown; choose one of {}", names.join(", "));
        found.map(Some).ok_or_else(|| self.refuse(key, unknown()))
    }
}

/// The text of a value that is text.
pub fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}
