//! A what-if file: a profile, what is laid over it, and the environment.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use baton_core::settings::{Profile, Settings, UnknownProfile, show_span};
use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::Environment;

/// What a user wants to know about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Config {
    pub profile: Profile,
    pub settings: Settings,
    pub environment: Environment,
}

/// A file that cannot be used. One line each, with the file's name.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", file.display())]
pub struct ConfigError {
    file: PathBuf,
    problem: Problem,
}

#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error("{0}")]
    Unreadable(std::io::Error),
    #[error("line {line}: {message}")]
    NoToml { line: usize, message: String },
    #[error("{0}")]
    Profile(#[from] UnknownProfile),
    #[error("{0} must be {1}")]
    Kind(&'static str, &'static str),
    #[error("{0} is unknown; `baton-sim what-if --help` lists all names")]
    UnknownKey(String),
    #[error("{key}: {message}")]
    BadValue { key: String, message: String },
    #[error("{0}")]
    InvalidSettings(String),
}

impl Config {
    /// Reads a file.
    pub fn read(file: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(file).map_err(Problem::Unreadable);
        let config = text.and_then(|text| Self::parse(&text));
        config.map_err(|problem| ConfigError { file: file.to_owned(), problem })
    }

    /// How many nodes run with what, in a line.
    pub fn heading(&self, nodes: usize) -> String {
        let settings = &self.settings;
        format!(
            "{nodes} nodes, profile {}: lease {}, beat {} ± {}",
            self.profile,
            show_span(settings.lease_timeout),
            show_span(settings.heartbeat_interval),
            show_span(settings.heartbeat_jitter),
        )
    }

    fn parse(text: &str) -> Result<Self, Problem> {
        let mut given: Table = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = 1 + before.matches('\n').count();
            Problem::NoToml { line, message: one_line(error.message()) }
        })?;
        let profile = match given.remove("profile") {
            None => Profile::default(),
            Some(Value::String(name)) => name.parse()?,
            Some(_) => return Err(Problem::Kind("profile", "a name")),
        };
        let environment = match given.remove("environment") {
            None => Environment::default(),
            Some(Value::Table(table)) => overlay(&Environment::default(), table, "environment.")?,
            Some(_) => return Err(Problem::Kind("environment", "a table")),
        };
        let names: BTreeSet<String> = given.keys().cloned().collect();
        let settings = overlay(&profile.settings(), given, "")?;
        let derived = settings.derive(&profile.settings(), |name| names.contains(name));
        let derived = derived.map_err(|problem| Problem::InvalidSettings(problem.to_string()))?;
        let settings = derived.settings;
        let config = Self { profile, settings, environment };
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<(), Problem> {
        let refuse = |problem: String| Err(Problem::InvalidSettings(problem));
        if let Err(problem) = self.environment.check(&self.settings) {
            return refuse(format!("environment: {problem}"));
        }
        if !self.settings.enabled {
            return refuse("enabled (false) leaves nothing to try: no election".to_owned());
        }
        if !self.settings.eligible {
            return refuse("eligible (false) leaves nothing to try: no node may lead".to_owned());
        }
        Ok(())
    }
}

/// What a parser said, on one line.
fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Lays a user's values over a base, one by one, so that a bad one is refused by its name.
fn overlay<T>(base: &T, given: Table, within: &str) -> Result<T, Problem>
where
    T: Serialize + DeserializeOwned + Clone,
{
    let mut table = Table::try_from(base).expect("plain data has a TOML form");
    let mut result = base.clone();
    for (key, value) in given {
        let name = format!("{within}{key}");
        lay(&mut table, &key, value, &name)?;
        result = Value::Table(table.clone()).try_into().map_err(|error: toml::de::Error| {
            Problem::BadValue { key: name, message: one_line(error.message()) }
        })?;
    }
    Ok(result)
}

fn lay(table: &mut Table, key: &str, value: Value, name: &str) -> Result<(), Problem> {
    let Some(place) = table.get_mut(key) else {
        return Err(Problem::UnknownKey(name.to_owned()));
    };
    match (place, value) {
        (Value::Table(below), Value::Table(given)) => {
            for (key, value) in given {
                lay(below, &key, value, &format!("{name}.{key}"))?;
            }
        }
        (place, value) => *place = value,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn refused(text: &str) -> String {
        Config::parse(text).expect_err(text).to_string()
    }

    #[test]
    fn values_are_laid_over_the_profile_also_nested_ones() {
        let text = "profile = 'fast'\nlease_timeout = '4s'\n[circuit_breaker]\n\
                    failure_threshold = 2\n[environment]\nlifeline = false\ndeploys_per_day = 3";
        let config = Config::parse(text).expect("a sound file");
        assert_eq!(config.profile, Profile::Fast);
        assert_eq!(config.settings.lease_timeout, Duration::from_secs(4));
        assert_eq!(config.settings.heartbeat_interval, Duration::from_millis(1_333), "it follows");
        assert_eq!(config.settings.circuit_breaker.failure_threshold, 2);
        assert_eq!(config.settings.circuit_breaker.half_open_max_attempts, 1);
        assert!(!config.environment.lifeline);
        assert!((config.environment.deploys_per_day - 3.0).abs() < f64::EPSILON);
    }

    #[test]
    fn what_cannot_be_used_is_refused_by_name_on_one_line() {
        let cases = [
            ("lease_timeout = ", "line 1: "),
            ("\nleese_timeout = '5s'", "leese_timeout is unknown"),
            ("[circuit_breaker]\nthreshold = 1", "circuit_breaker.threshold is unknown"),
            ("[environment]\nstore = 'x'", "environment.store is unknown"),
            ("[environment]\nstore_clock = 'x'", "environment.store_clock: unknown variant `x`"),
            ("lease_timeout = 5", "lease_timeout: invalid type: integer `5`, expected a length"),
            ("lease_timeout = '5 parsecs'", "lease_timeout: \"5 parsecs\" is not a length"),
            ("profile = 'quick'", "profile \"quick\" is unknown; choose one of default"),
            ("profile = 3", "profile must be a name"),
            (
                "lease_timeout = '8s'\nheartbeat_interval = '5s'",
                "lease_timeout (8s) must be at least 10s because of heartbeat_interval (5s)",
            ),
            ("enabled = false", "enabled (false) leaves nothing to try"),
            ("[environment]\nlatency = '1h'", "environment: latency (1h) must be at most"),
        ];
        for (text, expected) in cases {
            let message = refused(text);
            assert!(message.starts_with(expected), "{message}");
            assert_eq!(message.lines().count(), 1, "{message}");
        }
    }
}
