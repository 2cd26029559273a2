//! The flags, made from the table: one for each setting.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches, value_parser};

use super::error::ConfigError;
use super::given::Given;
use super::source::Source;
use super::table::{Entry, Heading, TABLE};
use super::value::Kind;

/// What stands on the command line.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// The file to read.
    pub config: Option<PathBuf>,
    /// By key: the flag that was given, and what it says.
    values: BTreeMap<&'static str, (String, String)>,
    labels: Vec<String>,
}

/// The flags that say where to look: for commands that take no part.
#[derive(Clone, Debug, Default)]
pub struct PlaceFlags(pub Flags);

/// The same, and the settings of the nodes that a judgement of them needs.
#[derive(Clone, Debug, Default)]
pub struct LimitFlags(pub Flags);

/// Every flag: for commands that start a node.
#[derive(Clone, Debug, Default)]
pub struct NodeFlags(pub Flags);

impl Flags {
    /// Takes in what the flags say.
    pub fn read(&self, given: &mut Given) -> Result<(), ConfigError> {
        for entry in TABLE {
            if let Some((flag, value)) = self.values.get(entry.key) {
                let source = Source::Flag(format!("--{flag}"));
                given.set(entry, entry.kind.read(value), &format!("{value:?}"), source)?;
            }
        }
        let source = Source::Flag("--label".to_owned());
        self.labels.iter().try_for_each(|label| given.label(label, &source))
    }

    fn of(matches: &ArgMatches, entries: impl Iterator<Item = &'static Entry>) -> Self {
        let values = entries.filter_map(|entry| Some((entry.key, said_of(entry, matches)?)));
        let labels = matches.try_get_many::<String>("label").ok().flatten();
        Self {
            config: matches.get_one::<PathBuf>("config").cloned(),
            values: values.collect(),
            labels: labels.into_iter().flatten().cloned().collect(),
        }
    }
}

/// The flag that was given, or the one that switches it off, and what it says.
fn said_of(entry: &Entry, matches: &ArgMatches) -> Option<(String, String)> {
    if entry.kind == Kind::Switch && matches.get_flag(&entry.negation()) {
        return Some((entry.negation(), "false".to_owned()));
    }
    matches.get_one::<String>(entry.key).map(|value| (entry.flag(), value.clone()))
}

fn place() -> impl Iterator<Item = &'static Entry> {
    TABLE.iter().filter(|entry| entry.heading == Heading::Place)
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
    argument(entry).help_heading("Settings of the nodes, to judge them by")
}

fn argument(entry: &Entry) -> Arg {
    let argument = Arg::new(entry.key)
        .long(entry.flag())
        .help(entry.help)
        .help_heading(entry.heading.title())
        .value_name(entry.placeholder())
        .hide_short_help(!entry.common)
        .allow_hyphen_values(entry.kind == Kind::Whole);
    match entry.kind {
        // `--skip-cold-start` alone means yes.
        Kind::Switch => argument.num_args(0..=1).default_missing_value("true"),
        Kind::Choice(names) => argument.help(format!("{}: {}", entry.help, names.join(", "))),
        _ => argument,
    }
}

/// The flag of a setting and, for a switch, the one that switches it off.
fn arguments(entry: &Entry) -> impl Iterator<Item = Arg> {
    let off = (entry.kind == Kind::Switch).then(|| {
        Arg::new(entry.negation())
            .long(entry.negation())
            .help(format!("The same as --{}=false", entry.flag()))
            .help_heading(entry.heading.title())
            .hide_short_help(!entry.common)
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
        .help("Settings as TOML; BATON_<NAME> and flags are stronger")
        .help_heading(Heading::Place.title())
}

fn label_argument() -> Arg {
    Arg::new("label")
        .long("label")
        .value_name("NAME=VALUE")
        .action(ArgAction::Append)
        .help("Say something about this node; may be repeated")
        .help_heading(Heading::Node.title())
        .hide_short_help(true)
}

macro_rules! flags {
    ($name:ident, $augment:expr, $entries:expr) => {
        impl clap::Args for $name {
            fn augment_args(command: Command) -> Command {
                $augment(command)
            }
            fn augment_args_for_update(command: Command) -> Command {
                $augment(command)
            }
        }

        impl FromArgMatches for $name {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
                Ok(Self(Flags::of(matches, $entries)))
            }
            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }
    };
}

flags!(
    PlaceFlags,
    |command: Command| command.arg(config_argument()).args(place().flat_map(arguments)),
    place()
);
flags!(
    LimitFlags,
    |command: Command| {
        let place = place().flat_map(arguments);
        command.arg(config_argument()).args(place).args(limits().map(limit_argument))
    },
    place().chain(limits())
);
flags!(
    NodeFlags,
    |command: Command| {
        command.arg(config_argument()).args(TABLE.iter().flat_map(arguments)).arg(label_argument())
    },
    TABLE.iter()
);

#[cfg(test)]
mod tests {
    use clap::Args as _;

    use super::*;

    fn parsed(arguments: &[&str]) -> Given {
        let command = NodeFlags::augment_args(Command::new("baton"));
        let matches = command.try_get_matches_from(arguments).expect("known flags");
        let NodeFlags(flags) = NodeFlags::from_arg_matches(&matches).expect("it collects");
        let mut given = Given::default();
        flags.read(&mut given).expect("sound values");
        given
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
        let given = parsed(&["baton", "--skip-cold-start", "--priority", "-3", "--eligible=no"]);
        assert_eq!(given.values["skip_cold_start"].value, toml::Value::Boolean(true));
        assert_eq!(given.values["priority"].value, toml::Value::Integer(-3));
        assert_eq!(given.values["eligible"].value, toml::Value::Boolean(false));
        assert_eq!(given.values["eligible"].source, Source::Flag("--eligible".to_owned()));
    }

    #[test]
    fn every_switch_has_a_flag_that_switches_it_off() {
        for entry in TABLE.iter().filter(|entry| entry.kind == Kind::Switch) {
            let given = parsed(&["baton", &format!("--no-{}", entry.flag())]);
            assert_eq!(given.values[entry.key].value, toml::Value::Boolean(false), "{}", entry.key);
        }
        let off = parsed(&["baton", "--no-lifeline"]);
        let lifeline = &off.values["lifeline.enabled"];
        assert_eq!(lifeline.value, toml::Value::Boolean(false));
        assert_eq!(lifeline.source, Source::Flag("--no-lifeline".to_owned()));
    }

    #[test]
    fn labels_add_up() {
        let given = parsed(&["baton", "--label", "zone=a", "--label", "rack=7"]);
        assert_eq!(given.labels.len(), 2);
    }
}
