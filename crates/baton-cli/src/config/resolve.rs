//! The configuration in effect: profile, file, environment and flags laid over one another.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::net::SocketAddr;
use std::path::PathBuf;

use baton::LifelineConfig;
use baton::plugins::ttl::OwnRecords;
use baton_core::ids::{Namespace, NodeId};
use baton_core::settings::{Derived, InvalidSettings, Profile, Settings};
use toml::{Table, Value};

use super::environment::Environment;
use super::flags::Flags;
use super::schedule::ScheduleTable;
use super::setting_values::{SettingValues, Source};
use super::store_url::StoreUrl;
use super::table::entry;
use super::task_list::TaskListTable;
use super::ttl::TtlTable;
use super::value::{hosts, leaves, put};
use super::{ConfigError, file};
use crate::output::log::Format;

/// The configuration in effect.
#[derive(Clone, Debug)]
pub struct Config {
    pub store: StoreUrl,
    pub namespace: Namespace,
    pub id: Option<NodeId>,
    pub profile: Profile,
    /// The settings; as they were given, if they contradict each other.
    pub settings: Settings,
    /// Given settings that cannot hold together, if there are any.
    pub contradiction: Option<InvalidSettings>,
    pub lifeline: LifelineConfig,
    pub metrics: Option<SocketAddr>,
    /// By which names they may be asked for, beside addresses and `localhost`.
    pub metrics_hosts: Vec<String>,
    /// The collector of traces and metrics, if there is one.
    pub otlp: Option<String>,
    pub log_format: Format,
    pub labels: BTreeMap<String, String>,
    /// Which of baton's own records `baton serve` removes.
    pub own_records: OwnRecords,
    pub ttl: Vec<TtlTable>,
    /// What `baton serve` runs, and when. Each was checked.
    pub schedules: Vec<ScheduleTable>,
    /// The task lists that `baton serve` declares. They were checked together.
    pub task_lists: Vec<TaskListTable>,
    values: SettingValues,
    causes: BTreeMap<&'static str, Vec<&'static str>>,
}

impl Config {
    /// Lays file, environment and flags over a profile. Settings may still contradict each other.
    pub fn load(flags: &Flags, environment: &Environment) -> Result<Self, ConfigError> {
        let mut values = SettingValues::defaults();
        let named = environment.get("BATON_CONFIG").map(PathBuf::from);
        if let Some(path) = flags.config.clone().or(named) {
            file::read(&path, &mut values)?;
        }
        environment.read(&mut values)?;
        flags.read(&mut values)?;
        Self::of(values, environment)
    }

    fn of(values: SettingValues, environment: &Environment) -> Result<Self, ConfigError> {
        let profile: Profile = named(&values, "profile", str::parse)?.expect("it has a default");
        let store = match values.text("store") {
            Some((url, _)) => StoreUrl::new(url),
            None => StoreUrl::default_for(environment)?,
        };
        let namespace = named(&values, "namespace", Namespace::new)?.expect("it has a default");
        let settings = settings(profile, &values);
        let derived = settings.derive(&profile.settings(), |key| values.by_key.contains_key(key));
        let (Derived { settings, causes }, contradiction) = match derived {
            Ok(derived) => (derived, None),
            Err(problem) => (Derived { settings, causes: BTreeMap::new() }, Some(problem)),
        };
        let lifeline = LifelineConfig::default().tune(|it| {
            it.enabled = values.parsed("lifeline.enabled").expect("it has a default");
            it.bind = values.parsed("lifeline.bind").expect("it has a default");
            it.advertise = values.parsed("lifeline.advertise");
            it.connections_max =
                values.parsed("lifeline.connections_max").expect("it has a default");
        });
        let after: humantime::Duration =
            values.parsed("own_records.forget_dead_after").expect("it has a default");
        let own_records = OwnRecords {
            forget_dead_after: *after,
            keep_terms: values.parsed("own_records.keep_terms").expect("it has a default"),
        };
        let metrics_hosts = values.text("metrics_hosts").into_iter();
        let metrics_hosts = metrics_hosts.flat_map(|(text, _)| hosts(text)).map(str::to_owned);
        let log_format = values.text("log_format").and_then(|(name, _)| Format::named(name));
        Ok(Self {
            store,
            namespace,
            id: named(&values, "id", NodeId::new)?,
            profile,
            settings,
            contradiction,
            lifeline,
            metrics: values.parsed("metrics"),
            metrics_hosts: metrics_hosts.collect(),
            otlp: values.parsed("otlp"),
            log_format: log_format.unwrap_or_default(),
            labels: values.labels.clone(),
            own_records,
            ttl: values.ttl.clone(),
            schedules: values.schedules.clone(),
            task_lists: values.task_lists.clone(),
            values,
            causes,
        })
    }

    /// The same, if no two settings contradict each other.
    pub fn checked(mut self) -> Result<Self, ConfigError> {
        match self.contradiction.take() {
            None => Ok(self),
            Some(problem) => Err(problem.into()),
        }
    }

    /// Where a value comes from.
    pub fn source(&self, key: &str) -> Source {
        if let Some(set) = self.values.by_key.get(key) {
            return set.source.clone();
        }
        match self.causes.get(key) {
            Some(from) => Source::Derived(from.clone()),
            None if is_core(key) && self.profile != Profile::Default => {
                Source::Profile(self.profile)
            }
            None => Source::BuiltIn,
        }
    }

    /// Every value in effect by its key, as it would be written. An id that is to be generated has
    /// none yet.
    pub fn effective(&self) -> BTreeMap<String, Value> {
        let table = Table::try_from(&self.settings).expect("plain data has a TOML form");
        let mut all: BTreeMap<String, Value> = leaves(&table).into_iter().collect();
        let own = self.values.by_key.iter().filter(|(key, _)| !is_core(key));
        all.extend(own.map(|(key, set)| ((*key).to_owned(), set.value.clone())));
        all.insert("store".to_owned(), self.store.to_string().into());
        all.insert("profile".to_owned(), self.profile.name().into());
        all.extend(self.otlp.as_deref().map(|url| ("otlp".to_owned(), collector(url).into())));
        all
    }
}

fn is_core(key: &str) -> bool {
    entry(key).is_some_and(super::table::Entry::is_core)
}

fn named<T, E: Display>(
    values: &SettingValues,
    key: &str,
    new: impl Fn(&str) -> Result<T, E>,
) -> Result<Option<T>, ConfigError> {
    let Some((text, source)) = values.text(key) else {
        return Ok(None);
    };
    new(text).map(Some).map_err(|problem| ConfigError::refused(&source.place(key), &problem))
}

fn settings(profile: Profile, values: &SettingValues) -> Settings {
    let mut table = Table::try_from(profile.settings()).expect("plain data has a TOML form");
    for (key, set) in &values.by_key {
        if is_core(key) {
            put(&mut table, key, set.value.clone());
        }
    }
    table.try_into().expect("each value was checked for its kind")
}

/// A collector's URL for people: not at all if a login or a token may be in it.
fn collector(url: &str) -> String {
    let is_plain = url.starts_with("http") && !url.contains(['@', '?', '#']);
    if is_plain { url.to_owned() } else { "***".to_owned() }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn loaded(variables: &[(&str, &str)]) -> Result<Config, String> {
        let home = [("HOME", "/home/me")];
        let own = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
        let environment = home.iter().chain(variables).map(own).collect();
        let config = Config::load(&Flags::default(), &environment);
        config.and_then(Config::checked).map_err(|problem| problem.to_string())
    }

    #[test]
    fn nothing_given_is_the_default_profile() {
        let config = loaded(&[]).expect("the defaults are sound");
        assert_eq!(config.settings, Settings::default());
        assert_eq!((config.namespace.as_str(), config.id), ("default", None));
        assert!(config.lifeline.enabled);
        assert_eq!(config.own_records, OwnRecords::default());
    }

    #[test]
    fn values_are_laid_over_the_profile_and_know_where_they_come_from() {
        let config = loaded(&[("BATON_PROFILE", "fast"), ("BATON_LEASE_TIMEOUT", "4s")]);
        let config = config.expect("sound");
        assert_eq!(config.settings.lease_timeout, Duration::from_secs(4));
        assert_eq!(config.settings.heartbeat_interval, Duration::from_millis(1_333));
        assert_eq!(config.source("lease_timeout").to_string(), "BATON_LEASE_TIMEOUT");
        let derived = "derived from lease_timeout";
        assert_eq!(config.source("heartbeat_interval").to_string(), derived);
        assert_eq!(config.source("min_epoch_duration").to_string(), "profile fast");
        assert_eq!(config.source("namespace").to_string(), "default");
        assert_eq!(config.effective()["lease_timeout"], Value::String("4s".to_owned()));
    }

    #[test]
    fn a_profile_is_shown_by_its_own_name_and_a_list_without_its_spaces() {
        let config = loaded(&[("BATON_PROFILE", "helix"), ("BATON_METRICS_HOSTS", "a, b.c")]);
        let shown = config.expect("sound").effective();
        assert_eq!(shown["profile"], Value::String("short-lease".to_owned()));
        assert_eq!(shown["metrics_hosts"], Value::String("a,b.c".to_owned()));
    }

    #[test]
    fn what_cannot_be_used_is_refused_with_its_place() {
        let cases = [
            ("BATON_ID", "a/b", "BATON_ID: node id has '/' at position 2"),
            ("BATON_NAMESPACE", "ä", "BATON_NAMESPACE: namespace has 'ä' at position 1"),
            ("BATON_PROFILE", "quick", "BATON_PROFILE: profile \"quick\" is unknown"),
            (
                "BATON_LEASE_TIMEOUT",
                "1ms",
                "lease_timeout (1ms) must be at least the smallest span",
            ),
        ];
        for (variable, value, expected) in cases {
            let message = loaded(&[(variable, value)]).expect_err(expected);
            assert!(message.starts_with(expected), "{message}");
        }
        let both = [("BATON_LEASE_TIMEOUT", "8s"), ("BATON_HEARTBEAT_INTERVAL", "5s")];
        let message = loaded(&both).expect_err("they contradict each other");
        let expected =
            "lease_timeout (8s) must be at least 10s because of heartbeat_interval (5s); `baton";
        assert!(message.starts_with(expected), "{message}");
    }
}
