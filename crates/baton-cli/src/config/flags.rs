//! The flags, made from the table: one for each setting.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches, value_parser};
use toml::Value;

use super::ConfigError;
use super::resolve::Config;
use super::setting_values::{SettingValues, Source};
use super::table::{Entry, TABLE, heading};
use super::value::{Kind, bare};

/// The settings on the command line.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    pub config: Option<PathBuf>,
    /// The settings that were given: by which flag, and as what.
    values: Vec<(&'static Entry, Source, String)>,
    labels: Vec<String>,
}

/// The flags that name a store and a namespace: for commands that start no node.
#[derive(Clone, Debug, Default)]
pub struct StoreFlags(pub Flags);

/// The same, and the settings of the nodes by which the health of a cluster is judged.
#[derive(Clone, Debug, Default)]
pub struct HealthFlags(pub Flags);

/// All flags: for commands that start a node.
#[derive(Clone, Debug, Default)]
pub struct NodeFlags(pub Flags);

impl Flags {
    /// Reads the values of the flags.
    pub fn read(&self, values: &mut SettingValues) -> Result<(), ConfigError> {
        for (entry, source, value) in &self.values {
            values.set(entry, entry.kind.read(value), &format!("{value:?}"), source.clone())?;
        }
        let source = Source::Flag("--label".to_owned());
        self.labels.iter().try_for_each(|label| values.label(label, &source))
    }

    fn of(matches: &ArgMatches) -> Self {
        let labels = matches.try_get_many::<String>("label").ok().flatten();
        Self {
            config: matches.get_one::<PathBuf>("config").cloned(),
            values: TABLE.iter().filter_map(|entry| given_flag(entry, matches)).collect(),
            labels: labels.into_iter().flatten().cloned().collect(),
        }
    }
}

/// The flag that was given, or the one that switches it off, and its value. None if the command has
/// no such flag.
fn given_flag(
    entry: &'static Entry,
    matches: &ArgMatches,
) -> Option<(&'static Entry, Source, String)> {
    let (flag, value) = match matches.try_get_one::<bool>(&entry.negation()) {
        Ok(Some(true)) => (entry.negation(), "false".to_owned()),
        _ => (entry.flag(), matches.try_get_one::<String>(entry.key).ok()??.clone()),
    };
    Some((entry, Source::Flag(format!("--{flag}")), value))
}

fn store() -> impl Iterator<Item = &'static Entry> {
    TABLE.iter().filter(|entry| entry.heading == heading::STORE)
}

/// The settings by which the health of a cluster is judged.
const LIMITS: [&str; 9] = [
    "profile",
    "lease_timeout",
    "heartbeat_interval",
    "heartbeat_jitter",
    "request_timeout",
    "worker_timeout",
    "dead_node_timeout",
    "flap_threshold",
    "flap_window",
];

fn limits() -> impl Iterator<Item = &'static Entry> {
    TABLE.iter().filter(|entry| LIMITS.contains(&entry.key))
}

fn limit_argument(entry: &Entry) -> Arg {
    argument(entry).help_heading("Settings of the nodes")
}

/// The default of each setting that has one, as it would be written.
static DEFAULTS: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| {
    let home = [("HOME".to_owned(), "/".to_owned())];
    let config = Config::load(&Flags::default(), &home.into_iter().collect());
    config.expect("the defaults hold together").effective()
});

/// What is set, the values to choose from, and the default.
fn help(entry: &Entry) -> String {
    let values = match entry.kind {
        Kind::Choice(names) => format!(": {}", names.join(", ")),
        _ => String::new(),
    };
    // The file of the default store depends on the user.
    let default = DEFAULTS.get(entry.key).filter(|_| entry.key != "store");
    let default = default.map_or_else(String::new, |value| format!(" [default: {}]", bare(value)));
    format!("{}{values}{default}", entry.help)
}

fn argument(entry: &Entry) -> Arg {
    let argument = Arg::new(entry.key)
        .long(entry.flag())
        .help(help(entry))
        .help_heading(entry.heading)
        .value_name(entry.placeholder())
        .hide_short_help(!entry.common)
        .allow_hyphen_values(entry.kind == Kind::Whole);
    match entry.kind {
        // `--skip-cold-start` alone means yes.
        Kind::Switch => argument.num_args(0..=1).default_missing_value("true"),
        _ => argument,
    }
}

/// The flag of a setting and, for a switch, the one that switches it off.
fn arguments(entry: &Entry) -> impl Iterator<Item = Arg> {
    let off = (entry.kind == Kind::Switch).then(|| {
        Arg::new(entry.negation())
            .long(entry.negation())
            .help(format!("Same as --{}=false", entry.flag()))
            .help_heading(entry.heading)
            .hide_short_help(true)
            .conflicts_with(entry.key)
            .action(ArgAction::SetTrue)
    });
    std::iter::once(argument(entry)).chain(off)
}

fn config_argument() -> Arg {
    Arg::new("config")
        .long("config")
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .help("TOML file with settings; BATON_<NAME> and flags override it")
        .help_heading(heading::STORE)
}

fn label_argument() -> Arg {
    Arg::new("label")
        .long("label")
        .value_name("NAME=VALUE")
        .action(ArgAction::Append)
        .help("Label of this node; may be given several times")
        .help_heading(heading::NODE)
        .hide_short_help(true)
}

macro_rules! flags {
    ($name:ident, $arguments:expr) => {
        impl clap::Args for $name {
            fn augment_args(command: Command) -> Command {
                command.arg(config_argument()).args($arguments)
            }
            fn augment_args_for_update(command: Command) -> Command {
                Self::augment_args(command)
            }
        }

        impl FromArgMatches for $name {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
                Ok(Self(Flags::of(matches)))
            }
            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }
    };
}

flags!(StoreFlags, store().flat_map(arguments));
flags!(HealthFlags, store().flat_map(arguments).chain(limits().map(limit_argument)));
flags!(NodeFlags, TABLE.iter().flat_map(arguments).chain([label_argument()]));

#[cfg(test)]
mod tests {
    use clap::Args as _;

    use super::*;

    fn parsed(arguments: &[&str]) -> SettingValues {
        let command = NodeFlags::augment_args(Command::new("baton"));
        let matches = command.try_get_matches_from(arguments).expect("known flags");
        let NodeFlags(flags) = NodeFlags::from_arg_matches(&matches).expect("it collects");
        let mut values = SettingValues::default();
        flags.read(&mut values).expect("sound values");
        values
    }

    #[test]
    fn what_judges_a_cluster_are_settings_without_a_switch() {
        let found: Vec<&str> = limits().map(|entry| entry.key).collect();
        assert_eq!(found.len(), LIMITS.len(), "{found:?}");
        assert!(limits().all(|entry| entry.kind != Kind::Switch));
    }

    #[test]
    fn every_setting_has_a_flag_of_its_name() {
        let command = NodeFlags::augment_args(Command::new("baton"));
        for entry in TABLE {
            let flag = entry.flag();
            assert!(command.get_arguments().any(|a| a.get_long() == Some(&flag)), "{flag}");
        }
    }

    #[test]
    fn a_switch_may_stand_alone_and_a_number_may_be_negative() {
        let values = parsed(&["baton", "--skip-cold-start", "--priority", "-3", "--eligible=no"]);
        assert_eq!(values.by_key["skip_cold_start"].value, toml::Value::Boolean(true));
        assert_eq!(values.by_key["priority"].value, toml::Value::Integer(-3));
        assert_eq!(values.by_key["eligible"].value, toml::Value::Boolean(false));
        assert_eq!(values.by_key["eligible"].source, Source::Flag("--eligible".to_owned()));
    }

    #[test]
    fn every_switch_has_a_flag_that_switches_it_off() {
        for entry in TABLE.iter().filter(|entry| entry.kind == Kind::Switch) {
            let values = parsed(&["baton", &format!("--no-{}", entry.flag())]);
            assert_eq!(
                values.by_key[entry.key].value,
                toml::Value::Boolean(false),
                "{}",
                entry.key
            );
        }
        let off = parsed(&["baton", "--no-lifeline"]);
        let lifeline = &off.by_key["lifeline.enabled"];
        assert_eq!(lifeline.value, toml::Value::Boolean(false));
        assert_eq!(lifeline.source, Source::Flag("--no-lifeline".to_owned()));
    }

    #[test]
    fn labels_add_up() {
        let values = parsed(&["baton", "--label", "zone=a", "--label", "rack=7"]);
        assert_eq!(values.labels.len(), 2);
    }
}
