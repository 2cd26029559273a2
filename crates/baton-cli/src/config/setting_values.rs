//! The values of the settings and their sources. A later source replaces what an earlier one set.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use baton_core::settings::Profile;
use toml::Value;

use super::ConfigError;
use super::schedule::ScheduleTable;
use super::table::{Entry, TABLE};
use super::task_list::TaskListTable;
use super::ttl::TtlTable;
use super::value::bare;

/// Where a value comes from, the weakest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    BuiltIn,
    Profile(Profile),
    Derived(Vec<&'static str>),
    File(PathBuf),
    Variable(String),
    Flag(String),
}

impl Source {
    /// What was said there, as it was written, for the beginning of a message.
    pub fn shown(&self, key: &str, value: &str) -> String {
        let between = match self {
            Self::Variable(_) => "=",
            Self::Flag(_) => " ",
            _ => " = ",
        };
        format!("{}{between}{value}", self.place(key))
    }

    /// The place itself, for the beginning of a message that repeats the value.
    pub fn place(&self, key: &str) -> String {
        match self {
            Self::BuiltIn | Self::Profile(_) | Self::Derived(_) => key.to_owned(),
            Self::File(file) => format!("{}: {key}", file.display()),
            Self::Variable(name) | Self::Flag(name) => name.clone(),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("default"),
            Self::Profile(profile) => write!(f, "profile {profile}"),
            Self::Derived(from) => write!(f, "derived from {}", from.join(" and ")),
            Self::File(file) => write!(f, "{}", file.display()),
            Self::Variable(name) | Self::Flag(name) => f.write_str(name),
        }
    }
}

/// One value and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingValue {
    pub value: Value,
    pub source: Source,
}

/// All values that were set, by the key of the setting.
#[derive(Clone, Debug, Default)]
pub struct SettingValues {
    pub by_key: BTreeMap<&'static str, SettingValue>,
    pub labels: BTreeMap<String, String>,
    pub ttl: Vec<TtlTable>,
    pub schedules: Vec<ScheduleTable>,
    pub task_lists: Vec<TaskListTable>,
}

impl SettingValues {
    /// The defaults of the command's own settings.
    pub fn defaults() -> Self {
        let default = |entry: &'static Entry| {
            let value = entry.kind.read(entry.default?).expect("a default is a valid value");
            Some((entry.key, SettingValue { value, source: Source::BuiltIn }))
        };
        Self { by_key: TABLE.iter().filter_map(default).collect(), ..Self::default() }
    }

    /// Takes a value in, once it is checked. `shown` is how it was written.
    pub fn set(
        &mut self,
        entry: &Entry,
        read: Result<Value, String>,
        shown: &str,
        source: Source,
    ) -> Result<(), ConfigError> {
        let shown = if entry.may_hold_secret() { "***" } else { shown };
        let shown = source.shown(entry.key, shown);
        let value = read.map_err(|message| ConfigError::Value { shown, message })?;
        self.by_key.insert(entry.key, SettingValue { value, source });
        Ok(())
    }

    /// Takes a label in, written `name=value`.
    pub fn label(&mut self, text: &str, source: &Source) -> Result<(), ConfigError> {
        let refuse = |message: &str| ConfigError::Value {
            shown: source.shown("labels", &format!("{text:?}")),
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

    /// A value as the type that its kind stands for.
    pub fn parsed<T: FromStr>(&self, key: &str) -> Option<T> {
        let parse = |set: &SettingValue| bare(&set.value).parse().ok();
        self.by_key.get(key).map(|set| parse(set).expect("values were checked for their kind"))
    }

    /// A value that is text, and its source.
    pub fn text(&self, key: &str) -> Option<(&str, &Source)> {
        let set = self.by_key.get(key)?;
        set.value.as_str().map(|text| (text, &set.source))
    }
}
