//! The file: TOML, with the settings' own names.

use std::path::Path;

use toml::{Table, Value};

use super::setting_values::{SettingValues, Source};
use super::table::{TABLE, entry};
use super::value::{bare, key_shown, leaves};
use super::{ConfigError, nearest, schedule, task_list, ttl};

/// Reads the values of a file.
pub fn read(file: &Path, values: &mut SettingValues) -> Result<(), ConfigError> {
    let text = std::fs::read_to_string(file).map_err(|problem| {
        // A store's URL, given as a file.
        let url = file.to_str().filter(|path| path.contains([':', '@']));
        let file = url.map_or_else(|| file.to_owned(), |url| baton_drivers::shown(url).into());
        ConfigError::Unreadable { file, problem }
    })?;
    parse(file, &text, values)
}

fn parse(file: &Path, text: &str, values: &mut SettingValues) -> Result<(), ConfigError> {
    let mut table: Table = toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        ConfigError::NoToml {
            file: file.to_owned(),
            line: 1 + before.matches('\n').count(),
            message: error.message().split_whitespace().collect::<Vec<_>>().join(" "),
        }
    })?;
    if let Some(tables) = table.remove("ttl") {
        values.ttl = ttl::read(file, &tables)?;
    }
    if let Some(tables) = table.remove("schedule") {
        values.schedules = schedule::read(file, &tables)?;
    }
    if let Some(tables) = table.remove("task_list") {
        values.task_lists = task_list::read(file, &tables)?;
    }
    let source = Source::File(file.to_owned());
    for (key, value) in leaves(&table) {
        if let Some(label) = key.strip_prefix("labels.") {
            values.labels.insert(label.to_owned(), bare(&value));
            continue;
        }
        let Some(entry) = entry(&key) else {
            return Err(unknown(file, &key));
        };
        let read = match &value {
            Value::Array(_) | Value::Table(_) => Err("must be a single value".to_owned()),
            single => entry.kind.read(&bare(single)),
        };
        values.set(entry, read, &value.to_string(), source.clone())?;
    }
    Ok(())
}

fn unknown(file: &Path, key: &str) -> ConfigError {
    let known = TABLE.iter().map(|entry| entry.key);
    let remedy = match nearest(key, known) {
        Some(name) => format!("did you mean {name}?"),
        None => "`baton settings` lists all names".to_owned(),
    };
    ConfigError::Unknown { file: file.to_owned(), key: key_shown(key), remedy }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<SettingValues, String> {
        let mut values = SettingValues::default();
        let outcome = parse(Path::new("baton.toml"), text, &mut values);
        outcome.map(|()| values).map_err(|problem| problem.to_string())
    }

    #[test]
    fn values_tables_and_labels_are_taken_in() {
        let text = "store = 'sqlite://a.db'\nlease_timeout = '4s'\npriority = 3\n\
                    [circuit_breaker]\nfailure_threshold = 2\n[lifeline]\nenabled = false\n\
                    [labels]\nzone = 'a'";
        let values = parsed(text).expect("a sound file");
        assert_eq!(values.text("lease_timeout").expect("given").0, "4s");
        assert_eq!(values.by_key["priority"].value, Value::Integer(3));
        assert_eq!(values.by_key["circuit_breaker.failure_threshold"].value, Value::Integer(2));
        assert_eq!(values.by_key["lifeline.enabled"].value, Value::Boolean(false));
        assert_eq!(values.labels["zone"], "a");
    }

    #[test]
    fn what_cannot_be_used_is_refused_by_name_on_one_line() {
        let cases = [
            ("leese_timeout = '5s'", "unknown setting leese_timeout; did you mean lease_timeout?"),
            ("colour = 'red'", "unknown setting colour; `baton settings` lists all names"),
            ("[contention]\ntreshold = 1", "did you mean contention.threshold?"),
            ("lease_timeout = 5", "lease_timeout = 5 is not a length of time"),
            ("lease_timeout = '5 parsecs'", "lease_timeout = \"5 parsecs\" is not a length"),
            ("policy = ['a']", "policy = [\"a\"] must be a single value"),
            ("store = ['hush']", "store = *** must be a single value"),
            ("'postgres://me:hush@db' = 1", "unknown setting (not shown); "),
        ];
        for (text, expected) in cases {
            let message = parsed(text).expect_err(text);
            assert!(message.starts_with("baton.toml: "), "{message}");
            assert!(message.contains(expected), "{message}");
            assert_eq!(message.lines().count(), 1, "{message}");
            assert!(!message.contains("hush"), "{message}");
        }
        let message = parsed("store = 'a'\nlease_timeout = ").expect_err("no TOML");
        assert!(message.starts_with("baton.toml:2: "), "{message}");
        let urls = ["me:hush@db", "'me:hush@db", "\"me:hush\\@db\"", "'a' hush", "{ hush"];
        for url in urls {
            let message = parsed(&format!("store = {url}")).expect_err(url);
            assert!(!message.contains("hush"), "{message}");
        }
    }
}
